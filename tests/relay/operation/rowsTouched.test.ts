/**
 * Every query of the most used routes, and of the work that a relay repeats, costs the same however many rows there are.
 * The tests count the steps of SQLite's machine, or the rows and pages that PostgreSQL reads, at one size and at ten times
 * that size. No query reads a whole table that grows.
 */
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import type pg from 'pg';
import { connectPostgres, SCHEMAS } from '../../../app/database/postgres.ts';
import { auditedReading, listActions, listEvents } from '../../../app/relay/access/audit.ts';
import { createAgentHealth } from '../../../app/relay/agents/agentHealth.ts';
import { keepMetadata } from '../../../app/relay/agents/pendingMetadata.ts';
import { listReceived } from '../../../app/relay/calls/received.ts';
import { readSpend } from '../../../app/relay/calls/spend.ts';
import { readStatement } from '../../../app/relay/calls/statements.ts';
import { listAllDisputes, listOthers, listOwnDisputes } from '../../../app/relay/disputes/lists.ts';
import { judgeAgents } from '../../../app/relay/events/failing.ts';
import { ROUTE_IDS, routeOf } from '../../../app/relay/http/routes/table.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import { readUnknownDeposits } from '../../../app/relay/ledger/lenders.ts';
import { readLent } from '../../../app/relay/ledger/sums.ts';
import { newEndpointId, readDueEndpoints, readSurplusOfStrangers } from '../../../app/relay/ledger/webhooks.ts';
import { createMetrics } from '../../../app/relay/operation/metrics.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { type Cost, costsOnPostgres, costsOnSqlite, type Ran, recordStatements } from '../../harness/edge/costs.ts';
import { free } from '../../harness/edge/funding.ts';
import { executionOf } from '../../harness/edge/journals.ts';
import { EPOCH, metadataOf } from '../../harness/edge/rows.ts';
import { onPostgres } from '../../harness/postgres.ts';
import { sessionsOf } from '../api/sessions.ts';
import { addressOf, idOf, LARGE, makeFilled, type Size, SMALL, WALLET } from './fill.ts';

/** Allowed growth when an index gets one more level and its pages are fuller, well below the tenfold of rows. */
const GROWTH = 2.5;
const FEW_STEPS = onPostgres ? 100 : 400;

/**
 * The total of a list of agents reads an index that covers all filters, a quarter at a time, and so does a search: some
 * milliseconds for 100,000 agents, independent of executions. The limit is in steps per agent.
 */
const COUNTS_AGENTS = /^\s*SELECT (count\(\*\) AS total|agents\.id)\s+FROM (chain\.agents|document_words)\b/;
const TRIES_AGENTS = /\bAS is_found FROM\b/;
const TRIED = 500;
const AFTER_LAST_AGENT = /\bmax\(id\)[\s\S]*\bchain\.agents\b/;
const mostOf = (text: string, was: number) =>
  COUNTS_AGENTS.test(text) ? LARGE.agents * STEPS_PER_AGENT : was * GROWTH + FEW_STEPS;
const STEPS_PER_AGENT = onPostgres ? 8 : 4;

const TABLES = [
  'executions|listings|disputes|creators|agents|documents|pending_metadata|api_keys|grants|results|agent_days',
  'caller_totals|events|admin_actions|webhook_deliveries|webhook_endpoints|deposits',
].join('|');
/** Indexes of few rows: that wait, are open or lent, of strangers, for tests alone; and those in the order of a page. */
const FEW_ROWS = [
  'executions_(unfinished|lent|open|waiting)|disputes_ended|pending_metadata_of_strangers|documents_sandbox',
  'webhook_endpoints_of_strangers|agents_by_\\w+|admin_actions_by_time|events_of_admin',
].join('|');
/** Tables that grow, or their aliases. */
const GROWS = onPostgres
  ? new RegExp(`^(${TABLES}|agent_statistics|archive_leaves)$`)
  : new RegExp(`^(chain\\.)?(${TABLES}|[a-z])\\b(?!.* INDEX (${FEW_ROWS})$)`);
/** Those of them that are large in these tests. */
const LONG = /^(chain\.)?(executions|listings|documents|agent_statistics)\b/;
const readWhole = ({ whole }: Cost) => whole.filter((table) => GROWS.test(table));

