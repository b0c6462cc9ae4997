/** The journals of two relays on one ledger, each with its own connections, on the database that DATABASE names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { GroupCommit } from '../../../app/database/groupCommit.ts';
import type { ClaimedDeposit, ClaimedExecution } from '../../../app/relay/ledger/claims.ts';
import { NO_KEY } from '../../../app/relay/ledger/funding.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import type { LedgerTables } from '../../../app/relay/ledger/tables.ts';
import { openTables } from '../tables.ts';

/** A signed transaction as the journal stores it, and the terms in the record of an open. */
export const SIGNED = { bytes: Uint8Array.of(1), signature: 'signature', lastValidHeight: 10n, fee: 5_000n };
let signatures = 0;
/** The same with a signature of its own. */
export const signedAnew = () => ({ ...SIGNED, signature: `signature ${++signatures}` });
export const TIMES = { openedAt: 1n, deadline: 31n, refundAt: 631n, feeBps: 100 };
export const WALLET = 'wallet';

interface Journals {
  mine: ReturnType<typeof createJournal>;
  others: ReturnType<typeof createJournal>;
  /** The group commit that `mine` writes through. */
  writes: GroupCommit;
  /** The ledger as opened by each of the two. */
  ledger: Kysely<LedgerTables>;
  elsewhere: Kysely<LedgerTables>;
  /** Runs statements on the ledger; returns the last one's rows. */
  // biome-ignore lint/suspicious/noExplicitAny: the rows are what the statement says
  run(...statements: string[]): Promise<any[]>;
  /** Deletes every execution with its transactions and its result. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

async function openJournals(): Promise<Journals> {
  const folder = mkdtempSync(join(tmpdir(), 'journals-'));
  const tables = await openTables(folder);
  const other = tables.openAgain();
  const ledger = tables.ledger.db;
  const run: Journals['run'] = async (...statements) => {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await sql.raw(statement).execute(ledger)).rows;
    return rows;
  };
  return {
    mine: createJournal(tables.writes, ledger, 'mine'),
    others: createJournal(other.writes, other.db, 'others'),
    writes: tables.writes,
    ledger,
    elsewhere: other.db,
    run,
    clear: async () => {
      for (const table of ['executions', 'transactions', 'signed_transactions', 'results']) {
        await run(`DELETE FROM ${table}`);
      }
    },
    async close() {
      await other.close();
      await tables.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Journals for the tests of a suite, empty before each test. */
export function useJournals() {
  const opened = {} as Journals;
  const mine = {} as Journals['mine'];
  const others = {} as Journals['others'];
  before(async () => {
    Object.assign(opened, await openJournals());
    Object.assign(mine, opened.mine);
    Object.assign(others, opened.others);
  });
  after(() => opened.close());
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
