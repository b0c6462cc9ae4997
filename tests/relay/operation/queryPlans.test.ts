/**
 * The relay's repeated queries never read a whole table of executions. The tests check the database's plan of every
 * statement that was run. On PostgreSQL a plan depends on the number of rows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import type pg from 'pg';
import pino from 'pino';
import type { OpenedDatabase } from '../../../app/database/open.ts';
import { connectPostgres, SCHEMAS } from '../../../app/database/postgres.ts';
import { auditedReading, listActions, listEvents } from '../../../app/relay/access/audit.ts';
import { createAgentHealth } from '../../../app/relay/agents/agentHealth.ts';
import { createDocuments } from '../../../app/relay/agents/documents.ts';
import { keepMetadata } from '../../../app/relay/agents/pendingMetadata.ts';
import { readSpend } from '../../../app/relay/calls/spend.ts';
import { readStatement } from '../../../app/relay/calls/statements.ts';
import { createKeyReader } from '../../../app/relay/ledger/apiKeys.ts';
import type { ClaimedExecution } from '../../../app/relay/ledger/claims.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import { readUnknownDeposits } from '../../../app/relay/ledger/lenders.ts';
import { readLent } from '../../../app/relay/ledger/sums.ts';
import type { LedgerDatabase } from '../../../app/relay/ledger/tables.ts';
import { newEndpointId, readDueEndpoints, readSurplusOfStrangers } from '../../../app/relay/ledger/webhooks.ts';
import { createMetrics } from '../../../app/relay/operation/metrics.ts';
import { costsOnPostgres } from '../../harness/edge/costs.ts';
import { free } from '../../harness/edge/funding.ts';
import { metadataOf } from '../../harness/edge/rows.ts';
import { type Ran, recordStatements } from '../../harness/edge/statements.ts';
import { onPostgres } from '../../harness/postgres.ts';
import { openTables, type Tables } from '../../harness/tables.ts';
import { addressOf, WALLET } from './fill.ts';
import { LARGE, makeFilled } from './filled.ts';

/** All endpoints may get something. */
const EVERY = { fullWallets: [], slow: 99, slowFirst: 1 };

const EXECUTION: ClaimedExecution = {
  execution_id: 'an id',
  wallet: WALLET,
  key_id: 'a key',
  listing: 'a listing',
  listing_version: 1n,
  metadata_hash: '',
  nonce: '',
  fingerprint: null,
  price: 1n,
  max_cost: 1n,
  timeout_seconds: 1n,
  listing_timeout_seconds: null,
  task: '',
  parameters: '{}',
  request_hash: '',
  accepted_at: 1n,
};

/** Rows and pages that PostgreSQL can read for one statement, far fewer than there are executions. */
const MOST_STEPS = 500;

/** Plan steps over rows whose money can still be in flight. */
const OF_WALLETS = /\bexecutions_(opening|landed)\b/;

function planOf(sqlite: Sqlite.Database, text: string): string[] {
  const values = Array(text.split('?').length - 1).fill(1);
  const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
  return plan.map(({ detail }) => detail);
}

/** The tables that a plan reads whole, unless through an index. */
function scansOf(sqlite: Sqlite.Database, text: string): string[] {
  // Subqueries are scanned by their alias. The plan contains their own steps too.
  const inside = new Set([...text.matchAll(/\) AS (\w+)/g)].map((match) => match[1]));
  const scanned = planOf(sqlite, text).map((step) => /^SCAN (?!.* USING .*INDEX)(?!\()(\w+)/.exec(step)?.[1]);
  return scanned.flatMap((name) => (name === undefined || inside.has(name) ? [] : [name]));
}

