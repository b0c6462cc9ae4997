/**
 * The relay's edge for tests: its real HTTP server over real SQLite files, whose rows the test writes as the indexer and
 * the engine would. Only what needs a chain is the test's own: the engine's outcome and the accounts that are read.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import type { Insertable } from 'kysely';
import pino from 'pino';
import { MIGRATIONS, migrate } from '../../../app/database/migrate.ts';
import { openDatabase } from '../../../app/database/open.ts';
import { createKeyReader, createKeyUse } from '../../../app/relay/access/auth.ts';
import { createSessions } from '../../../app/relay/access/sessions.ts';
import { createAgentHealth } from '../../../app/relay/agents/agentHealth.ts';
import { createDocuments } from '../../../app/relay/agents/documents.ts';
import type { RelayDeps } from '../../../app/relay/deps.ts';
import type { ExecuteOutcome, PaidCall, Principal } from '../../../app/relay/execution/contract.ts';
import { createHttpServer } from '../../../app/relay/http/server.ts';
import type { ExecutionsTable, LedgerDatabase, LedgerTables, ResultsTable } from '../../../app/relay/ledger/tables.ts';
import type { Obstacle } from '../../../app/relay/operation/gate.ts';
import { loadCallKeys } from '../../../app/relay/outbound/callKeys.ts';
import { callCreator, createCreatorPool } from '../../../app/relay/outbound/dispatch.ts';
import type { Config, ExecutionRecord, KeyGrant } from '../../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOfHash } from '../../../app/sdk/receipt/apiKey.ts';
import { formatUuid, hashResult } from '../../../app/sdk/receipt/receipt.ts';
import { type AgentMetadata, encodeMetadata, hashMetadata } from '../../../app/sdk/wire/metadata.ts';
import { openIndex } from '../../../indexer/open.ts';
import type { ExecutionRow, ListingRow } from '../../../indexer/tables.ts';

const RPC_URL = 'http://127.0.0.1:8899';
export const EXPLORER_QUERY = '?cluster=custom&customUrl=http%3A%2F%2F127.0.0.1%3A8899';

/** Unix seconds from which test rows count; any fixed moment will do. */
export const EPOCH = 1_760_000_000;

export const newAddress = (): string => Keypair.generate().publicKey.toBase58();
export const newExecutionId = (): string => formatUuid(randomBytes(16));
const newHash = (): string => randomBytes(32).toString('hex');

