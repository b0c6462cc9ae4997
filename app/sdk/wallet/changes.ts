/**
 * Pauses, and pending changes of settings, admin and guardian: the admin announces them, anyone reads and applies them,
 * the guardian cancels them.
 */
import type { PublicKey } from '@solana/web3.js';
import {
  acceptAdmin,
  applyChange,
  type CollateralTier,
  cancelAllChanges,
  cancelChange,
  constants,
  findChange,
  type PendingChange,
  type ProposeChangeInput,
  proposeChange,
  removeRelayAuthority,
  type SettingsChange,
  setPause,
} from '../program/program.ts';
import type { PendingChanges } from '../wire/operationProcedures.ts';
import { findAccounts, readAccount, readClock } from './connection.ts';
import { formatKey, formatTime } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { describeChanges, expiryOf, statusOf } from './pending.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import { sendAsAdmin } from './settings.ts';
import type { Signer } from './signer.ts';

/** The guardian, the delay, and all pending changes, the first applicable one first. */
export async function listChanges({ connection, config }: MarketplaceChain): Promise<PendingChanges> {
  const found = await findAccounts(connection, 'PendingChange');
  return describeChanges(config, found, await readClock(connection));
}

/**
 * True if these settings must be announced first: they reduce the protection of callers or creators, or change their
 * payments or deposits. The program has the same rule (`Config::is_widened_by`).
 */
export function mustWait({ config }: Pick<MarketplaceChain, 'config'>, after: SettingsChange): boolean {
  const limit = (multiple: number) => (multiple === 0 ? Number.POSITIVE_INFINITY : multiple);
  const differs = <Value>(now: Value, then: Value | undefined) => then !== undefined && then !== now;
  const tiers = config.tiers.slice(0, config.tierCount);
  return (
    config.adminDelaySeconds > 0 &&
    ((config.guardianPaused && after.liftGuardianPause === true) ||
      (after.adminDelaySeconds ?? 0) > config.adminDelaySeconds ||
      differs(config.feeBps, after.feeBps) ||
      differs(config.minPrice, after.minPrice) ||
      differs(config.disputeBondLamports, after.disputeBondLamports) ||
      (after.tiers !== undefined && !areEqual(tiers, after.tiers)) ||
      differs(config.recordSeconds, after.recordSeconds) ||
      (after.disputeWindowSeconds ?? config.disputeWindowSeconds) < config.disputeWindowSeconds ||
      limit(after.exposureMultiple ?? config.exposureMultiple) > limit(config.exposureMultiple))
  );
}

const areEqual = (one: readonly CollateralTier[], other: readonly CollateralTier[]): boolean =>
  one.length === other.length &&
  one.every(({ maxPrice, deposit }, at) => other[at]?.maxPrice === maxPrice && other[at].deposit === deposit);

/** The fields to change; at least one. */
export type Proposal = Omit<ProposeChangeInput, 'admin' | 'payer' | 'changeId'>;

/** Announces a change. Signs: the admin, who lends the rent until the change is applied or cancelled. */
export async function announceChange(chain: MarketplaceChain, admin: Signer, proposal: Proposal) {
  const changeId = BigInt(Date.now());
  const { publicKey } = admin;
  const instruction = proposeChange({ admin: publicKey, payer: publicKey, changeId, ...proposal });
  const signature = await sendAsAdmin(chain, admin, instruction);
  const delay = chain.config.adminDelaySeconds;
  const wait = proposal.guardian && delay > 0 ? delay + constants.guardianChangeSeconds : delay;
  const change = findChange(changeId).toBase58();
  return { change_id: changeId.toString(), change, applicable_in_seconds: wait, signature };
}

/** Applies a change of settings or guardian that is due. Any wallet can do it. */
export async function applyPending(chain: MarketplaceChain, wallet: Signer, changeId: bigint): Promise<string> {
  const change = await readChange(chain, changeId);
  const { rentSponsor, dueAt } = change;
  return sendTransaction(chain.connection, [applyChange({ changeId, rentSponsor })], wallet, {
    ChangeNotDue: `It can be applied from ${formatTime(dueAt)} on.`,
    ChangeExpired: `It expired at ${formatTime(expiryOf(change))}.`,
    AdminMustAccept: `${change.details.admin} must run \`admin accept\`.`,
  });
}

