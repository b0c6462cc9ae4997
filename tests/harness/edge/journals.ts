/** The journals of two relays on one ledger, each with its own connections, on the database that DATABASE names. */
import { sql } from 'kysely';
import type { ClaimedDeposit, ClaimedExecution } from '../../../app/relay/ledger/claims.ts';
import { NO_KEY } from '../../../app/relay/ledger/funding.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import { useTables } from '../tables.ts';

/** A signed transaction as the journal stores it, and the terms in the record of an open. */
export const SIGNED = { bytes: Uint8Array.of(1), signature: 'signature', lastValidHeight: 10n, fee: 5_000n };
let signatures = 0;
/** The same with a signature of its own. */
export const signedAnew = () => ({ ...SIGNED, signature: `signature ${++signatures}` });
export const TIMES = { openedAt: 1n, refundAt: 631n };
export const WALLET = 'wallet';

/** Journals for the tests of a suite, empty before each test. */
export function useJournals() {
  const tables = useTables();
  let other: ReturnType<typeof tables.openAgain>;
  const [mine, others] = [{}, {}] as [ReturnType<typeof createJournal>, ReturnType<typeof createJournal>];
  const opened = {
    /** The group commit that `mine` writes through. */
    get writes() {
      return tables.writes;
    },
    /** The ledger as opened by each of the two. */
    get ledger() {
      return tables.ledger.db;
    },
    get elsewhere() {
      return other.db;
    },
    /** Runs statements on the ledger; returns the last one's rows. */
    // biome-ignore lint/suspicious/noExplicitAny: the rows are what the statement says
    async run(...statements: string[]): Promise<any[]> {
      let rows: unknown[] = [];
      for (const statement of statements) rows = (await sql.raw(statement).execute(tables.ledger.db)).rows;
      return rows;
    },
    /** Deletes every execution with its transactions and its result. */
    async clear(): Promise<void> {
      const all = ['executions', 'transactions', 'signed_transactions', 'results'];
      await opened.run(...all.map((table) => `DELETE FROM ${table}`));
    },
  };
  before(() => {
    other = tables.openAgain();
    Object.assign(mine, createJournal(tables.writes, tables.ledger.db, 'mine'));
    Object.assign(others, createJournal(other.writes, other.db, 'others'));
  });
  after(() => other.close());
  beforeEach(() => opened.clear());
  return { opened, mine, others };
}

/** A call to claim. Its task equals its id. */
export const executionOf = (id: string, changes: Partial<ClaimedExecution> = {}): ClaimedExecution => ({
  execution_id: id,
  wallet: WALLET,
  key_id: 'key',
  listing: 'listing',
  listing_version: 1n,
  metadata_hash: 'hash',
  nonce: id,
  fingerprint: null,
  price: 1n,
  max_cost: 1n,
  timeout_seconds: 30n,
  task: id,
  parameters: '{}',
  accepted_at: 1n,
  request_hash: 'request',
  listing_timeout_seconds: 30n,
  ...changes,
});

/** A call to claim that an x402 client pays for. Its deposit equals its id. */
export const depositOf = (id: string, changes: Partial<ClaimedDeposit> = {}): ClaimedDeposit => ({
  ...executionOf(id),
  key_id: NO_KEY,
  names_payer: 0n,
  service_fee: 1n,
  payment_id: null,
  payment: Buffer.from([1]),
  payment_last_valid_height: 10n,
  deposit: id,
  ...changes,
});
