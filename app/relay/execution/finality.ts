/**
 * The chain can take a confirmed transaction back until it is finalized. Ended executions are therefore checked once
 * more, when none of their bytes can land any longer. An execution continues if its record does not show its end.
 */
import type { Logger } from 'pino';
import {
  decodeAccount,
  findEscrow,
  findExecution,
  findTokenAccount,
  parseAddress,
  RECORD_OFFSETS,
  RECORD_STATUS_BYTE,
} from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { Journal } from '../ledger/journal.ts';
import type { JournalRow } from '../ledger/tables.ts';
import { isEmptyVault } from './depositAt.ts';
import { isByWallet, toRow, wayOf } from './orphans.ts';
import type { EngineDeps } from './step.ts';

/** Rows of one batch: a node reads 100 accounts at a time, and the clock is one. */
const BATCH = 99;
const ANY = 2n ** 63n - 1n;
/** Minimum life of an ended record, seconds: the program's ENDED_RECORD_SECONDS. */
const ENDED_RECORD_SECONDS = 259_200n;

type Proving = Pick<EngineDeps, 'chain' | 'journal' | 'rentReturn' | 'usdcMint'>;
type EndedRow = Awaited<ReturnType<Journal['unproven']>>[number];

/** The finalized state: its slot and the chain's clock, unix seconds. */
interface Final {
  slot: number;
  now: bigint;
}

/**
 * Checks executions that ended since the last run. Throws if the node does not answer. A row that cannot be checked or
 * corrected is left to the next run, and does not stop the others.
 */
export async function proveEnds(deps: Proving, log: Logger): Promise<void> {
  const { chain, journal } = deps;
  if ((await journal.unproven(ANY, ANY, 1)).length === 0) return;
  const { slot, blockHeight } = await chain.finalized();
  const { now } = await chain.readAgreed([], slot);
  for (let after: EndedRow | null = null; ; ) {
    const rows: EndedRow[] = await journal.unproven(blockHeight, now, BATCH, after);
    after = rows.at(-1) ?? null;
    if (!after) return;
    const { accounts } = await chain.readAgreed(rows.map(addressOf), slot);
    const deposits = await readDeposits(chain, rows, slot);
    const proven: string[] = [];
    for (const [index, row] of rows.entries()) {
      const seen = { record: accounts[index]?.data, deposit: deposits.get(row.execution_id) };
      const hasEnded = await proveEnd(deps, row, seen, { slot, now }, log).catch((error) => {
        log.error(
          { execution_id: row.execution_id, error },
          'cannot prove the end of an execution; it will be retried',
        );
        return false;
      });
      if (hasEnded) proven.push(row.execution_id);
    }
    await journal.proven(proven, now);
  }
}

/** True if the row has ended as it says, by the data of its accounts. Otherwise corrects it. */
async function proveEnd(
  deps: Proving,
  row: EndedRow,
  { record, deposit }: { record: Buffer | undefined; deposit: Buffer | undefined },
  { slot, now }: Final,
  log: Logger,
): Promise<boolean> {
  const { chain, journal } = deps;
  // A wallet may open a record itself under the id of a void call. That record is not ours.
  const isUnopened = row.state === 'void' || row.state === 'returned';
  const found = isUnopened && record ? decodeAccount('ExecutionRecord', record) : null;
  const isOthers = found !== null && isByWallet(found) && !(await isOpenedByUs(chain, row));
  // Another wallet may have used the same quote after this row ended. Then the deposit is that wallet's.
  const isItsOwn = deposit !== undefined && decodeAccount('Deposit', deposit).caller.toBase58() === row.wallet;
  const isUnpaid = !isItsOwn || (await isEmptied(deps, row, slot));
  if (isUnpaid && (isOthers || isProven(row, record?.[RECORD_OFFSETS.status], now))) return true;
  log.error(
    { execution_id: row.execution_id },
    'an execution that has ended in the journal has not ended on the chain; its row is corrected',
  );
  if (found && row.deposit === null) await journal.adopt(toRow(found), found, Date.now(), await wayOf(deps, found));
  else await journal.takeBack(row);
  return false;
}

