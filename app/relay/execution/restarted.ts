/**
 * After a restart of the cluster, compares the ended rows with the chain. The index has been rebuilt before, so only rows
 * that it shows another way are looked up. A row that does not fit its record is parked: then it ends as its record
 * says, or an operator must decide. The comparison itself moves no money.
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { chunks } from '../../process/chunks.ts';
import { constants, decodeAccount, type ExecutionRecord, findExecution } from '../../sdk/program/program.ts';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { Journal } from '../ledger/journal.ts';
import { type Doubted, readDoubted } from '../ledger/restarts.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { isByWallet } from './orphans.ts';

/** A node reads 100 accounts at a time, and the clock is one. */
const BATCH = 99;

interface Comparing {
  chain: Pick<RelayChain, 'readAgreed' | 'hasSucceeded'>;
  journal: Pick<Journal, 'parkEnded'>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
}

/** Returns the number of rows that were parked. Throws if the node does not answer, or two nodes disagree. */
export async function compareEnds({ chain, journal, views }: Comparing, log: Logger): Promise<number> {
  let parked = 0;
  for (let page = await readDoubted(views, ''); page; page = await readDoubted(views, page.last)) {
    for (const rows of chunks(page.rows, BATCH)) {
      const addresses = rows.map((row) => findExecution(parseUuid(row.execution_id)!));
      const { accounts, now } = await chain.readAgreed(addresses);
      for (const [at, row] of rows.entries()) {
        const data = accounts[at]?.data;
        if (await fits(chain, row, data ? decodeAccount('ExecutionRecord', data) : null, now)) continue;
        await journal.parkEnded(row);
        log.error(
          { execution_id: row.execution_id, state: row.state },
          'parked an execution: after the restart of the cluster, its record does not show the end in the ledger',
        );
        parked += 1;
      }
    }
  }
  return parked;
}

/** True if the record, or its absence, fits the end of a row. */
async function fits(
  chain: Comparing['chain'],
  { state, settled_at, open_signature }: Doubted,
  record: ExecutionRecord | null,
  now: bigint,
): Promise<boolean> {
  const isUnopened = state === 'void' || state === 'returned';
  // A closed record was refunded; an archived one has ended long enough ago.
  if (!record) return state !== 'settled' || now - (settled_at ?? now) >= BigInt(constants.endedRecordSeconds);
  // A wallet may open a record itself under the id of a call that was never opened.
  if (isUnopened) return isByWallet(record) && !(open_signature && (await chain.hasSucceeded(open_signature)));
  return record.status !== 'open' && (record.status === 'refunded') === (state === 'refunded');
}
