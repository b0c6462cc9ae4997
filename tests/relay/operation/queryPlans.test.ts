/**
 * What the relay asks its databases again and again never reads a whole table of executions, however many there are: by
 * SQLite's own plan of every statement that was run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import pino from 'pino';
import { createGroupCommit } from '../../../app/database/groupCommit.ts';
import { MIGRATIONS, migrate } from '../../../app/database/migrate.ts';
import { openDatabase } from '../../../app/database/open.ts';
import { createAgentHealth } from '../../../app/relay/agents/agentHealth.ts';
import { createDocuments } from '../../../app/relay/agents/documents.ts';
import { keepMetadata } from '../../../app/relay/agents/pendingMetadata.ts';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import type { ClaimedExecution } from '../../../app/relay/ledger/claims.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import type { LedgerDatabase, LedgerTables } from '../../../app/relay/ledger/tables.ts';
import { createMetrics } from '../../../app/relay/operation/metrics.ts';
import { openIndex } from '../../../indexer/open.ts';
import { free } from '../../harness/edge/funding.ts';

const EXECUTION: ClaimedExecution = {
  execution_id: 'an id',
  wallet: 'a wallet',
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

/** Remembers the text of every statement that is prepared from now on. */
function listen(sqlite: Sqlite.Database): Set<string> {
  const texts = new Set<string>();
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = ((text: string) => {
    texts.add(text);
    return prepare(text);
  }) as typeof sqlite.prepare;
  return texts;
}

/** Steps over the rows whose money may be on its way. */
const OF_WALLETS = /\bexecutions_(opening|landed)\b/;

function planOf(sqlite: Sqlite.Database, text: string): string[] {
  const values = Array(text.split('?').length - 1).fill(1);
  const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
  return plan.map(({ detail }) => detail);
}

describe('query plans', () => {
  const folder = mkdtempSync(join(tmpdir(), 'query-plans-'));
  openIndex(indexPath(folder)).close();
  const ledger = openDatabase<LedgerTables>(ledgerPath(folder));
  migrate(ledger.sqlite, MIGRATIONS.ledger);
  const views = openDatabase<LedgerDatabase>(ledgerPath(folder), {
    readonly: true,
    attach: { chain: indexPath(folder) },
  });
  after(() => {
    views.close();
    ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The steps of a plan that read a whole table, and not only an index over what waits. */
  function scansOf(sqlite: Sqlite.Database, text: string): string[] {
    // What a query inside has read is scanned by its name; that query's own plan is among these.
    const inside = new Set([...text.matchAll(/\) AS (\w+)/g)].map((match) => match[1]));
    const scanned = planOf(sqlite, text).map((step) => /^SCAN (?!.* USING .*INDEX)(?!\()(\w+)/.exec(step)?.[1]);
    return scanned.flatMap((name) => (name === undefined || inside.has(name) ? [] : [name]));
  }

  function requireIndexed(sqlite: Sqlite.Database, texts: Iterable<string>): void {
    const whole: string[] = [];
    for (const text of [...texts]) {
      const isWhole = planOf(sqlite, text).some((step) =>
        /^SCAN ((chain\.)?executions|e)\b(?!.* USING .*INDEX)/.test(step),
      );
      if (isWhole) whole.push(text);
    }
    expect(whole).to.deep.equal([]);
  }

  it('recovery, leases, finality and the protection of the fee payer', async () => {
    const texts = listen(ledger.sqlite);
    const journal = createJournal(createGroupCommit(ledger.sqlite), ledger.db, 'this relay');
    await journal.takeRowsOfOthersThan(['another relay']);
    await journal.unfinished(1, 500);
    await journal.unfinished(1, 500, { created_ms: 1n, execution_id: 'an id' });
    await journal.restUntil('an id', 1);
    await journal.claim(EXECUTION, 1, free({ openExecutions: 1 }));
    await journal.sumsOf('a wallet', 'a listing', 1);
    await journal.lent(1n, 99, '');
    await journal.rentReturned(['an id']);
    await journal.handOver();
    await journal.unproven(1n, 1n, 99);
    await journal.proven(['an id'], 1n);
    expect(texts.size).to.be.at.least(7);
    // What is promised of a wallet's money is looked for among its own rows: those of all may be thousands.
    const ran = [...texts];
    const ofWallets = ran.flatMap((text) => planOf(ledger.sqlite, text)).filter((step) => OF_WALLETS.test(step));
    expect(ofWallets).to.not.deep.equal([]);
    expect(ofWallets.filter((step) => !step.startsWith('SEARCH'))).to.deep.equal([]);
    requireIndexed(ledger.sqlite, ran);
  });

  it('the figures of /metrics and the health of agents', async () => {
    const texts = listen(views.sqlite);
    const ofHealth = listen(ledger.sqlite);
    const runway = () => ({ lamports: null, hours: null });
    const swept = async () => null;
    await createMetrics({ views: views.db, inFlight: () => 0, nodes: () => [], runway, swept, now: () => 1 }).render();
    await createAgentHealth(ledger, 5, 1).healthOf('a listing');
    expect(texts.size).to.be.at.least(4);
    expect(ofHealth.size).to.be.at.least(1);
    requireIndexed(views.sqlite, texts);
    requireIndexed(ledger.sqlite, ofHealth);
  });

  it('a metadata document that is posted, listed and read', async () => {
    const read = listen(views.sqlite);
    const written = listen(ledger.sqlite);
    const deps = { ledger: ledger.db, views: views.db, now: () => 1, log: pino({ level: 'silent' }) };
    await keepMetadata(deps, { metadataHash: 'a hash', document: '{}', wallet: 'a wallet', network: '' });
    await createDocuments(views.db).get('a hash');
    expect(read.size).to.be.at.least(6);
    expect(written.size).to.be.at.least(1);
    const statements = [...read].map((text) => [views.sqlite, text] as const);
    statements.push(...[...written].map((text) => [ledger.sqlite, text] as const));
    expect(statements.flatMap(([sqlite, text]) => scansOf(sqlite, text))).to.deep.equal([]);
  });
});