/** True if our open of the deposit made this row's record, and not an open by the payer itself. */
async function isOpenedByUs(
  chain: Pick<RelayChain, 'hasSucceeded'>,
  { deposit, open_signature: signature }: Pick<JournalRow, 'deposit' | 'open_signature'>,
): Promise<boolean> {
  return deposit !== null && signature !== null && (await chain.hasSucceeded(signature));
}

/** The data of the deposits that still exist, by the ids of the rows that name them. */
async function readDeposits(
  chain: Pick<RelayChain, 'readAgreed'>,
  rows: Pick<JournalRow, 'execution_id' | 'deposit'>[],
  slot: number,
): Promise<Map<string, Buffer>> {
  const named = rows.filter(({ deposit }) => deposit !== null);
  if (named.length === 0) return new Map();
  const { accounts } = await chain.readAgreed(
    named.map(({ deposit }) => parseAddress(deposit!)),
    slot,
  );
  return new Map(
    named.flatMap(({ execution_id: id }, index) => {
      const data = accounts[index]?.data;
      return data && data.length > 0 ? [[id, data] as const] : [];
    }),
  );
}

/**
 * True if the return of an ended row succeeded and its deposit is empty. The deposit's accounts stay if its rent sponsor
 * cannot take the rent.
 */
async function isEmptied(
  { chain, usdcMint }: Pick<EngineDeps, 'chain' | 'usdcMint'>,
  { state, deposit, refund_signature: signature }: Pick<JournalRow, 'state' | 'deposit' | 'refund_signature'>,
  slot: number,
): Promise<boolean> {
  if ((state !== 'returned' && state !== 'void') || deposit === null || signature === null) return false;
  const vault = findTokenAccount(parseAddress(deposit), usdcMint);
  const { accounts } = await chain.readAgreed([vault], slot);
  return isEmptyVault(accounts[0]) && (await chain.hasSucceeded(signature));
}

/**
 * Records which of the lent rents were returned. A closed or archived record has returned its rent to its sponsor, and
 * so has a closed escrow account. Throws if the node does not answer.
 */
export async function countRents(
  chain: Pick<RelayChain, 'finalized' | 'readAgreed'>,
  journal: Pick<Journal, 'lent' | 'rentReturned' | 'handedOver' | 'escrowsClosed'>,
): Promise<void> {
  const { slot } = await chain.finalized();
  const { now } = await chain.readAgreed([], slot);
  for (let after = ''; ; ) {
    const rows = await journal.lent(now - ENDED_RECORD_SECONDS, BATCH, after);
    const last = rows.at(-1);
    if (!last) break;
    after = last.execution_id;
    const { accounts } = await chain.readAgreed(rows.map(addressOf), slot);
    await journal.rentReturned(rows.filter((_, index) => !accounts[index]).map((row) => row.execution_id));
  }
  for (let after = ''; ; ) {
    const rows = await journal.handedOver(BATCH, after);
    const last = rows.at(-1);
    if (!last) return;
    after = last.execution_id;
    const escrows = rows.map((row) => findEscrow(addressOf(row)));
    const { accounts } = await chain.readAgreed(escrows, slot);
    await journal.escrowsClosed(rows.filter((_, index) => !accounts[index]).map((row) => row.execution_id));
  }
}

const addressOf = (row: Pick<JournalRow, 'execution_id'>) => findExecution(parseUuid(row.execution_id)!);

/**
 * `status` is the record's status byte, undefined if the record is gone. A missing record proves a refund or a void. It
 * proves a settle only if that ended long enough before `now` to be archived. A record of a void row is somebody
 * else's, or its open landed after all.
 */
function isProven(
  { state, settled_at }: Pick<JournalRow, 'state' | 'settled_at'>,
  status: number | undefined,
  now: bigint,
): boolean {
  const isOld = now - (settled_at ?? now) >= ENDED_RECORD_SECONDS;
  const isWithoutRecord = state === 'void' || state === 'returned';
  if (status === undefined) return isWithoutRecord || state === 'refunded' || isOld;
  if (isWithoutRecord) return false;
  if (status === RECORD_STATUS_BYTE.open) return false;
  return (status === RECORD_STATUS_BYTE.refunded) === (state === 'refunded');
}
