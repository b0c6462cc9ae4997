/** Changes of the settings that wait: what the admin announces, what anyone reads and applies, what the guardian stops. */
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import {
  accountDiscriminator,
  applyChange,
  type ConfigChange,
  cancelChange,
  decodeAccount,
  findChange,
  type PendingChange,
  PROGRAM_ID,
  type ProposeChangeInput,
  pauseOpens,
  proposeChange,
  removeRelayAuthority,
} from '../program/program.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { COMMITMENT, readClock } from './connection.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import type { Signer } from './signer.ts';

/** All changes that wait, the first due first. `due_in_seconds` is 0 for those that anyone can apply. */
export async function listChanges({ connection }: MarketplaceChain) {
  const filters = [{ memcmp: { offset: 0, bytes: bs58.encode(accountDiscriminator('PendingChange')) } }];
  const found = await connection.getProgramAccounts(PROGRAM_ID, { commitment: COMMITMENT, filters });
  const now = await readClock(connection);
  return found
    .map(({ pubkey, account }) => ({ address: pubkey, change: decodeAccount('PendingChange', account.data) }))
    .sort((one, other) => Number(one.change.dueAt - other.change.dueAt))
    .map(({ address, change }) => ({
      change_id: change.changeId.toString(),
      change: address.toBase58(),
      proposed_at: timeOf(change.proposedAt),
      due_at: timeOf(change.dueAt),
      due_in_seconds: Number(change.dueAt > now ? change.dueAt - now : 0n),
      ...detailsOf(change.details),
    }));
}

/** What may change; at least one. */
export type Proposal = Omit<ProposeChangeInput, 'admin' | 'payer' | 'changeId'>;

/** Announces a change. Signs: the admin, who lends the rent until the change is applied or cancelled. */
export async function announceChange({ connection, config }: MarketplaceChain, admin: Signer, proposal: Proposal) {
  const changeId = BigInt(Date.now());
  const { publicKey } = admin;
  const instruction = proposeChange({ admin: publicKey, payer: publicKey, changeId, ...proposal });
  const NotAdmin = `The admin is ${config.admin}; this wallet is ${publicKey}.`;
  const signature = await sendTransaction(connection, [instruction], admin, { NotAdmin });
  const delay = config.adminDelaySeconds;
  return { change_id: changeId.toString(), change: findChange(changeId).toBase58(), due_in_seconds: delay, signature };
}

/** Applies a change that is due. Any wallet may. */
export async function applyPending(chain: MarketplaceChain, wallet: Signer, changeId: bigint): Promise<string> {
  const { rentSponsor, dueAt } = await readChange(chain, changeId);
  return sendTransaction(chain.connection, [applyChange({ changeId, rentSponsor })], wallet, {
    ChangeNotDue: `It is due at ${timeOf(dueAt)}.`,
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

async function readChange({ connection }: MarketplaceChain, changeId: bigint): Promise<PendingChange> {
  const account = await connection.getAccountInfo(findChange(changeId), COMMITMENT);
  if (account) return decodeAccount('PendingChange', account.data);
  throw new Refusal(`No change ${changeId} waits: it was applied or cancelled, or was never proposed.`);
}

function notBoth({ config }: MarketplaceChain, wallet: Signer) {
  const guardian = nobodyAsNull(config.guardian) ?? 'nobody';
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
    tiers: tiers?.map((tier) => ({
      max_price_usdc: formatUsdc(tier.maxPrice),
      deposit_usdc: formatUsdc(tier.deposit),
    })),
    added_relay_authorities: addedRelayAuthorities.length > 0 ? addedRelayAuthorities.map(String) : null,
    guardian: guardian && (nobodyAsNull(guardian) ?? 'none'),
    next_admin: pendingAdmin && (nobodyAsNull(pendingAdmin) ?? 'none'),
  };
  return { changes: Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) };
}

/** The address, or null for the zero key, which stands for nobody. */
export const nobodyAsNull = (key: PublicKey): string | null => (key.equals(PublicKey.default) ? null : key.toBase58());

const timeOf = (seconds: bigint): string => new Date(Number(seconds) * 1_000).toISOString();
