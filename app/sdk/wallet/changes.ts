/** Changes of the settings that wait: what the admin announces, what anyone reads and applies, what the guardian stops. */
import type { PublicKey } from '@solana/web3.js';
import {
  applyChange,
  type ConfigChange,
  cancelChange,
  findChange,
  type PendingChange,
  type ProposeChangeInput,
  pauseOpens,
  proposeChange,
  removeRelayAuthority,
} from '../program/program.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { findAccounts, readAccount, readClock } from './connection.ts';
import { formatKey, formatTiers, formatTime } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { sendTransaction } from './send.ts';
import { sendAsAdmin } from './settings.ts';
import type { Signer } from './signer.ts';

/** All changes that wait, the first due first. `due_in_seconds` is 0 for those that anyone can apply. */
export async function listChanges({ connection }: MarketplaceChain) {
  const found = await findAccounts(connection, 'PendingChange');
  const now = await readClock(connection);
  return found
    .sort((one, other) => Number(one.fields.dueAt - other.fields.dueAt))
    .map(({ address, fields: change }) => ({
      change_id: change.changeId.toString(),
      change: address.toBase58(),
      proposed_at: formatTime(change.proposedAt),
      due_at: formatTime(change.dueAt),
      due_in_seconds: Number(change.dueAt > now ? change.dueAt - now : 0n),
      ...detailsOf(change.details),
    }));
}

/** What may change; at least one. */
export type Proposal = Omit<ProposeChangeInput, 'admin' | 'payer' | 'changeId'>;

/** Announces a change. Signs: the admin, who lends the rent until the change is applied or cancelled. */
export async function announceChange(chain: MarketplaceChain, admin: Signer, proposal: Proposal) {
  const changeId = BigInt(Date.now());
  const { publicKey } = admin;
  const instruction = proposeChange({ admin: publicKey, payer: publicKey, changeId, ...proposal });
  const signature = await sendAsAdmin(chain, admin, instruction);
  const delay = chain.config.adminDelaySeconds;
  return { change_id: changeId.toString(), change: findChange(changeId).toBase58(), due_in_seconds: delay, signature };
}

/** Applies a change that is due. Any wallet may. */
export async function applyPending(chain: MarketplaceChain, wallet: Signer, changeId: bigint): Promise<string> {
  const { rentSponsor, dueAt } = await readChange(chain, changeId);
  return sendTransaction(chain.connection, [applyChange({ changeId, rentSponsor })], wallet, {
    ChangeNotDue: `It is due at ${formatTime(dueAt)}.`,
  });
}

/** Cancels a change. Signs: the admin or the guardian. */
export async function cancelPending(chain: MarketplaceChain, authority: Signer, changeId: bigint): Promise<string> {
  const { rentSponsor } = await readChange(chain, changeId);
  const instruction = cancelChange({ authority: authority.publicKey, changeId, rentSponsor });
  return sendTransaction(chain.connection, [instruction], authority, notBoth(chain, authority));
}

/** Stops all new executions at once. Signs: the admin or the guardian. */
export function stopOpens(chain: MarketplaceChain, authority: Signer): Promise<string> {
  const instruction = pauseOpens({ authority: authority.publicKey });
  return sendTransaction(chain.connection, [instruction], authority, notBoth(chain, authority));
}

/** Takes a relay's rights from one key at once. Signs: the admin or the guardian. */
export function dropRelayAuthority(
  chain: MarketplaceChain,
  authority: Signer,
  relayAuthority: PublicKey,
): Promise<string> {
  const instruction = removeRelayAuthority({ authority: authority.publicKey, relayAuthority });
  return sendTransaction(chain.connection, [instruction], authority, notBoth(chain, authority));
}

function readChange({ connection }: MarketplaceChain, changeId: bigint): Promise<PendingChange> {
  const missing = `No change ${changeId} waits: it was applied or cancelled, or was never proposed.`;
  return readAccount(connection, 'PendingChange', findChange(changeId), missing);
}

function notBoth({ config }: MarketplaceChain, wallet: Signer) {
  const guardian = formatKey(config.guardian) ?? 'nobody';
  const NotGuardianOrAdmin = `The admin is ${config.admin}, the guardian ${guardian}; this wallet is ${wallet.publicKey}.`;
  return { NotGuardianOrAdmin };
}

/** What a change does, without what stays as it is. */
function detailsOf({ settings, addedRelayAuthorities, guardian, pendingAdmin }: ConfigChange) {
  const { feeBps, minPrice, disputeBondLamports, disputeWindowSeconds, tiers } = settings;
  const all = {
    opens_paused: settings.opensPaused,
    fee_bps: feeBps,
    min_price_usdc: minPrice === null ? null : formatUsdc(minPrice),
    dispute_bond_lamports: disputeBondLamports?.toString() ?? null,
    dispute_window_seconds: disputeWindowSeconds,
    refund_grace_seconds: settings.refundGraceSeconds,
    max_timeout_seconds: settings.maxTimeoutSeconds,
    exposure_multiple: settings.exposureMultiple,
    admin_delay_seconds: settings.adminDelaySeconds,
    tiers: tiers && formatTiers(tiers),
    added_relay_authorities: addedRelayAuthorities.length > 0 ? addedRelayAuthorities.map(String) : null,
    guardian: guardian && (formatKey(guardian) ?? 'none'),
    next_admin: pendingAdmin && (formatKey(pendingAdmin) ?? 'none'),
  };
  return { changes: Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) };
}