export interface TestKey {
  wallet: string;
  apiKey: string;
  keyHash: string;
  keyId: string;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  json: any;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

export function metadataOf(changes: Partial<AgentMetadata> = {}): AgentMetadata {
  return {
    name: 'csv-analyst',
    tagline: 'Answers one SQL question about a CSV file.',
    description: 'Reads a file and answers a question.',
    display_name: 'Ada Analytics',
    custom_tags: [],
    input_schema: { type: 'object', properties: {} },
    output_schema: { type: 'string' },
    endpoint: 'http://127.0.0.1:9/execute',
    ...changes,
  };
}

/** Without the limit on what needs no key: these tests are all from one address. */
export const EDGE_CONFIG: RelayDeps['config'] = {
  environment: 'test',
  metricsToken: null,
  publicRpcUrl: RPC_URL,
  allowPrivateEndpoints: true,
  egressIps: ['203.0.113.7'],
  trustProxy: 0,
  publicRate: { perSecond: 0, burst: 0 },
};

/** Starts the server on a free port. `settings` replaces parts of what it depends on. */
export async function startWorld(settings: Partial<RelayDeps> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'relay-api-'));
  const index = openIndex(join(folder, 'index.db'));
  const ledger = openDatabase<LedgerTables>(join(folder, 'ledger.db'), { synchronous: 'normal' });
  migrate(ledger.sqlite, MIGRATIONS.ledger);
  const views = openDatabase<LedgerDatabase>(join(folder, 'ledger.db'), {
    readonly: true,
    attach: { chain: join(folder, 'index.db') },
  });
  const callKeys = loadCallKeys(join(folder, 'call-keys.json'));
  const creators = createCreatorPool({ allowPrivate: true, sign: callKeys.sign });
  const log = pino({ level: 'silent' });
  const keyUse = createKeyUse(ledger.db, log);
  const state = {
    nowMs: EPOCH * 1000,
    chainAnswers: true,
    obstacles: [] as Obstacle[],
    executed: [] as { principal: Principal; agentId: string; input: PaidCall }[],
    execute: async (): Promise<ExecuteOutcome> => ({ kind: 'pending', executionId: newExecutionId() }),
    grants: new Map<string, KeyGrant>(),
    /** Of the chain, by execution_id. */
    records: new Map<string, ExecutionRecord>(),
    revoked: [] as string[],
  };
  const requireChain = (): void => {
    if (!state.chainAnswers) throw new Error('the node does not answer');
  };

  let url = '';
  const deps: RelayDeps = {
    config: EDGE_CONFIG,
    baseUrl: () => url,
    explorerQuery: EXPLORER_QUERY,
    ledger: ledger.db,
    views: views.db,
    documents: createDocuments(views.db),
    findKey: createKeyReader(views.sqlite),
    keyUse,
    sessions: createSessions({ baseUrl: () => url, now: () => state.nowMs }),
    accounts: {
      async readGrant(wallet, keyId) {
        requireChain();
        return { grant: state.grants.get(`${wallet}:${keyId}`) ?? null, now: BigInt(Math.floor(state.nowMs / 1000)) };
      },
      async readExecution(id) {
        requireChain();
        return { record: state.records.get(formatUuid(id)) ?? null, now: BigInt(Math.floor(state.nowMs / 1000)) };
      },
      async readConfig() {
        requireChain();
        return CONFIG;
      },
      async revokeGrant(wallet, keyId) {
        requireChain();
        state.revoked.push(`${wallet}:${keyId}`);
        return 'revokeSignature';
      },
      isReachable: async () => state.chainAnswers,
    },
    engine: {
      execute(principal, agent, input) {
        state.executed.push({ principal, agentId: agent.listing, input });
        return state.execute();
      },
      start: async () => expect.fail('no record is ever opened here'),
      outcomeOf: async () => state.execute(),
      inFlight: () => 3,
    },
    keyDirectory: callKeys.directory,
    agentHealth: createAgentHealth(views.sqlite, 10, 30),
    gate: { obstacles: () => state.obstacles },
    metrics: { render: async () => 'marketplace_test 1\n' },
    callCreator: (call) => callCreator(creators, call),
    now: () => state.nowMs,
    log,
    ...settings,
  };
  const server: Server = createHttpServer(deps);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;

  async function call(path: string, init: RequestInit & { key?: string } = {}): Promise<ApiAnswer> {
    const headers = new Headers(init.headers);
    if (init.key !== undefined) headers.set('authorization', `Bearer ${init.key}`);
    const response = await fetch(url + path, { ...init, headers });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, json: isJson && text ? JSON.parse(text) : null };
  }

  /** A row of chain.listings with its document, both as they would be after POST /v1/metadata and AgentListed. */
  async function addListing(
    changes: Partial<ListingRow> = {},
    metadata: Partial<AgentMetadata> | null = {},
  ): Promise<string> {
    const bytes = encodeMetadata(metadataOf(metadata ?? {}));
    const row: ListingRow = {
      listing: newAddress(),
      creator: newAddress(),
      listing_id: randomBytes(16).toString('hex'),
      signing_key: newAddress(),
      payout: newAddress(),
      price: 250_000n,
      timeout_seconds: 60n,
      min_timeout_seconds: 1n,
      tag_mask: 1n << 4n,
      status: 'active',
      listing_version: 1n,
      metadata_hash: hashMetadata(bytes),
      metadata_uri: '',
      deposited: 5_000_000n,
      slashed: 0n,
      listed_at: BigInt(EPOCH),
      returnable_at: null,
      collateral_returned: 0n,
      slot: 10n,
      ...changes,
    };
    await index.db.insertInto('listings').values(row).execute();
    if (metadata !== null) await addDocument(bytes);
    return row.listing;
  }

  async function addDocument(bytes: Buffer, receivedMs = state.nowMs): Promise<void> {
    await ledger.db
      .insertInto('metadata')
      .values({
        metadata_hash: hashMetadata(bytes),
        document: bytes.toString('utf8'),
        received_ms: BigInt(receivedMs),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** A key that works: its row, and its grant in the index. */
  async function addKey(
    changes: { wallet?: string; revoked?: 0n | 1n; expiresAt?: number; indexed?: boolean } = {},
  ): Promise<TestKey> {
    const apiKey = createApiKey('test');
    const keyHash = hashApiKey(apiKey);
    const key = { wallet: changes.wallet ?? newAddress(), apiKey, keyHash, keyId: keyIdOfHash(keyHash) };
    await ledger.db
      .insertInto('api_keys')
      .values({
        key_hash: keyHash,
        key_id: key.keyId,
        wallet: key.wallet,
        name: 'laptop',
        created_ms: BigInt(EPOCH * 1000),
        last_used_ms: null,
        revoked_ms: null,
      })
      .execute();
    if (changes.indexed === false) return key;
    await index.db
      .insertInto('grants')
      .values({
        grant_address: newAddress(),
        wallet: key.wallet,
        key_id: key.keyId,
        per_execution_max: '10000000',
        period_max: '10000000',
        total_max: '18446744073709551615',
        period_seconds: 86_400n,
        expires_at: BigInt(changes.expiresAt ?? EPOCH + 1000),
        created_at: BigInt(EPOCH),
        revoked: changes.revoked ?? 0n,
        closed: 0n,
        execution_count: 4n,
        total_spent: '1250000',
        slot: 10n,
      })
      .execute();
    return key;
  }

  /** A record as the indexer writes it: settled unless said otherwise. */
  async function addRecord(changes: Partial<ExecutionRow> & { caller: string; listing: string }): Promise<string> {
    const row: ExecutionRow = {
      execution_id: newExecutionId(),
      record: newAddress(),
      signing_key: newAddress(),
      key_id: null,
      rent_sponsor: newAddress(),
      price: 250_000n,
      fee_bps: 100n,
      listing_version: 1n,
      request_hash: newHash(),
      result_hash: newHash(),
      status: 'completed',
      reason: null,
      creator_amount: 247_500n,
      platform_amount: 2_500n,
      execution_time_ms: 40n,
      opened_at: BigInt(EPOCH),
      deadline: BigInt(EPOCH + 60),
      refund_at: BigInt(EPOCH + 660),
      settled_at: BigInt(EPOCH + 2),
      dispute_window_seconds: 259_200n,
      dispute_count: 0n,
      open_signature: null,
      opened_slot: null,
      open_index: null,
      listing_timeout_seconds: null,
      end_signature: null,
      closed: 0n,
      slot: 20n,
      ...changes,
    };
    await index.db.insertInto('executions').values(row).execute();
    return row.execution_id;
  }

  /** A row of the journal, as far as its state has come. */
  async function addJournal(
    changes: Partial<Insertable<ExecutionsTable>> & {
      wallet: string;
      listing: string;
      state: ExecutionsTable['state'];
    },
  ): Promise<string> {
    const row: Insertable<LedgerDatabase['executions']> = {
      execution_id: newExecutionId(),
      key_id: randomBytes(16).toString('hex'),
      listing_version: 1n,
      metadata_hash: newHash(),
      nonce: randomBytes(16).toString('hex'),
      price: 250_000n,
      max_cost: 250_000n,
      timeout_seconds: 60n,
      task: 'a task',
      parameters: '{}',
      request_hash: newHash(),
      created_ms: BigInt(EPOCH * 1000 - 300),
      accepted_at: BigInt(EPOCH - 1),
      open_transaction: null,
      open_signature: null,
      open_last_valid_height: null,
      open_before: null,
      opened_at: BigInt(EPOCH),
      deadline: BigInt(EPOCH + 60),
      refund_at: BigInt(EPOCH + 660),
      fee_bps: 100n,
      dispatched_ms: null,
      execution_time_ms: null,
      settle_transaction: null,
      settle_signature: null,
      settle_last_valid_height: null,
      refund_transaction: null,
      refund_signature: null,
      refund_last_valid_height: null,
      refund_reason: null,
      refund_state: null,
      settled_at: null,
      creator_amount: null,
      platform_amount: null,
      error_code: null,
      error_message: null,
      rebuilds: 0n,
      ...changes,
    };
    await ledger.db.insertInto('executions').values(row).execute();
    return row.execution_id;
  }

  async function addResult(executionId: string, result: string, changes: Partial<ResultsTable> = {}): Promise<string> {
    const token = randomBytes(24).toString('base64url');
    await ledger.db
      .insertInto('results')
      .values({
        execution_id: executionId,
        result,
        result_hash: hashResult(result),
        signature: 'ed25519:1',
        execution_signature: null,
        tokens_used: 42n,
        steps: '[{"step":"read"}]',
        execution_time_ms: 40n,
        token,
        verified_ms: BigInt(EPOCH * 1000),
        ...changes,
      })
      .execute();
    return token;
  }

  return {
    url,
    port,
    deps,
    state,
    index: index.db,
    ledger: ledger.db,
    call,
    get: (path: string, key?: string) => call(path, key === undefined ? {} : { key }),
    /** POST with JSON, or with raw bytes and headers of the test's choice. */
    post(path: string, body: unknown, init: { key?: string; headers?: Record<string, string> } = {}) {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      return call(path, {
        method: 'POST',
        body: raw ? (body as BodyInit) : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...init.headers },
        ...(init.key === undefined ? {} : { key: init.key }),
      });
    },
    addListing,
    addDocument,
    addKey,
    addRecord,
    addJournal,
    addResult,
    /** ledger.db for writing, as a journal is made on it. */
    ledgerDatabase: ledger.sqlite,
    /** ledger.db for reading, as statements are prepared on it. */
    viewsDatabase: views.sqlite,
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await keyUse.close();
      await creators.destroy();
      for (const database of [views, ledger, index]) database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

type BodyInit = NonNullable<RequestInit['body']>;

const authority = Keypair.generate().publicKey;
const mint = Keypair.generate().publicKey;

/** What the program's Config says in these tests. */
export const CONFIG: Config = {
  version: 1,
  bump: 255,
  treasuryBump: 255,
  opensPaused: false,
  feeBps: 100,
  tierCount: 2,
  admin: authority,
  pendingAdmin: authority,
  relayAuthority: authority,
  usdcMint: mint,
  minPrice: 10_000n,
  disputeBondLamports: 10_000_000n,
  disputeWindowSeconds: 259_200,
  refundGraceSeconds: 600,
  maxTimeoutSeconds: 3_600,
  longestSpanSeconds: 263_400,
  exposureMultiple: 0,
  tiers: [
    { maxPrice: 1_000_000n, deposit: 5_000_000n },
    { maxPrice: 10_000_000n, deposit: 25_000_000n },
    { maxPrice: 0n, deposit: 0n },
    { maxPrice: 0n, deposit: 0n },
  ],
};

/** A live grant account as the chain holds it. */
export function grantAccount(key: TestKey, changes: Partial<KeyGrant> = {}): KeyGrant {
  return {
    version: 1,
    revoked: false,
    bump: 255,
    spenderBump: 254,
    sourceBump: 253,
    wallet: authority,
    keyId: Buffer.from(key.keyId, 'hex'),
    rentSponsor: authority,
    perExecutionMax: 10_000_000n,
    periodMax: 10_000_000n,
    totalMax: 100_000_000n,
    periodSeconds: 86_400,
    expiresAt: BigInt(EPOCH + 1000),
    createdAt: BigInt(EPOCH),
    periodStart: BigInt(EPOCH),
    periodSpent: 0n,
    totalSpent: 0n,
    executionCount: 0n,
    lastOpenedAt: 0n,
    ...changes,
  };
}
