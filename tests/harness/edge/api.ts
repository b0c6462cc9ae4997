/**
 * The relay's HTTP server for tests, over real tables. The test writes their rows, as indexer and engine would. Only
 * the parts that need a chain are stubs: the engine's outcome and the accounts that are read.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { createKeyUse } from '../../../app/relay/access/auth.ts';
import { createSessions } from '../../../app/relay/access/sessions.ts';
import { createAgentHealth } from '../../../app/relay/agents/agentHealth.ts';
import { createDocuments } from '../../../app/relay/agents/documents.ts';
import { createUndocumented } from '../../../app/relay/agents/undocumented.ts';
import { createFeed } from '../../../app/relay/events/feed.ts';
import { createStreams } from '../../../app/relay/events/streams.ts';
import { USUAL_STREAMS } from '../../../app/relay/events/streamWriter.ts';
import type { ExecuteOutcome, PaidCall, Principal } from '../../../app/relay/execution/contract.ts';
import type { RelayDeps } from '../../../app/relay/http/deps.ts';
import { createHttpServer } from '../../../app/relay/http/server.ts';
import { createKeyReader } from '../../../app/relay/ledger/apiKeys.ts';
import { createPayers } from '../../../app/relay/ledger/payers.ts';
import type { Obstacle } from '../../../app/relay/operation/gate.ts';
import { loadCallKeys } from '../../../app/relay/outbound/callKeys.ts';
import { createCreatorPool } from '../../../app/relay/outbound/dispatch.ts';
import { createReadText } from '../../../app/relay/outbound/resultObjects.ts';
import { createPost } from '../../../app/relay/outbound/testPost.ts';
import type { SweepFigures } from '../../../app/relay/sweeper/sweeper.ts';
import type { ExecutionRecord, KeyGrant } from '../../../app/sdk/program/program.ts';
import { formatUuid } from '../../../app/sdk/receipt/receipt.ts';
import type { FoundChange } from '../../../app/sdk/wallet/pending.ts';
import { openTables } from '../tables.ts';
import { CONFIG, grantAccount } from './accounts.ts';
import { watchFigures } from './figures.ts';
import { listen } from './listen.ts';
import { createRows, EPOCH, newExecutionId } from './rows.ts';

/** The genesis hash of no public cluster. */
export const GENESIS = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';
const RPC_URL = 'http://127.0.0.1:8899';
export const EXPLORER_QUERY = '?cluster=custom&customUrl=http%3A%2F%2F127.0.0.1%3A8899';