/** Becomes admin, by the first change that proposes this wallet and is due. Signs: that wallet. */
export async function becomeAdmin({ connection, config }: MarketplaceChain, wallet: Signer): Promise<string> {
  const nextAdmin = wallet.publicKey;
  const now = await readClock(connection);
  const all = await findAccounts(connection, 'PendingChange');
  const own = all
    .map(({ fields }) => ({ ...fields, status: statusOf(config, fields, now) }))
    .filter(({ details, status }) => details.admin?.equals(nextAdmin) && !['expired', 'cancelled'].includes(status))
    .sort((one, other) => Number(one.dueAt - other.dueAt));
  const [first] = own;
  if (!first) throw new Refusal(`No pending change proposes ${nextAdmin} as admin.`);
  const { changeId, rentSponsor, dueAt } = first;
  return sendTransaction(connection, [acceptAdmin({ nextAdmin, changeId, rentSponsor })], wallet, {
    ChangeNotDue: `It can be accepted from ${formatTime(dueAt)} on.`,
  });
}

/** Cancels that fit into one transaction. */
const CANCELS = 8;

/**
 * Cancels changes, all or none; at most 8. Signs: the admin or the guardian for settings, the guardian for a next admin
 * (the admin if there is no guardian), the admin for a guardian, and anyone for a change that has expired or was
 * cancelled with others.
 */
export async function cancelPending(
  chain: MarketplaceChain,
  authority: Signer,
  ...changeIds: readonly bigint[]
): Promise<string> {
  const distinct = [...new Set(changeIds)];
  if (distinct.length > CANCELS) throw new Refusal(`Name at most ${CANCELS} changes at once, not ${distinct.length}.`);
  const instructions = await Promise.all(
    distinct.map(async (changeId) => {
      const { rentSponsor } = await readChange(chain, changeId);
      return cancelChange({ authority: authority.publicKey, changeId, rentSponsor });
    }),
  );
  return sendTransaction(chain.connection, instructions, authority, notAllowed(chain, authority));
}

/** Cancels all pending changes of settings at once. Signs: the admin or the guardian. */
export function cancelAllPending(chain: MarketplaceChain, authority: Signer): Promise<string> {
  const instruction = cancelAllChanges({ authority: authority.publicKey });
  return sendTransaction(chain.connection, [instruction], authority, notAllowed(chain, authority));
}

/**
 * Sets or lifts the authority's own pause at once, and returns both pauses. New executions are refused while either is
 * set. Signs: the admin or the guardian.
 */
export async function changePause(chain: MarketplaceChain, authority: Signer, isPaused: boolean) {
  const { connection, config } = chain;
  const instruction = setPause({ authority: authority.publicKey, isPaused });
  const signature = await sendTransaction(connection, [instruction], authority, notAllowed(chain, authority));
  const { publicKey } = authority;
  return {
    admin_paused: publicKey.equals(config.admin) ? isPaused : config.adminPaused,
    guardian_paused: publicKey.equals(config.guardian) ? isPaused : config.guardianPaused,
    signature,
  };
}

/** Removes one relay authority at once. Signs: the admin or the guardian. */
export function dropRelayAuthority(
  chain: MarketplaceChain,
  authority: Signer,
  relayAuthority: PublicKey,
): Promise<string> {
  const instruction = removeRelayAuthority({ authority: authority.publicKey, relayAuthority });
  return sendTransaction(chain.connection, [instruction], authority, notAllowed(chain, authority));
}

function readChange({ connection }: MarketplaceChain, changeId: bigint): Promise<PendingChange> {
  const missing = `No change ${changeId} is pending: it was applied or cancelled, or was never proposed.`;
  return readAccount(connection, 'PendingChange', findChange(changeId), missing);
}

function notAllowed({ config }: MarketplaceChain, wallet: Signer) {
  const guardian = formatKey(config.guardian) ?? 'nobody';
  const roles = `The admin is ${config.admin}, the guardian ${guardian}; this wallet is ${wallet.publicKey}.`;
  return { NotGuardianOrAdmin: roles, NotGuardian: roles, NotAdmin: roles };
}
