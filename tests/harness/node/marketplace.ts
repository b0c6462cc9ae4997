/**
 * A whole marketplace for relay tests: a real node, a creator's server with configurable behaviour, a listed agent and
 * two callers with keys, made with the CLI's code, and a relay in a process that can be killed.
 */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { AccountLayout } from '@solana/spl-token';
import { type ConfirmedSignatureInfo, Keypair, type PublicKey } from '@solana/web3.js';
import { openDatabase } from '../../../app/database/open.ts';
import { connectPostgres, SCHEMAS } from '../../../app/database/postgres.ts';
import { forkSource } from '../../../app/process/typescript.ts';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import {
  type DisputeOutcome,
  decodeAccount,
  type ExecutionRecord,
  findDispute,
  findEscrow,
  findExecution,
  findTokenAccount,
  findTreasury,
  type GrantLimits,
} from '../../../app/sdk/program/program.ts';
import { hashResult, parseUuid, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { createKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { parseListingDraft } from '../../../app/sdk/wallet/listingDraft.ts';
import { createListing } from '../../../app/sdk/wallet/listings.ts';
import { openMarketplace } from '../../../app/sdk/wallet/marketplace.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { serve } from '../edge/listen.ts';
import { until } from '../edge/until.ts';
import { freshPostgres, onPostgres } from '../postgres.ts';
import { layGround } from './ground.ts';
import { startNode, type TestNode } from './node.ts';

/** Handles a request to the test's creator. `reply` answers as a correct creator would. */
export type Behaviour = (
  request: { execution_id: string; task: string; timeout_seconds: number; parameters: Record<string, unknown> },
  response: ServerResponse,
  reply: (body: unknown) => void,
) => void;

export interface Balances {
  callers: bigint[];
  creator: bigint;
  treasury: bigint;
}

export interface RelayHandle extends ReturnType<typeof standsStill> {
  url: string;
  /** Lets a task continue; with `nextStop`, until that point, where it stands still permanently. */
  release(task: string, nextStop?: string): void;
  kill(): Promise<void>;
  /** Missing if it runs here. */
  process?: ChildProcess;
}

const GRANT: Omit<GrantLimits, 'expiresAt'> = {
  perExecutionMax: 10_000_000n,
  periodMax: 1_000_000_000n,
  totalMax: 1_000_000_000n,
  periodSeconds: 86_400,
  maxGasLamports: 20_000,
};

/** Default price of the agent and the marketplace's fee, base units. */
export const PRICE = 250_000n;
export const FEE = 2_500n;

export type TestMarketplace = Awaited<ReturnType<typeof startMarketplace>>;
export type TestCaller = TestMarketplace['callers'][number];

/** A valid answer to a request. */
export function goodAnswer(signingKey: Uint8Array, executionId: string, result: string): Record<string, unknown> {
  const resultHash = hashResult(result);
  return {
    execution_id: executionId,
    status: 'completed',
    result,
    result_hash: resultHash,
    signature: signResult(signingKey, resultHash),
    tokens_used: 7,
  };
}

/** The balances after the first caller has paid for these calls, and nothing else has moved. */
export function afterPaying({ callers: [first, ...others], creator, treasury }: Balances, calls = 1n): Balances {
  return {
    callers: [first! - PRICE * calls, ...others],
    creator: creator + (PRICE - FEE) * calls,
    treasury: treasury + FEE * calls,
  };
}

/** The answer of a creator that failed. */
export function failedAnswer(executionId: string, error = 'no luck'): Record<string, unknown> {
  return { execution_id: executionId, status: 'failed', error, result: null, result_hash: null, signature: null };
}

/** Seconds by the chain's clock after which a signed open cannot land. */
const OPEN_SECONDS = 61;

/** The longest that a start may take to compare its ledger with the chain. Some tests hinder it for ever. */
const COMPARED_MS = 30_000;

/** Waits until the relay has compared its ledger with the chain. A relay starts without that if its node is slow. */
export async function untilCompared(url: string): Promise<void> {
  const end = Date.now() + COMPARED_MS;
  while (Date.now() < end) {
    const problems: string[] = (await request(url, '/ready')).body?.problems ?? [];
    if (!problems.includes('ledger_unreconciled')) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const standsStill = (standing: Set<string>) => ({
  /** Tasks of executions that stand still, if started with STANDSTILL. */
  standing,
  /** Waits until this task stands still. Throws at once if its call is answered before. */
  async untilStanding(task: string, answering: Promise<Answer>): Promise<void> {
    let early: Answer | undefined;
    answering.then(
      (answer) => {
        early = answer;
      },
      // The caller sees a broken connection.
      () => undefined,
    );
    await until(`${task} stands still`, () => early !== undefined || standing.has(task));
    if (early) throw new Error(`${task} was answered before: ${early.status} ${early.text}`);
  },
});

/** Settings of every relay on a marketplace's node and ledger. */
export const relayEnvironment = ({
  node,
  dataDir,
  database,
}: Pick<TestMarketplace, 'node' | 'dataDir' | 'database'>): NodeJS.ProcessEnv => ({
  SOLANA_RPC_URL: node.rpcUrl,
  SOLANA_WS_URL: node.wsUrl,
  RELAY_KEYPAIR: join(dataDir, 'relay-authority.json'),
  ...database,
  PORT: '0',
  ALLOW_PRIVATE_ENDPOINTS: 'true',
});

/** Starts everything; `stop` ends it. `price` is in USDC. */
export async function startMarketplace(
  options: {
    slotTimeMs?: number;
    price?: string;
    timeoutSeconds?: number;
    signingKey?: Uint8Array;
    /** Settings of every relay; a function can start a proxy of the node for them. */
    environment?: NodeJS.ProcessEnv | ((node: TestNode) => Promise<NodeJS.ProcessEnv>);
    /** Accepts payments of x402 clients, with this fee payer. */
    feePayer?: Keypair;
    /** Starts the first relay in the test's process: see `startHere`. */
    here?: boolean;
  } = {},
) {
  const { slotTimeMs } = options;
  const node: TestNode = await startNode(slotTimeMs ? { slotTimeMs } : {});
  const settings = typeof options.environment === 'function' ? await options.environment(node) : options.environment;
  const dataDir = mkdtempSync(join(tmpdir(), 'marketplace-'));
  const databaseUrl = onPostgres ? await freshPostgres() : null;
  /** Settings that choose the database. */
  const database: NodeJS.ProcessEnv = { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
  const authority = Keypair.generate();
  const creator = Keypair.generate();
  const wallets = [Keypair.generate(), Keypair.generate()];
  const { connection } = node;
  const { usdcMint, mintTo } = await layGround(node, authority, [creator, ...wallets]);

  const signingKey = options.signingKey ?? generateSigningKey();
  const calls = new Map<string, number>();
  let behaviour: Behaviour | null = null;
  const server = await serve(async (request, response) => {
    const body = (await json(request)) as Parameters<Behaviour>[0];
    calls.set(body.execution_id, (calls.get(body.execution_id) ?? 0) + 1);
    const reply = (answer: unknown) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
    };
    if (behaviour) behaviour(body, response, reply);
    else reply(goodAnswer(signingKey, body.execution_id, `done: ${body.task}`));
  });
  const endpoint = `${server.url}/execute`;

  writeFileSync(join(dataDir, 'relay-authority.json'), JSON.stringify([...authority.secretKey]), { mode: 0o600 });

  const feePayerPath = join(dataDir, 'x402-fee-payer.json');
  if (options.feePayer) {
    writeFileSync(feePayerPath, JSON.stringify([...options.feePayer.secretKey]), { mode: 0o600 });
    await node.fundSol(options.feePayer.publicKey, 1e9);
  }

  const settingsOf = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
    ...process.env,
    ...relayEnvironment({ node, dataDir, database }),
    ...(options.feePayer && { X402_FEE_PAYER_KEYPAIR: feePayerPath }),
    // Most tests are not about gas and rent.
    SPONSOR: 'all',
    // Tests send hundreds of requests without a key from one address.
    PUBLIC_RATE_PER_SECOND: '0',
    MIN_FREE_BYTES: '0',
    LOG_LEVEL: process.env.TEST_LOG ?? 'error',
    // Its indexer needs no proxy.
    INDEXER_RPC_URL: node.rpcUrl,
    INDEXER_WS_URL: node.wsUrl,
    ...settings,
    ...environment,
  });

  /** Starts a relay on this marketplace's ledger. `environment` overrides its settings; `hear` gets its output. */
  async function startRelayProcess(environment: NodeJS.ProcessEnv = {}, hear?: (text: string) => void) {
    const child = forkSource(join(import.meta.dirname, 'relayProcess.ts'), [], {
      env: settingsOf(environment),
      stdio: ['ignore', hear ? 'pipe' : 'inherit', hear ? 'pipe' : 'inherit', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => hear?.(String(chunk)));
    const gone = once(child, 'exit').then(() => undefined);
    const standing = new Set<string>();
    child.on('message', (message: { standing?: string }) => {
      if (message.standing) standing.add(message.standing);
    });
    const started = once(child, 'message').then(([message]) => (message as { url: string }).url);
    const url = await Promise.race([
      started,
      gone.then(() => {
        throw new Error('the relay ended before it was ready');
      }),
    ]);
    await untilCompared(url);
    return {
      url,
      process: child,
      /** Resolves when the process is gone. */
      gone,
      ...standsStill(standing),
      release: (task: string, nextStop?: string): void => void child.send({ release: task, nextStop }),
      async kill(): Promise<void> {
        child.kill('SIGKILL');
        await gone;
      },
    };
  }

  /** Starts one in the test's process: sooner, but its `kill` is a stop. */
  async function startHere(environment: NodeJS.ProcessEnv = {}, hear?: (text: string) => void): Promise<RelayHandle> {
    const { runRelay } = await import('./runRelay.ts');
    const standing = new Set<string>();
    const running = await runRelay(settingsOf({ SHUTDOWN_SECONDS: '1', ...environment }), {
      stands: (task) => standing.add(task),
      sharesProcess: true,
      ...(hear && { destination: { write: hear } }),
    });
    await untilCompared(running.url);
    let stopped: Promise<void> | undefined;
    const kill = () => (stopped ??= running.stop());
    return { ...running, ...standsStill(standing), kill };
  }

  const relay: RelayHandle = options.here ? await startHere() : await startRelayProcess();
  const marketplace = await openMarketplace({ baseUrl: relay.url, rpcUrl: node.rpcUrl });
  /** What a creator writes about an agent. */
  const draftOf = (name: string, endpoint: string, price = options.price ?? '0.25') =>
    parseListingDraft(
      {
        name,
        tagline: 'Answers tests',
        description: 'An agent for tests.',
        display_name: 'Test Creator',
        tags: ['code'],
        input_schema: { type: 'object', properties: {} },
        output_schema: { type: 'object', properties: {} },
        endpoint,
        price_usdc: price,
        timeout_seconds: options.timeoutSeconds ?? 60,
        min_timeout_seconds: 1,
      },
      name,
    );
  /** Lists an agent, by default of the creator. Its endpoint must already answer correctly. Returns the agent_id. */
  async function list(agent: {
    name: string;
    endpoint: string;
    signingKey: Uint8Array;
    creator?: Keypair;
  }): Promise<string> {
    const listed = await createListing(marketplace, {
      wallet: keypairSigner(agent.creator ?? creator),
      signingKey: agent.signingKey,
      draft: draftOf(agent.name, agent.endpoint),
    });
    // The index is slightly behind the chain.
    const shown = async () => (await request(relay.url, `/v1/agents/${listed.agent_id}`)).status === 200;
    await until('the agent is shown', shown);
    return listed.agent_id;
  }
  const agentId = await list({ name: 'test-agent', endpoint, signingKey });
  // Tests move the clock by days.
  const limits = { ...GRANT, expiresAt: BigInt(await node.now()) + 30n * 86_400n };
  const callers: { wallet: Keypair; apiKey: string; usdc: PublicKey }[] = [];
  for (const wallet of wallets) {
    const key = await createKey(marketplace, { wallet: keypairSigner(wallet), name: 'test', limits });
    callers.push({ wallet, apiKey: key.api_key, usdc: findTokenAccount(wallet.publicKey, usdcMint) });
  }

  async function amountOf(address: PublicKey): Promise<bigint> {
    const account = await connection.getAccountInfo(address, 'confirmed');
    return account ? AccountLayout.decode(account.data).amount : 0n;
  }

  /** Calls the agent, or another one, through the relay at this address: as this caller, or with another key. */
  function execute(
    url: string,
    body: object,
    options: { caller?: number; agent?: string; apiKey?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const { caller = 0, agent = agentId, apiKey = callers[caller]!.apiKey, headers } = options;
    return request(url, `/v1/agents/${agent}/execute`, { apiKey, body, headers });
  }
  /** Reads an execution, as the first caller or with another key. */
  const read = (url: string, id: string, apiKey = callers[0]!.apiKey): Promise<Answer> =>
    request(url, `/v1/executions/${id}`, { apiKey });

  /** Runs statements on the ledger or the index from a separate connection. Returns the last statement's rows. */
  // biome-ignore lint/suspicious/noExplicitAny: the rows are what the statement says
  async function query(of: 'ledger' | 'index', ...statements: string[]): Promise<any[]> {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    let rows: any[] = [];
    if (databaseUrl) {
      const client = await connectPostgres(databaseUrl, SCHEMAS[of]);
      for (const statement of statements) rows = (await client.query(statement)).rows;
      await client.end();
      return rows;
    }
    const { sqlite, close } = openDatabase((of === 'ledger' ? ledgerPath : indexPath)(dataDir));
    for (const statement of statements) {
      const prepared = sqlite.prepare(statement);
      if (prepared.reader) rows = prepared.all();
      else prepared.run();
    }
    close();
    return rows;
  }

  return {
    node,
    dataDir,
    relay,
    startRelayProcess,
    startHere,
    marketplace,
    usdcMint,
    authority,
    creator,
    creatorUsdc: findTokenAccount(creator.publicKey, usdcMint),
    signingKey,
    endpoint,
    agentId,
    draftOf,
    list,
    callers,
    limits,
    mintTo,
    execute,
    read,
    /** Reads an execution of the first caller until it has ended. Returns the last body. */
    async endOf(url: string, id: string): Promise<Answer['body']> {
      let body: Answer['body'];
      await until(`${id} ends`, async () => {
        ({ body } = await read(url, id));
        return body?.status === 'completed' || (body?.status === 'failed' && body.cost_usdc === 0);
      });
      return body;
    },
    /** The confirmed transactions that name an execution's record, whether they succeeded or not. */
    transactionsOf: (id: string): Promise<ConfirmedSignatureInfo[]> =>
      connection.getSignaturesForAddress(findExecution(parseUuid(id)!), undefined, 'confirmed'),
    /** Waits until nothing that was signed before can land. */
    async outliveOpens(): Promise<void> {
      await node.outlive();
      await node.timeTravel((await node.now()) + OPEN_SECONDS);
    },
    /** Number of calls to the creator by execution. */
    calls,
    setBehaviour(next: Behaviour | null) {
      behaviour = next;
    },
    amountOf,
    setFrozen: node.setFrozen,
    /** Null for SQLite files in `dataDir`. */
    databaseUrl,
    database,
    /** The index that the indexer writes. */
    indexPlace: databaseUrl ?? indexPath(dataDir),
    query,
    /** Execution ids by task, as in the journal. */
    async executionsByTask(): Promise<Map<string, string>> {
      const rows: { task: string; execution_id: string }[] = await query(
        'ledger',
        'SELECT task, execution_id FROM executions',
      );
      return new Map(rows.map((row) => [row.task, row.execution_id]));
    },
    /** The state of an execution in the journal. */
    stateOf: async (id: string): Promise<string | undefined> =>
      (await query('ledger', `SELECT state FROM executions WHERE execution_id = '${id}'`))[0]?.state,
    /** Waits until the index shows that these executions have ended. */
    untilIndexed: (...ids: string[]): Promise<void> =>
      until('the index has the ends', async () => {
        const rows = await query('index', "SELECT execution_id FROM executions WHERE status <> 'open'");
        return ids.every((id) => rows.some((row) => row.execution_id === id));
      }),
    /** Rows of the journal, with the stored signed results. */
    async journal() {
      type Row = Record<'execution_id' | 'state', string> & Record<'result_hash' | 'signature', string | null>;
      const rows: (Row & { result: Buffer | null })[] = await query(
        'ledger',
        `SELECT e.execution_id, e.state, r.result, r.result_hash, r.signature
          FROM executions AS e LEFT JOIN results AS r ON r.execution_id = e.execution_id`,
      );
      return rows.map((row) => ({ ...row, result: row.result?.toString('utf8') ?? null }));
    },
    /** Deletes the journal, as a broken disk would, while the relay is down. Keys and metadata stay. */
    forgetExecutions: () => query('ledger', 'DELETE FROM executions', 'DELETE FROM results'),
    async balances(): Promise<Balances> {
      return {
        callers: await Promise.all(callers.map((caller) => amountOf(caller.usdc))),
        creator: await amountOf(findTokenAccount(creator.publicKey, usdcMint)),
        treasury: await amountOf(findTreasury()),
      };
    },
    /** The record on-chain; null if it does not exist. */
    async record(executionId: string): Promise<ExecutionRecord | null> {
      const account = await connection.getAccountInfo(findExecution(parseUuid(executionId)!), 'confirmed');
      return account ? decodeAccount('ExecutionRecord', account.data) : null;
    },
    /** The outcome of its dispute on-chain; null if there is none. */
    async outcomeOf(executionId: string): Promise<DisputeOutcome | null> {
      const address = findDispute(findExecution(parseUuid(executionId)!));
      const account = await connection.getAccountInfo(address, 'confirmed');
      return account && decodeAccount('Dispute', account.data).outcome;
    },
    /** Number of these executions, a hundred at most, whose record has the status. */
    async countRecords(executionIds: string[], status: ExecutionRecord['status']): Promise<number> {
      const addresses = executionIds.map((id) => findExecution(parseUuid(id)!));
      const accounts = await connection.getMultipleAccountsInfo(addresses, 'confirmed');
      return accounts.filter((account) => account && decodeAccount('ExecutionRecord', account.data).status === status)
        .length;
    },
    async escrowExists(executionId: string): Promise<boolean> {
      const escrow = findEscrow(findExecution(parseUuid(executionId)!));
      return (await connection.getAccountInfo(escrow, 'confirmed')) !== null;
    },
    async stop() {
      server.close();
      await relay.kill();
      await node.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A marketplace for the tests of a suite. It exists from the suite's first `before` on, and ends with the suite. */
export function useMarketplace(...given: Parameters<typeof startMarketplace>): TestMarketplace {
  const market = {} as TestMarketplace;
  before(async function () {
    Object.assign(market, await startMarketplace(...given));
    // After all other hooks of the suite.
    this.test!.parent!.afterAll(() => market.stop());
  });
  return market;
}

/** Another relay process for the tests of a suite, on the marketplace's ledger. */
export function useRelayProcess(market: TestMarketplace, environment: NodeJS.ProcessEnv): RelayHandle {
  const relay = {} as RelayHandle;
  before(async () => void Object.assign(relay, await market.startRelayProcess(environment)));
  after(() => relay.kill());
  return relay;
}

export interface Answer {
  status: number;
  /** Parsed JSON, of any shape. */
  // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
  body: any;
  /** The unparsed text. */
  text: string;
  headers: Headers;
}

/** Sends one request to the API. */
export async function request(
  url: string,
  path: string,
  options: { apiKey?: string; body?: unknown; method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), text, headers: response.headers };
}

/** The values of a metric of the relay at this address, in the order of its labels; `name` may have labels itself. */
export async function figuresOf(url: string, name: string): Promise<number[]> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  const own = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return own.map((line) => Number(line.split(' ').at(-1)));
}
