/**
 * After a restart of the cluster, compares the rows with the chain. The index has been rebuilt before, so only rows that
 * it shows another way are looked up. The comparison itself moves no money: it moves rows back to where their records
 * are, and from there the relay ends them as always. Besides this, only `parkLanded` takes an end back, if an open has
 * landed after its row ended.
 */
import type { Logger } from 'pino';
import { chunks } from '../../../process/chunks.ts';
import { constants, decodeOwn, type ExecutionRecord, findExecution, ownAccount } from '../../../sdk/program/program.ts';
import { parseUuid } from '../../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../../chain/relayChain.ts';
import type { Journal } from '../../ledger/journal.ts';
import { type Doubted, readDoubted } from '../../ledger/restarts.ts';
import type { Databases } from '../../ledger/tables.ts';
import { readOpenSignatures } from '../../ledger/transactions.ts';
import { isByWallet } from '../records.ts';
import { hasLanded } from './gone.ts';

/** A node reads 100 accounts at a time, and the clock is one. */
const BATCH = 99;

interface Comparing extends Pick<Databases, 'views'> {
  chain: Pick<RelayChain, 'readAgreed' | 'readPast' | 'hasSucceeded'>;
  journal: Pick<Journal, 'parkEnded' | 'settleAgain' | 'endLost'>;
}

/**
 * False while opens that the cluster lost could still land on it again: compare once more then. Throws if the node does
 * not answer, or two nodes disagree.
 */
export async function compareEnds({ chain, journal, views }: Comparing, log: Logger): Promise<boolean> {
  let isDone = true;
  const addressesOf = (rows: readonly Doubted[]) => rows.map((row) => findExecution(parseUuid(row.execution_id)!));

  /** Ends rows whose opens the cluster lost. False while one of these opens could still land again. */
  async function endLost(rows: readonly Doubted[]): Promise<boolean> {
    let height = 0n;
    for (const { open_last_valid_height: last } of rows) if (last !== null && last > height) height = last;
    const past = await chain.readPast(addressesOf(rows), height);
    if (!past) return false;
    for (const [at, row] of rows.entries()) {
      if (ownAccount(past.accounts[at])) continue;
      await journal.endLost(row, past.now);
      log.error(
        { execution_id: row.execution_id, state: row.state },
        'ended an execution: the restart of the cluster lost it, and its caller has paid nothing',
      );
    }
    return true;
  }

  for (let page = await readDoubted(views, ''); page; page = await readDoubted(views, page.last)) {
    for (const rows of chunks(page.rows, BATCH)) {
      const { accounts, now } = await chain.readAgreed(addressesOf(rows));
      const lost: Doubted[] = [];
      for (const [at, row] of rows.entries()) {
        const record = decodeOwn('ExecutionRecord', accounts[at]);
        if (await fits({ chain, views }, row, record, now)) continue;
        if (!record && row.indexed_id === null) {
          lost.push(row);
          continue;
        }
        // The result was delivered, so its creator is to be paid. A parked row would be refunded.
        const isPaidAgain = row.state === 'settled' && record?.status === 'open' && row.settles > 0n;
        await (isPaidAgain ? journal.settleAgain(row) : journal.parkEnded(row));
        log.error(
          { execution_id: row.execution_id, state: row.state, becomes: isPaidAgain ? 'verified' : 'parked' },
          'reopened an execution: after the restart of the cluster, its record does not show the end in the ledger',
        );
      }
      if (lost.length > 0 && !(await endLost(lost))) isDone = false;
    }
  }
  return isDone;
}

/** True if the record, or its absence, fits a row. A row that has not ended fits every record, and follows it. */
async function fits(
  { chain, views }: Pick<Comparing, 'chain' | 'views'>,
  { execution_id: id, state, settled_at }: Doubted,
  record: ExecutionRecord | null,
  now: bigint,
): Promise<boolean> {
  switch (state) {
    case 'void':
    case 'returned':
      // A wallet may open a record itself under the id of a call that was never opened.
      if (!record) return true;
      return isByWallet(record) && !(await hasLanded(chain, await readOpenSignatures(views, id)));
    case 'refunded':
      // A closed record was refunded.
      return !record || record.status === 'refunded';
    case 'settled':
      if (record) return record.status !== 'open' && record.status !== 'refunded';
      // An archived record has ended long enough ago.
      return now - (settled_at ?? now) >= BigInt(constants.recordSecondsMin);
    default:
      return record !== null;
  }
}