/** Reads all executions, or all from an id on. */
const readsAllExecutions = (sqlite: Sqlite.Database, text: string): boolean =>
  planOf(sqlite, text).some((step) =>
    /^SCAN ((chain\.)?executions|e)\b(?!.* USING .*INDEX)|sqlite_autoindex_executions_1 \(execution_id>/.test(step),
  );

describe('query plans', () => {
  let folder: string;
  let tables: Tables;
  let client: pg.Client | null = null;
  before(async () => {
    const filled = onPostgres ? await makeFilled(LARGE) : null;
    folder = filled?.folder ?? mkdtempSync(join(tmpdir(), 'query-plans-'));
    tables = await openTables(folder, filled?.databaseUrl);
    if (filled?.databaseUrl) client = await connectPostgres(filled.databaseUrl, SCHEMAS.ledger);
  });
  after(async () => {
    await client?.end();
    await tables.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The SQLite database. The ledger is its main schema, so it can also plan writes. */
  const sqlite = () => (tables.views as OpenedDatabase<LedgerDatabase>).sqlite;

  /** The different statements that `work` runs, without BEGIN and COMMIT. */
  async function ranBy(work: () => Promise<unknown>): Promise<Ran[]> {
    const recorded = recordStatements();
    try {
      await work();
    } finally {
      recorded.end();
    }
    const statements = recorded.ran.filter(({ text }) => !/^\s*(BEGIN|COMMIT|ROLLBACK|START)\b/i.test(text));
    return [...new Map(statements.map((one) => [one.text, one])).values()];
  }

  /** `isWhole` is for SQLite. On PostgreSQL no growing table may be read whole, at its present or at a large size. */
  async function requireIndexed(
    ran: Ran[],
    isWhole: (sqlite: Sqlite.Database, text: string) => boolean = readsAllExecutions,
  ): Promise<void> {
    if (!client) {
      expect(ran.map(({ text }) => text).filter((text) => isWhole(sqlite(), text))).to.deep.equal([]);
      return;
    }
    const grows =
      /^(executions|results|documents|pending_metadata|listings|events|admin_actions|api_keys|grants|webhook_deliveries|webhook_endpoints)$/;
    const large = /^(executions|listings|documents)$/;
    const asLarge = await costsOnPostgres(client, ran, { avoidsTables: true });
    const present = await costsOnPostgres(client, ran, { avoidsTables: false });
    const found = ran.flatMap(({ text }, number) => {
      const { steps, whole } = present[number]!;
      const tables = [
        ...asLarge[number]!.whole.filter((table) => grows.test(table)),
        ...whole.filter((table) => large.test(table)),
      ];
      return tables.length > 0 || steps > MOST_STEPS ? [`${tables} in ${steps} steps: ${text}`] : [];
    });
    expect(found.join('\n')).to.equal('');
  }

  it('use an index for the row of a key, which every call reads', async () => {
    const findKey = createKeyReader(tables.views);
    const ran = await ranBy(() => findKey('a hash'));
    expect(ran).to.have.length(1);
    await requireIndexed(ran, (sqlite, text) => scansOf(sqlite, text).length > 0);
  });

  it('use an index for the deposits without a row, which the sweeper looks for all the time', async () => {
    const after = { prepared_at: 1n, deposit: 'a deposit' };
    const ran = await ranBy(() => readUnknownDeposits(tables.views.db, 1n, after, 240));
    expect(ran).to.have.length(1);
    await requireIndexed(ran, (sqlite, text) => scansOf(sqlite, text).length > 0);
  });

  it('use an index for the log of the admin and its transactions', async () => {
    const { ledger, views } = tables;
    const deps = { ledger: ledger.db, views: views.db, now: () => 1 };
    const ran = await ranBy(async () => {
      const reading = { wallet: WALLET, action: 'disputes.case', subject: 'an id' } as const;
      await auditedReading(deps, reading, async () => undefined);
      await listActions(deps, { limit: 20, offset: 20 });
      await listEvents(deps, async () => null, { limit: 20, offset: 20 });
    });
    // INSERT is left out: PostgreSQL runs explained statements, and the row exists already.
    const asked = ran.filter(({ text }) => /^\s*(select|update)/i.test(text));
    expect(asked.length).to.be.at.least(6);
    await requireIndexed(asked, (sqlite, text) => scansOf(sqlite, text).length > 0);
    if (!client) {
      // An index in the order of all events would also find them, but only after reading all others.
      const steps = asked.flatMap(({ text }) => planOf(sqlite(), text)).filter((step) => /\bevents\b/.test(step));
      expect(steps).to.have.length(2);
      expect(steps.filter((step) => !step.endsWith('USING INDEX events_of_admin'))).to.deep.equal([]);
    }
  });

  it('use an index for recovery, leases, lent rents and the fee payer protection', async () => {
    const journal = createJournal(tables.writes, tables.ledger.db, 'this relay');
    const ran = await ranBy(async () => {
      await journal.takeRowsOfOthersThan(['another relay']);
      await journal.unfinished(1, 500);
      await journal.unfinished(1, 500, { created_ms: 1n, execution_id: 'an id' });
      await journal.restUntil('an id', 1);
      await journal.claim(EXECUTION, 1, {
        ...free(),
        lending: { sponsorsAll: false, limit: () => 1n, returnSeconds: () => 4_260 },
      });
      await journal.sumsOf(WALLET, 'a listing', 1);
      await journal.lent(1n, 99, { settled_at: 1n, execution_id: 'an id' });
      for (const kind of [null, 'keys', 'x402'] as const) await journal.lentSince(kind);
      await readLent(tables.views.db);
      await journal.rentReturned(['an id']);
      await journal.handOver();
    });
    expect(ran.length).to.be.at.least(7);
    if (!client) {
      // A wallet's reservations must be searched by wallet: the rows of all wallets can be thousands.
      const steps = ran.flatMap(({ text }) => planOf(sqlite(), text));
      const ofWallets = steps.filter((step) => OF_WALLETS.test(step));
      expect(ofWallets).to.not.deep.equal([]);
      expect(ofWallets.filter((step) => !step.startsWith('SEARCH'))).to.deep.equal([]);
    }
    await requireIndexed(ran);
  });

  it('use an index for the figures of /metrics and the health of agents', async () => {
    const { views, ledger } = tables;
    const runway = () => ({ lamports: null, hours: null });
    const swept = async () => null;
    const metrics = createMetrics({
      views: views.db,
      inFlight: () => 0,
      obstacles: () => [],
      nodes: () => [],
      runway,
      x402FeePayer: null,
      undescribed: async () => 0,
      freeBytes: async () => 0,
      backedUpAt: async () => null,
      ended: () => undefined,
      swept,
      lendingLimit: () => 0n,
      spent: () => undefined,
      now: () => 1,
    });
    const figures = await ranBy(() => metrics.render());
    const health = await ranBy(() => createAgentHealth(ledger).healthOf('a listing'));
    expect(figures.length).to.be.at.least(4);
    expect(health.length).to.be.at.least(1);
    await requireIndexed([...figures, ...health]);
    const webhooks = figures.filter(({ text }) => text.includes('webhook_deliveries'));
    expect(webhooks).to.have.length(1);
    await requireIndexed(webhooks, (sqlite, text) => scansOf(sqlite, text).length > 0);
  });

  it('use an index when a metadata document is posted, listed and read', async () => {
    const { views, ledger } = tables;
    const deps = { ledger: ledger.db, views: views.db, now: () => 1, log: pino({ level: 'silent' }) };
    const ran = await ranBy(async () => {
      await keepMetadata(deps, {
        metadataHash: 'ab'.repeat(32),
        document: JSON.stringify(metadataOf()),
        wallet: 'a wallet',
        network: 'a network',
        isKnown: false,
      });
      await createDocuments(views.db).get('a hash');
    });
    expect(ran.length).to.be.at.least(7);
    await requireIndexed(ran, (sqlite, text) => scansOf(sqlite, text).length > 0);
  });

  it('use an index for due webhooks, and never read all endpoints', async () => {
    const ledger = tables.ledger.db;
    const endpoint = { endpoint_id: newEndpointId(), wallet: WALLET, network: 'a network', url: 'https://a.example' };
    const more = { event_types: '', secret: '', is_known: 0n, created_ms: 1n };
    await ledger
      .insertInto('webhook_endpoints')
      .values({ ...endpoint, ...more } as never)
      .execute();
    const { endpoint_id } = endpoint;
    const delivery = { endpoint_id, position: 1n, state: 'pending', due_ms: 1n, created_ms: 1n };
    await ledger
      .insertInto('webhook_deliveries')
      .values(delivery as never)
      .execute();
    const ran = await ranBy(async () => {
      expect((await readDueEndpoints(ledger, 1, 99, EVERY)).map((row) => row.endpoint_id)).to.deep.equal([endpoint_id]);
      await readSurplusOfStrangers(ledger, 1);
    });
    await ledger.deleteFrom('webhook_endpoints').execute();
    await ledger.deleteFrom('webhook_deliveries').execute();
    expect(ran.length).to.equal(6);
    // The walk is a table of the statement itself, and begins with one row.
    const isStored = (name: string) => name !== 'walk' && name !== 'CONSTANT';
    await requireIndexed(ran, (sqlite, text) => scansOf(sqlite, text).some(isStored));
  });

  it('use an index for the statements of a wallet', async () => {
    const { db: views } = tables.views;
    const deps = { views, documents: createDocuments(views), now: () => 60 * 86_400_000 };
    const ran = await ranBy(async () => {
      for (const role of ['caller', 'creator'] as const)
        await readStatement(deps, role === 'caller' ? 'a wallet' : addressOf('creator', 1), { role });
      await readSpend(deps, 'a wallet', {});
    });
    expect(ran.length).to.be.at.least(4);
    await requireIndexed(ran, (sqlite, text) => scansOf(sqlite, text).length > 0);
  });
});
