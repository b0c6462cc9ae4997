/**
 * Moves refunds that their callers' accounts cannot receive to the account of unclaimed refunds, an hour after anyone
 * could make them. So their rent comes back by the clock, whatever a caller does. The callers claim them by their leaves.
 */
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import {
  closeExecution,
  decodeOwn,
  findTokenAccount,
  movableFrom,
  moveUnclaimedDeposit,
  moveUnclaimedRefund,
} from '../../sdk/program/program.ts';
import { cannotReceive, readToken } from '../chain/tokenAccounts.ts';
import { type ArchivesDeps, findOpenArchive } from './archives.ts';
import { type Candidate, movableDeposits, movableRecords } from './candidates.ts';
import { reasonOf } from './sending.ts';
import { inBatches, type SweepDeps } from './sweeping.ts';

type MoveDeps = SweepDeps & ArchivesDeps;

/** The archive that gets the leaves. */
interface Place {
  archiveIndex: number;
  tree: PublicKey;
}

/**
 * The instruction that moves this refund now, and those that may follow it in its transaction. Null if it must stay, or
 * its caller's account can receive it.
 */
type Read = (
  deps: MoveDeps,
  address: PublicKey,
  place: Place,
) => Promise<[move: TransactionInstruction, ...next: TransactionInstruction[]] | null>;

/** Moves all refunds that can be moved. Money does not wait for others, and each needs a transaction of its own. */
export async function moveUnclaimed(deps: MoveDeps, now: bigint): Promise<void> {
  /** Looked up once, if there is anything to move. */
  let place: Promise<Place | null> | null = null;
  const kinds = [
    [movableRecords, readRecord],
    [movableDeposits, readDeposit],
  ] as const;
  for (const [find, read] of kinds) {
    await inBatches({ ...deps, waitSeconds: 0 }, now, find, 1, async ([candidate]) => {
      place ??= findOpenArchive(deps).then((open) => open && { archiveIndex: open.index, tree: open.tree });
      const found = await place;
      if (found && candidate) await moveOne(deps, candidate, found, read);
      return found !== null;
    });
  }
}

async function moveOne(deps: MoveDeps, { address }: Candidate, place: Place, read: Read): Promise<void> {
  const instructions = await read(deps, new PublicKey(address), place);
  // Once moved, the account is gone or the index knows its end.
  if (!instructions) return deps.resting.rest(address);
  let sent = await deps.sending.send(instructions);
  // A rent sponsor that cannot take the rent must not keep the money.
  if (sent.kind === 'refused' && instructions.length > 1) sent = await deps.sending.send([instructions[0]]);
  if (sent.kind === 'expired') return;
  deps.resting.rest(address);
  if (sent.kind === 'confirmed') deps.log.info({ source: address }, 'moved a refund to the unclaimed ones');
  else
    deps.log.warn(
      { source: address, outcome: sent.kind, reason: reasonOf(sent) },
      'cannot move a refund to the unclaimed ones',
    );
}

const readRecord: Read = async ({ chain, usdcMint }, address, place) => {
  const { accounts, now } = await chain.read([address]);
  const record = decodeOwn('ExecutionRecord', accounts[0]);
  if (record?.status !== 'open' || now < movableFrom(record.refundAt)) return null;
  if (!(await cannotReceive(chain, record.caller, usdcMint))) return null;
  const { authority } = chain;
  const move = moveUnclaimedRefund({ ...record, ...place, authority, usdcMint, reason: 'unserved' });
  return [move, closeExecution(record)];
};

const readDeposit: Read = async ({ chain, usdcMint }, address, place) => {
  const { accounts, now } = await chain.read([address, findTokenAccount(address, usdcMint)]);
  const [account, vault] = accounts;
  const deposit = decodeOwn('Deposit', account);
  if (!deposit || now < movableFrom(deposit.expiresAt)) return null;
  const { caller, rentSponsor, price, serviceFee } = deposit;
  const held = readToken(vault)?.amount ?? 0n;
  // The relay's own refund of an unpaid one gives the rest to the treasury.
  if (held < price + serviceFee || !(await cannotReceive(chain, caller, usdcMint))) return null;
  const authority = chain.authority;
  return [moveUnclaimedDeposit({ authority, deposit: address, caller, rentSponsor, usdcMint, ...place })];
};