const PAGE = { limit: 5, offset: 5 };
/** Limit, in this test, of the disputes counted beyond the page. There are more disputes. */
const FEW = 5;

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const agentId = addressOf('listing', 3);
/** It has calls on every day at both sizes: totals by the day have as many rows at ten times the calls. */
const busyId = addressOf('listing', 0);

/**
 * Requests of the most used routes: all public reads, and the polling of a call and of lists. Other routes may count
 * rows freely.
 */
const READ: Record<string, string[]> = {
  '/v1/agents': [
    '',
    '?sort=price_asc',
    '?sort=best',
    '?tags=data,kind-7',
    '?q=agent',
    '?verified_only=true&offset=100',
  ],
  '/v1/agents/{agent_id}': [`/${agentId}`, `/${addressOf('listing', 0)}`],
  '/v1/agents/{agent_id}/agent-card.json': [`/${agentId}/agent-card.json`],
  '/v1/agents/{agent_id}/pictures/{metadata_hash}': [`/${agentId}/pictures/${'0'.repeat(64)}`],
  '/v1/agents/{agent_id}/statistics': [`/${agentId}/statistics`, `/${addressOf('listing', 0)}/statistics`],
  '/v1/executions': [
    '',
    ...['pending', 'running', 'completed', 'failed', 'disputed'].map((status) => `?status=${status}`),
    `?agent_id=${busyId}`,
    `?agent_id=${busyId}&status=failed`,
    `?from=${at(EPOCH + 86_407)}&to=${at(EPOCH + 9 * 86_400 + 7)}`,
  ],
  '/v1/executions/{execution_id}': [`/${idOf(40)}`],
  '/v1/executions/{execution_id}/receipt': [`/${idOf(40)}/receipt`],
  '/v1/executions/{execution_id}/archive': [`/${idOf(40)}/archive`],
  '/v1/unclaimed/{source}': [`/${addressOf('wallet', 40)}`],
  '/v1/archives/{archive_index}/leaves': ['/0/leaves'],
  '/results/{execution_id}/{token}': [`/${idOf(40)}/${'a'.repeat(32)}`],
  '/ready': [''],
  '/health': [''],
};
/** Public reads that run no query. */
const NO_QUERY = [
  ...['/', '/docs', '/openapi.json', '/idl.json', '/llms.txt', '/examples/{name}', '/.well-known/agent-card.json'],
  ...['/.well-known/x402', '/.well-known/http-message-signatures-directory'],
];

/** Work that a relay repeats beside its routes, by name. Each part runs at least one statement. */
const WORK: Record<string, (world: World) => Promise<unknown>> = {
  async 'recovery, claims and lent rents'({ tables }) {
    const journal = createJournal(tables.writes, tables.ledger.db, 'this relay');
    await journal.takeRowsOfOthersThan(['another relay']);
    await journal.unfinished(1, 500);
    await journal.unfinished(1, 500, { created_ms: 1n, execution_id: 'an id' });
    await journal.restUntil('an id', 1);
    const lending = { sponsorsAll: false, limit: () => 1n, returnSeconds: () => 4_260 };
    await journal.claim(executionOf('an id', { wallet: WALLET }), 1, { ...free(), lending });
    await journal.sumsOf(WALLET, 'a listing', 1);
    await journal.lent(1n, 99, { settled_at: 1n, execution_id: 'an id' });
    for (const kind of [null, 'keys', 'x402'] as const) await journal.lentSince(kind);
    await readLent(tables.views.db);
    await journal.rentReturned(['an id']);
    await journal.handOver();
  },
  'deposits without a row': ({ tables }) =>
    readUnknownDeposits(tables.views.db, 1n, { prepared_at: 1n, deposit: 'a deposit' }, 240),
  async "the admin's log"({ deps }) {
    const reading = { wallet: WALLET, action: 'disputes.case', subject: 'an id' } as const;
    await auditedReading(deps, reading, async () => undefined);
    await listActions(deps, { limit: 20, offset: 20 });
    await listEvents(deps, async () => null, { limit: 20, offset: 20 });
  },
  async 'figures and health'({ tables }) {
    const metrics = createMetrics({
      views: tables.views.db,
      inFlight: () => 0,
      obstacles: () => [],
      nodes: () => [],
      runway: () => ({ lamports: null, hours: null }),
      x402FeePayer: null,
      undescribed: async () => 0,
      freeBytes: async () => 0,
      backedUpAt: async () => null,
      ended: () => undefined,
      swept: async () => null,
      lendingLimit: () => 0n,
      spent: () => undefined,
      now: () => 1,
    });
    await metrics.render();
    await createAgentHealth(tables.ledger).healthOf('a listing');
  },
  async 'agents whose calls fail'({ deps }) {
    const some = new Set([agentId, busyId]);
    await judgeAgents(deps, some, some);
  },
  'a document of a wallet': ({ deps }) =>
    keepMetadata(deps, {
      metadataHash: 'ab'.repeat(32),
      document: JSON.stringify(metadataOf()),
      wallet: 'a wallet',
      network: 'a network',
      isKnown: false,
    }),
  async 'due webhooks'({ ledger }) {
    const [endpoint_id, network] = [newEndpointId(), 'a network'];
    const endpoint = { endpoint_id, network, wallet: WALLET, url: 'https://a.example', event_types: '', secret: '' };
    const added = { ...endpoint, is_known: 0n, created_ms: 1n };
    await ledger
      .insertInto('webhook_endpoints')
      .values(added as never)
      .execute();
    const delivery = { endpoint_id, position: 1n, state: 'pending', due_ms: 1n, created_ms: 1n };
    await ledger
      .insertInto('webhook_deliveries')
      .values(delivery as never)
      .execute();
    // All endpoints may get something.
    const due = await readDueEndpoints(ledger, 1, 99, { fullWallets: [], slow: 99, slowFirst: 1 });
    expect(due.map((row) => row.endpoint_id)).to.deep.equal([endpoint_id]);
    await readSurplusOfStrangers(ledger, 1);
  },
  async statements({ deps }) {
    await readStatement(deps, 'a wallet', { role: 'caller' });
    await readStatement(deps, addressOf('creator', 1), { role: 'creator' });
    await readSpend(deps, 'a wallet', {});
  },
};