export interface ApiAnswer {
  status: number;
  /** The status, and the code of an error: `200`, or `404 agent_not_found`. */
  outcome: string;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  json: any;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** Without the limit on requests without a key, because all tests use one address. */
export const EDGE_CONFIG: RelayDeps['config'] = {
  environment: 'test',
  operatorContact: 'https://help.example/marketplace',
  metricsToken: null,
  developmentWallets: null,
  publicRpcUrl: RPC_URL,
  allowPrivateEndpoints: true,
  sponsorsAll: false,
  egressIps: ['203.0.113.7'],
  trustProxy: 0,
  publicRate: { perSecond: 0, burst: 0 },
  revocations: { wallet: 100_000n, total: 1_000_000n },
};

/**
 * Starts the server on a free port. `settings` overrides its dependencies. `databaseUrl` names a PostgreSQL that
 * already has rows. The folder is removed at the end.
 */
export async function startWorld(
  settings: Partial<RelayDeps> = {},
  folder = mkdtempSync(join(tmpdir(), 'relay-api-')),
  databaseUrl?: string,
) {
  const tables = await openTables(folder, databaseUrl);
  const { ledger, views, writes } = tables;
  const figures = watchFigures(tables.index.db);
  const callKeys = loadCallKeys(join(folder, 'call-keys.json'));
  const creators = createCreatorPool({ allowPrivate: true, sign: callKeys.sign });
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const keyUse = createKeyUse(ledger.db, log);
  const state = {
    nowMs: EPOCH * 1000,
    chainAnswers: true,
    obstacles: [] as Obstacle[],
    advice: [] as string[],
    executed: [] as { principal: Principal; agentId: string; input: PaidCall }[],
    execute: async (): Promise<ExecuteOutcome> => ({ kind: 'pending', executionId: newExecutionId() }),
    grants: new Map<string, KeyGrant>(),
    /** Of every wallet: USDC in base units, gas and fees in lamports. */
    money: {
      balance: 97_250_000n,
      allowance: 17_250_000n,
      gasBalance: 5_000_000n,
      leastGasBalance: 890_880n,
      fees: 11_950n,
      escrowRent: 1_488_440n,
    },
    /** Records on the chain by execution_id. */
    records: new Map<string, ExecutionRecord>(),
    revoked: [] as string[],
    /** The refusal while the ledger may lack calls. */
    lostCalls: null as Error | null,
    /** Pending changes of the settings. */
    changes: [] as FoundChange[],
    /** What the chain holds, for the admin's comparison. */
    held: { escrow: 0n, collateral: 0n, deposits: 0n, unclaimed: 0n, rent: 0n, gas: 0n },
    swept: null as SweepFigures | null,
    lentLimit: 10_000_000_000n,
    x402: null as ReturnType<RelayDeps['operator']['x402']>,
  };
  const requireChain = (): void => {
    if (!state.chainAnswers) throw new Error('the node does not answer');
  };

  const eventDeps = { ledger: ledger.db, views: views.db, writes, now: () => state.nowMs, log };
  const feed = createFeed(eventDeps);
  const payers = createPayers(views.db);
  // Short, so that no test waits for a heartbeat.
  const streamSettings = { ...USUAL_STREAMS, perKey: 2, perWallet: 3, ofStrangers: 4, heartbeatMs: 50 };
  const streams = createStreams({ ...eventDeps, feed, payers }, streamSettings);

  let url = '';
  const deps: RelayDeps = {
    config: EDGE_CONFIG,
    dashboardFolder: null,
    baseUrl: () => url,
    explorerQuery: EXPLORER_QUERY,
    ledger: ledger.db,
    views: views.db,
    documents: createDocuments(views.db),
    undocumented: createUndocumented(views.db),
    lostCalls: {
      requireKnown: async () => {
        if (state.lostCalls) throw state.lostCalls;
      },
      mayLack: () => false,
    },
    readText: createReadText(null, log),
    findKey: createKeyReader(views),
    payers,
    isBusy: () => false,
    keyUse,
    genesisHash: GENESIS,
    sessions: createSessions({ ledger: ledger.db, genesisHash: GENESIS, payers, now: () => state.nowMs }),
    accounts: {
      async readGrant(wallet, keyId) {
        requireChain();
        return { grant: state.grants.get(`${wallet}:${keyId}`) ?? null, now: BigInt(Math.floor(state.nowMs / 1000)) };
      },
      async readKeyMoney(wallet, keyId) {
        const { grant, now } = await this.readGrant(wallet, keyId);
        const live = grant ?? grantAccount({ wallet, keyId, apiKey: '', keyHash: '' });
        return { grant: live, now, ...state.money };
      },
      async readExecution(id) {
        requireChain();
        return { record: state.records.get(formatUuid(id)) ?? null, now: BigInt(Math.floor(state.nowMs / 1000)) };
      },
      async readRecords(ids) {
        requireChain();
        return ids.flatMap((id) => state.records.get(formatUuid(id)) ?? []);
      },
      async readConfig() {
        requireChain();
        return CONFIG;
      },
      async readChanges() {
        requireChain();
        return state.changes;
      },
      async readTime(slot) {
        requireChain();
        return EPOCH + slot;
      },
      async revokeGrant(wallet, keyId) {
        requireChain();
        state.revoked.push(`${wallet}:${keyId}`);
        return 'revokeSignature';
      },
      isReachable: async () => state.chainAnswers,
      clock: () => BigInt(Math.floor(state.nowMs / 1000)),
    },
    engine: {
      execute(principal, agent, input) {
        state.executed.push({ principal, agentId: agent.listing, input });
        return state.execute();
      },
      buy: async () => expect.fail('nothing is ever bought here'),
      start: async () => expect.fail('no record is ever opened here'),
      outcomeOf: async () => state.execute(),
      inFlight: () => 3,
    },
    x402: null,
    noX402: 'This service does not accept x402 payments',
    readKeyDirectory: async () => callKeys.directory,
    streams,
    agentHealth: createAgentHealth(ledger),
    gate: { obstacles: () => state.obstacles, advice: () => state.advice },
    operator: {
      authority: CONFIG.admin.toBase58(),
      async readBalances(addresses) {
        requireChain();
        return addresses.map(() => 7_000_000_000);
      },
      async readHeld() {
        requireChain();
        return state.held;
      },
      nodes: () => [{ name: '1:node', state: 'up', slot: null }],
      runway: () => ({ lamports: 6_000_000_000, hours: 120.5 }),
      swept: async () => state.swept,
      lending: { limit: () => state.lentLimit, returnSeconds: () => 4_260 },
      clock: () => BigInt(Math.floor(state.nowMs / 1_000)),
      x402: () => state.x402,
      lamportsPerCall: async () => 10_000,
      reconciledMs: () => (state.obstacles.includes('ledger_unreconciled') ? null : EPOCH * 1_000),
    },
    metrics: {
      render: async () => 'marketplace_test 1\n',
      answered: () => undefined,
      faulted: () => undefined,
      refused: () => undefined,
    },
    testTools: { sign: creators.sign, post: createPost(creators) },
    now: () => state.nowMs,
    log,
    ...settings,
  };
  const server: Server = createHttpServer(deps);
  const [serve] = server.listeners('request') as [RequestListener];
  server.off('request', serve).on('request', figures.beforeRequests(serve));
  url = await listen(server);

  async function call(path: string, init: RequestInit & { key?: string } = {}): Promise<ApiAnswer> {
    const headers = new Headers(init.headers);
    if (init.key !== undefined) headers.set('authorization', `Bearer ${init.key}`);
    const response = await fetch(url + path, { ...init, headers });
    const text = await response.text();
    const { status } = response;
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const json = isJson && text ? JSON.parse(text) : null;
    const code = json?.error?.data?.code ?? json?.error?.code;
    return { status, outcome: code ? `${status} ${code}` : `${status}`, headers: response.headers, text, json };
  }

  const rows = createRows(figures.index, ledger.db, state);
  return {
    url,
    port: Number(new URL(url).port),
    deps,
    state,
    index: figures.index,
    ledger: ledger.db,
    /** Numbers the new events and streams them. The relay does so by a timer. */
    feed,
    openStreams: streams.count,
    endStreams: streams.end,
    streamSettings,
    call,
    get: (path: string, key?: string) => call(path, key === undefined ? {} : { key }),
    /** Sends a POST with JSON, or with raw bytes and chosen headers. */
    post(path: string, body: unknown, init: { key?: string; headers?: Record<string, string> } = {}) {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      return call(path, {
        method: 'POST',
        body: raw ? (body as BodyInit) : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...init.headers },
        ...(init.key === undefined ? {} : { key: init.key }),
      });
    },
    ...rows,
    /** The open tables, for tests that create a journal on them. */
    tables,
    async stop(): Promise<void> {
      streams.end();
      server.closeAllConnections();
      server.close();
      await keyUse.close();
      await creators.destroy();
      await tables.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A world for the tests of a suite. It exists from the suite's first `before` on, and ends with the suite. */
export function useWorld(...given: Parameters<typeof startWorld>): World {
  const world = {} as World;
  before(async function () {
    Object.assign(world, await startWorld(...given));
    // After all other hooks of the suite.
    this.test!.parent!.afterAll(() => world.stop());
  });
  return world;
}

type BodyInit = NonNullable<RequestInit['body']>;
