/**
 * Every query that the API makes costs the same however much there is: the steps of SQLite's machine are counted over a
 * ledger and an index, and over ones ten times as large. And none reads a whole table that grows.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { readStatistics } from '../../../app/relay/agents/statistics.ts';
import { listAllDisputes, listOwnDisputes } from '../../../app/relay/disputes/lists.ts';
import { ROUTE_IDS, routeOf } from '../../../app/relay/http/routes/table.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { addressOf, fill, idOf, WALLET } from '../../../bench/lists/fill.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, metadataOf } from '../../harness/edge/rows.ts';
import { countSteps, type Ran, recordStatements } from '../../harness/edge/statements.ts';
import { sessionsOf } from '../api/sessions.ts';

const SMALL = { executions: 2_000, agents: 200 };
const LARGE = { executions: 20_000, agents: 2_000 };
/** Where an index gets a level more, and pages are fuller: far from the ten times that rows are. */
const GROWTH = 2.5;
const FEW_STEPS = 400;

/** What grows with something else than executions and agents, and why that is good enough. */
const OTHERWISE: [RegExp, why: string][] = [
  [/caller_totals/, 'one row for each hour and status, however many executions are in it'],
  [/SELECT creator AS wallet FROM chain.listings UNION/, 'the list of creators, which the admin alone may read'],
];
const growsOtherwise = (text: string) => OTHERWISE.some(([pattern]) => pattern.test(text));

const PAGE = { limit: 5, offset: 5 };
/** Disputes that are counted beyond the page here, fewer than there are. */
const FEW = 5;

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const agentId = addressOf('listing', 3);

/** For each route that is read, how it is asked; those without are answered without a query, or not at all here. */
const READ: Record<string, string[]> = {
  '/v1/agents': ['', '?sort=price_asc', '?tags=data,kind-7', '?q=agent', '?verified_only=true&offset=100'],
  '/v1/agents/{agent_id}': [`/${agentId}`, `/${addressOf('listing', 0)}`],
  '/v1/executions': [
    '',
    ...['pending', 'running', 'completed', 'failed', 'disputed'].map((status) => `?status=${status}`),
    `?agent_id=${agentId}`,
    `?agent_id=${agentId}&status=failed`,
    `?from=${at(EPOCH + 86_407)}&to=${at(EPOCH + 9 * 86_400 + 7)}`,
  ],
  '/v1/executions/{execution_id}': [`/${idOf(40)}`],
  '/v1/executions/{execution_id}/receipt': [`/${idOf(40)}/receipt`],
  '/v1/executions/{execution_id}/archive': [`/${idOf(40)}/archive`],
  '/v1/archives/{archive_index}/leaves': ['/0/leaves'],
  '/results/{execution_id}/{token}': [`/${idOf(40)}/${'a'.repeat(32)}`],
  '/ready': [''],
  '/health': [''],
  '/': [],
  '/docs': [],
  '/openapi.json': [],
  '/idl.json': [],
  '/.well-known/http-message-signatures-directory': [],
};

