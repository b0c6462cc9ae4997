/** An index filled from Helius' history equals, row for row, an index filled from a plain node. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { type HistoricTransaction, type History, heliusHistory } from '../../app/solana/helius.ts';
import { createIndexer } from '../../indexer/indexer.ts';
import { type RpcCall, startHeliusFront } from '../harness/node/heliusFront.ts';
import { request, startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';
import { freshPostgres, onPostgres } from '../harness/postgres.ts';
import { query } from './harness.ts';

const API_KEY = 'an-api-key';
const TABLES = ['configs', 'creators', 'listings', 'grants', 'executions', 'disputes', 'events', 'cursor'];
const log = pino({ level: 'silent' });

describe('the history of Helius', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let folder: string;
  let front: Awaited<ReturnType<typeof startHeliusFront>>;
  /** The node's own transactions, oldest first, in the format of `getTransactionsForAddress`. */
  const recorded: unknown[] = [];
  let plain: Record<string, unknown[]>;

  before(async () => {
    market = await startMarketplace();
    folder = mkdtempSync(join(tmpdir(), 'helius-'));
    const execute = (task: string) =>
      request(market.relay.url, `/v1/agents/${market.agentId}/execute`, {
        apiKey: market.callers[0]!.apiKey,
        body: { task },
      });
    for (const task of ['one', 'two', 'three']) expect((await execute(task)).status).to.equal(200);
    market.setBehaviour((_body, response) => void response.writeHead(500).end());
    expect((await execute('four')).status).to.equal(500);
    await market.relay.kill();
    const { connection } = market.node;
    const signatures = await connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed');
    for (const { signature, slot } of signatures.reverse()) {
      const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 255 } as const;
      const { meta, transaction } = (await connection.getTransaction(signature, options))!;
      const { err, logMessages } = meta!;
      const entry = { slot, transactionIndex: 0, blockTime: null, meta: { err, fee: meta!.fee, logMessages } };
      recorded.push({ ...entry, transaction: { signatures: transaction.signatures, message: {} } });
    }
    // More than the indexer applies together.
    expect(recorded.length).to.be.greaterThan(10);
    front = await startHeliusFront({ getTransactionsForAddress: answer }, market.node);
    plain = await fill('plain.db');
  });
  after(async () => {
    front.stop();
    await market.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns three transactions a page, and a token for the next page. */
  function answer({ params }: RpcCall): unknown {
    const { paginationToken } = params[1] as { paginationToken?: string };
    const from = Number(paginationToken ?? 0);
    const next = from + 1;
    return { data: recorded.slice(from, next), paginationToken: next < recorded.length ? String(next) : null };
  }

  const databases = new Map<string, string>();
  async function databaseOf(name: string): Promise<string> {
    const known = databases.get(name) ?? (await freshPostgres());
    databases.set(name, known);
    return known;
  }

  /** Fills a new index and returns all its rows by table. */
  async function fill(name: string, history?: History): Promise<Record<string, unknown[]>> {
    const path = onPostgres ? await databaseOf(name) : join(folder, name);
    const { rpcUrl, wsUrl } = market.node;
    const indexer = createIndexer({
      rpcUrl: history ? front.baseUrl : rpcUrl,
      wsUrl,
      path,
      log,
      ...(history && { history }),
    });
    await indexer.start();
    await indexer.caughtUpTo(await market.node.connection.getSlot('confirmed'), 240_000);
    await indexer.stop();
    const rows: (readonly [string, unknown[]])[] = [];
    for (const table of TABLES) rows.push([table, await query(path, `SELECT * FROM ${table} ORDER BY 1, 2`)]);
    return Object.fromEntries(rows);
  }

  const fetched = () => front.calls.filter(({ method }) => method === 'getTransaction').length;

  it('is read page by page in the order of the chain, and nothing is fetched twice', async () => {
    front.calls.length = 0;
    const filled = await fill('helius.db', heliusHistory({ apiKey: API_KEY, baseUrl: front.baseUrl }));
    expect(filled).to.deep.equal(plain);
    expect(filled.executions).to.have.length(4);
    const asked = front.calls.filter(({ method }) => method === 'getTransactionsForAddress');
    expect(asked).to.have.length(recorded.length);
    expect(asked[0]!.url).to.equal(`/?api-key=${API_KEY}`);
    expect(asked[0]!.params).to.deep.equal([
      PROGRAM_ID.toBase58(),
      {
        transactionDetails: 'full',
        sortOrder: 'asc',
        limit: 100,
        commitment: 'finalized',
        encoding: 'json',
        maxSupportedTransactionVersion: 255,
        filters: { status: 'any' },
      },
    ]);
    expect((asked[1]!.params[1] as { paginationToken: string }).paginationToken).to.equal('1');
    expect(fetched()).to.equal(0);
  });

  it('is not requested again once the index has a cursor', async () => {
    front.calls.length = 0;
    const filled = await fill('helius.db', heliusHistory({ apiKey: API_KEY, baseUrl: front.baseUrl }));
    expect(filled).to.deep.equal(plain);
    expect(front.calls.filter(({ method }) => method === 'getTransactionsForAddress')).to.deep.equal([]);
  });

  it('resumes where it was interrupted', async () => {
    const whole = heliusHistory({ apiKey: API_KEY, baseUrl: front.baseUrl });
    const starts: (string | null)[] = [];
    const broken: History = async function* read(address, from) {
      starts.push(from);
      let pages = 0;
      for await (const page of whole(address, from)) {
        yield page;
        pages += 1;
        if (pages === 4 && page.next !== null) {
          throw new Error('RPC error (getTransactionsForAddress): too many requests');
        }
      }
    };
    front.calls.length = 0;
    expect(await fill('broken.db', broken)).to.deep.equal(plain);
    const tokens = recorded.map((_, page) => (page === 0 ? null : String(page)));
    expect(starts).to.deep.equal(tokens.filter((_, page) => page % 4 === 0));
    expect(fetched()).to.equal(0);
  });

  it('is read from the node when it has no logs', async () => {
    front.calls.length = 0;
    const whole = heliusHistory({ apiKey: API_KEY, baseUrl: front.baseUrl });
    const silent: History = async function* read(address, from) {
      for await (const { transactions, next } of whole(address, from)) {
        yield { transactions: transactions.map((one): HistoricTransaction => ({ ...one, logs: null })), next };
      }
    };
    expect(await fill('silent.db', silent)).to.deep.equal(plain);
    expect(fetched()).to.be.greaterThan(0);
  });
});