interface Walked {
  world: World;
  ran: Ran[];
  /** `avoidsTables`: see costs.ts. */
  costsOf(statements: Ran[], avoidsTables?: boolean): Promise<Cost[]> | Cost[];
  /** The connection on PostgreSQL, else null. */
  client: pg.Client | null;
}

describe('rows that the API touches', () => {
  let small: Walked;
  let large: Walked;
  before(async () => {
    small = await walk(SMALL);
    large = await walk(LARGE);
  });
  after(async () => {
    for (const { client, world } of [small, large]) {
      await client?.end();
      await world.stop();
    }
  });

  /** Sends all requests, and records their queries. */
  async function walk(size: Size): Promise<Walked> {
    const { folder, databaseUrl } = await makeFilled(size);
    const world = await startWorld({}, folder, databaseUrl);
    const { apiKey } = await world.addKey({ wallet: WALLET });
    const { signIn, anonymous } = sessionsOf(() => world);
    // Looks up the documents of all agents once.
    await world.get('/v1/agents');
    const recorded = recordStatements();
    try {
      for (const [path, asked] of Object.entries(READ)) {
        const base = path.replace(/\/\{.*$/, '');
        for (const rest of asked) {
          const { status } = await fetchPage(world, base + rest, apiKey);
          expect(status, base + rest).to.be.oneOf([200, 404, 409, 410, 503]);
        }
      }
      const document = encodeMetadata(metadataOf({ name: 'posted' }));
      expect((await world.post('/v1/metadata', document)).status).to.equal(200);
      const creator = await signIn(Keypair.generate());
      await anonymous().call('agents.example', { agent_id: agentId });
      for (const failed of [false, true]) {
        const asked = { failed, limit: 20 };
        const one = { agent_id: addressOf('listing', 1), ...asked };
        for (const input of [one, asked]) await listReceived(world.deps, addressOf('creator', 1), input);
      }
      await creator.call('listings.mine');
      await creator.call('disputes.mine', {});
      await creator.call('disputes.mine', { agent_id: addressOf('listing', 1) });
      const { deps } = world;
      for (const wallet of [WALLET, addressOf('creator', 1)]) await listOwnDisputes(deps, wallet, PAGE, FEW);
      for (const outcome of [undefined, 'open', 'upheld'] as const)
        await listAllDisputes(deps, { ...PAGE, outcome }, FEW);
      await listAllDisputes(deps, { ...PAGE, creator: addressOf('creator', 1) }, FEW);
      for (const [column, value] of [
        ['caller', WALLET],
        ['listing', addressOf('listing', 1)],
      ] as const)
        await listOthers(deps, column, { value, execution_id: idOf(40), limit: FEW });
      await creator.call('keys.list');
      for (const [name, work] of Object.entries(WORK)) {
        const before = recorded.ran.length;
        await work(world);
        expect(recorded.ran.length, name).to.be.above(before);
      }
    } finally {
      recorded.end();
    }
    // INSERT is left out: the statements are run once more, and the rows exist already.
    const ran = recorded.ran.filter(({ text }) => /^\s*(SELECT|WITH|UPDATE|DELETE)\b/i.test(text) && !isHarness(text));
    const client = databaseUrl ? await connectPostgres(databaseUrl, SCHEMAS.ledger) : null;
    const files = { ledger: join(folder, 'ledger.db'), index: join(folder, 'index.db') };
    return {
      world,
      ran,
      client,
      costsOf: (statements, avoidsTables = false) =>
        client ? costsOnPostgres(client, statements, { avoidsTables }) : costsOnSqlite(files, statements),
    };
  }

  /** The statements that cost more with ten times the rows, with both costs. */
  async function grownOf(statements: Ran[]): Promise<string[]> {
    // Each world has seen its own last agent.
    const seen = large.ran.find(({ text }) => AFTER_LAST_AGENT.test(text));
    const there = statements.map((one) => (AFTER_LAST_AGENT.test(one.text) ? seen! : one));
    // A small table may be read whole. The costs are those of plans for a large one.
    const before = await small.costsOf(statements, true);
    const after = await large.costsOf(there, true);
    const grown = statements.flatMap(({ text }, number) => {
      const [was, is] = [before[number]?.steps ?? 0, after[number]?.steps ?? 0];
      return is <= mostOf(text, was) ? [] : [`${was} -> ${is}: ${text}`];
    });
    return [...new Set(grown)];
  }

  /** Without the harness, which computes statistics before each call. */
  const fetchPage = (world: World, path: string, apiKey: string) =>
    fetch(world.url + path, { headers: { authorization: `Bearer ${apiKey}` } });
  const isHarness = (text: string) =>
    /^\s*INSERT|^delete from "\w+"$|FROM (ended_executions|active_agents)\b/.test(text);

  it('are measured for every public route that reads', () => {
    const read = ROUTE_IDS.map(routeOf).filter(({ method, access }) => method === 'get' && access === 'public');
    expect([...Object.keys(READ), ...NO_QUERY]).to.include.members(read.map(({ path }) => path));
    expect(new Set(small.ran.map(({ text }) => text)).size).to.be.at.least(30);
  });

  it('stay the same with ten times the executions and agents', async () => {
    // A small table may be read whole. The costs are those of plans for a large one.
    expect((await grownOf(small.ran)).join('\n')).to.equal('');
    // A search with many matches tries some hundred agents.
    const known = new Set(small.ran.map(({ text }) => text));
    const others = large.ran.filter(({ text }) => TRIES_AGENTS.test(text) && !known.has(text));
    for (const { steps } of await large.costsOf(others, true)) expect(steps).to.be.below(TRIED * 40);
  });

  /** For a bare limit, SQLite would plan again for each value. */
  it('come from statements that SQLite does not prepare again for another limit', function () {
    if (onPostgres) this.skip();
    const texts = [...new Set(large.ran.map(({ text }) => text))];
    expect(texts.filter((text) => /\blimit \? \+ 0/i.test(text))).to.have.length.above(5);
    expect(texts.filter((text) => /\blimit \?(?! \+ 0)/i.test(text))).to.deep.equal([]);
  });

  it('never cover a whole table that grows', async () => {
    const different = [...new Map(small.ran.map((one) => [one.text, one])).values()];
    const costs = await large.costsOf(different, true);
    // The plans that PostgreSQL itself chooses, for tables that are large here.
    const chosen = await large.costsOf(different);
    const whole = different.flatMap(({ text }, number) => {
      const tables = [...readWhole(costs[number]!), ...readWhole(chosen[number]!).filter((table) => LONG.test(table))];
      // A word of all agents is found in all documents.
      if (COUNTS_AGENTS.test(text)) return [];
      return tables.length === 0 ? [] : [`${tables[0]}: ${text}`];
    });
    expect(whole.join('\n')).to.equal('');
  });
});