describe('rows that the API touches', () => {
  let small: Ran[];
  let files: { small: Files; large: Files };
  const worlds: World[] = [];
  before(async () => {
    const one = await walk(SMALL);
    const other = await walk(LARGE);
    small = one.ran;
    files = { small: one.files, large: other.files };
    worlds.push(one.world, other.world);
  });
  after(async () => {
    for (const world of worlds) await world.stop();
  });

  interface Files {
    ledger: string;
    index: string;
  }

  /** Asks everything, and remembers the queries. */
  async function walk(size: typeof SMALL): Promise<{ world: World; ran: Ran[]; files: Files }> {
    const folder = mkdtempSync(join(tmpdir(), 'rows-touched-'));
    await fill(folder, size);
    const world = await startWorld({}, folder);
    const { apiKey } = await world.addKey({ wallet: WALLET });
    const { signIn, anonymous } = sessionsOf(() => world);
    // What the lists of agents are made from is read whole, once.
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
      await anonymous().call('agents.outcomes', { agent_id: agentId });
      await creator.call('listings.mine');
      await creator.call('disputes.mine', {});
      const { deps } = world;
      for (const wallet of [WALLET, addressOf('creator', 1)]) await listOwnDisputes(deps, wallet, PAGE, FEW);
      for (const outcome of [undefined, 'open', 'upheld'] as const)
        await listAllDisputes(deps, { ...PAGE, outcome }, FEW);
      await creator.call('keys.list');
    } finally {
      recorded.end();
    }
    const ran = recorded.ran.filter(({ text }) => /^\s*(SELECT|WITH)\b/i.test(text) && !isHarness(text));
    return { world, ran, files: { ledger: join(folder, 'ledger.db'), index: join(folder, 'index.db') } };
  }

  /** Without the harness, which makes figures anew before each call. */
  const fetchPage = (world: World, path: string, apiKey: string) =>
    fetch(world.url + path, { headers: { authorization: `Bearer ${apiKey}` } });
  const isHarness = (text: string) => /^\s*INSERT|FROM ended_executions\b/.test(text);

  it('are asked for by every route that is read', () => {
    const read = ROUTE_IDS.map(routeOf).flatMap((route) => (route.method === 'get' ? [route.path] : []));
    expect(Object.keys(READ)).to.have.members(read);
    expect(new Set(small.map(({ text }) => text)).size).to.be.at.least(30);
  });

  it('are as many over ten times the executions and agents', () => {
    const [before, after] = [countSteps(files.small, small), countSteps(files.large, small)];
    const grown = small.flatMap(({ text }, number) => {
      const [was, is] = [before[number] ?? 0, after[number] ?? 0];
      return is <= was * GROWTH + FEW_STEPS || growsOtherwise(text) ? [] : [`${was} -> ${is}: ${text}`];
    });
    expect([...new Set(grown)].join('\n')).to.equal('');
  });

  it('are read in slices for the days of a creator with many', async () => {
    const { deps, index } = worlds[1] as World;
    const listing = addressOf('listing', 0);
    const ended = await index
      .selectFrom('executions')
      .select(['status', 'settled_at', 'creator_amount'])
      .where('listing', '=', listing)
      .where('status', '!=', 'open')
      .execute();
    expect(ended.length).to.be.above(1_000);
    const now = () => (EPOCH + 60 * 86_400) * 1_000;
    const asked = { agent_id: listing, days: 90 };
    const { days } = await readStatistics({ views: deps.views, now }, addressOf('creator', 0), asked);
    const completed = new Map(days.map(({ day }) => [day, 0]));
    for (const { status, settled_at } of ended) {
      const day = at(Number(settled_at)).slice(0, 10);
      if (status === 'completed' || status === 'disputed') completed.set(day, (completed.get(day) ?? 0) + 1);
    }
    expect(days.map((one) => [one.day, one.completed])).to.deep.equal([...completed]);
    const earned = ended.reduce((sum, row) => sum + row.creator_amount, 0n);
    const shown = days.reduce((sum, one) => sum + BigInt(Math.round(one.earned_usdc * 1e6)), 0n);
    expect(shown).to.equal(earned);
  });

  it('are counted: what reads everything is seen', () => {
    const whole: Ran[] = [{ text: 'SELECT count(*) FROM chain.executions WHERE price > 1', values: [] }];
    const [before, after] = [countSteps(files.small, whole)[0] ?? 0, countSteps(files.large, whole)[0] ?? 0];
    expect(before).to.be.above(SMALL.executions);
    expect(after).to.be.above(before * 9);
  });

  it('are never those of a whole table that grows', () => {
    const sqlite = new Sqlite(files.small.ledger, { readonly: true });
    sqlite.prepare('ATTACH DATABASE ? AS chain').run(files.small.index);
    const grows = 'executions|listings|disputes|creators|metadata|pending_metadata|api_keys|grants|results|[a-z]';
    // Indexes of what waits alone, which is little.
    const waiting = 'executions_unfinished|pending_metadata_of_wallets';
    const scan = new RegExp(`^SCAN (${grows})\\b(?!.* INDEX (${waiting})$)`);
    const whole = [...new Map(small.map((one) => [one.text, one])).values()].flatMap(({ text, values }) => {
      const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
      const scans = plan.filter(({ detail }) => scan.test(detail));
      return scans.length === 0 || growsOtherwise(text) ? [] : [`${scans[0]?.detail}: ${text}`];
    });
    sqlite.close();
    expect(whole.join('\n')).to.equal('');
  });
});
