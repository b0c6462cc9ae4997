import { expect } from 'chai';
import pino from 'pino';
import { openDatabase } from '../../../app/database/open.ts';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { createKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { openMarketplace } from '../../../app/sdk/wallet/marketplace.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { createIndexer, type Indexer } from '../../../indexer/indexer.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';
import {
  type Answer,
  afterPaying,
  FEE,
  figuresOf,
  goodAnswer,
  PRICE,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';

/** Seconds, longer than the silence of the other deployment that a relay waits for. */
const SILENCE = 121;

describe('two deployments with one relay authority', () => {
  const folder = useFolder('second-deployment');
  let indexer: Indexer;
  let second: RunningRelay;
  let keyOfSecond: string;
  let held: (() => void)[] = [];

  // Their logs about each other are long.
  const market = useMarketplace({ environment: { LOG_LEVEL: process.env.TEST_LOG ?? 'silent' } });
  before(async () => {
    const { rpcUrl, wsUrl } = market.node;
    indexer = createIndexer({ rpcUrl, wsUrl, path: indexPath(folder), log: pino({ level: 'silent' }) });
    await indexer.start();
  });
  after(async () => {
    await second?.stop();
    await indexer.stop();
  });
  beforeEach(() => {
    held = [];
    market.setBehaviour(null);
  });

  /** The second deployment. Its ledger is always on SQLite. */
  const startSecond = () =>
    startRelayHere(market, { DATA_DIR: folder, DATABASE_URL: undefined, SPONSOR: 'all', LOG_LEVEL: 'silent' });
  const atFirst = () => market.execute(market.relay.url, { task: 'x' });
  const atSecond = () => market.execute(second.url, { task: 'x' }, { apiKey: keyOfSecond });
  const problemsOf = async (url: string): Promise<string[]> => (await request(url, '/ready')).body.problems;
  const isReady = async (url: string) => (await problemsOf(url)).length === 0;
  const isShared = async (url: string) => (await problemsOf(url)).includes('authority_shared');
  const passSilence = async () => market.node.timeTravel((await market.node.now()) + SILENCE);
  const holdCreator = () =>
    market.setBehaviour((body, _response, reply) => {
      held.push(() => reply(goodAnswer(market.signingKey, body.execution_id, 'done')));
    });

  /** The execution ids in the second deployment's ledger. */
  function rowsOfSecond(): unknown[] {
    const { sqlite, close } = openDatabase(ledgerPath(folder), { readonly: true });
    const ids = sqlite.prepare('SELECT execution_id FROM executions').pluck().all();
    close();
    return ids;
  }

  function requireRefused({ status, body, text }: Answer): void {
    expect([status, body.error.code], text).to.deep.equal([503, 'service_unavailable']);
    expect(body.error.message).to.match(/^The ledger of the service lacks transactions of its relay authority/);
  }

  /** Gives the second deployment a key and the listing's description, so that it can serve a caller. */
  async function equipSecond(): Promise<void> {
    const marketplace = await openMarketplace({ baseUrl: second.url, rpcUrl: market.node.rpcUrl });
    const wallet = keypairSigner(market.callers[1]!.wallet);
    keyOfSecond = (await createKey(marketplace, { wallet, name: 'second', limits: market.limits })).api_key;
    const documents = 'SELECT document FROM documents';
    const [{ document }] = await market.query('ledger', documents);
    const posted = await fetch(`${second.url}/v1/metadata`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: document,
    });
    expect(posted.status).to.equal(200);
  }

  it('makes the second wait while the first works, adopt nothing of it, and start after its silence', async () => {
    const before = await market.balances();
    expect((await atFirst()).status).to.equal(200);
    holdCreator();
    const call = atFirst();
    await until('the creator is called', async () => held.length === 1);
    second = await startSecond();
    await until('it sees the first', async () => {
      const problems = await problemsOf(second.url);
      return ['authority_shared', 'ledger_unreconciled'].every((problem) => problems.includes(problem));
    });
    await equipSecond();
    requireRefused(await atSecond());
    await until('the first is ready', () => isReady(market.relay.url));
    held[0]!();
    expect((await call).status).to.equal(200);
    expect(rowsOfSecond()).to.deep.equal([]);
    await passSilence();
    await until('it begins', () => isReady(second.url));
    expect(rowsOfSecond()).to.deep.equal([]);
    expect(await market.balances()).to.deep.equal(afterPaying(before, 2n));
  });

  it('makes both refuse new calls after each has signed, and each ends its own executions', async () => {
    const before = await market.balances();
    holdCreator();
    const calls = [atFirst(), atSecond()];
    await until('the creator is called for both', async () => held.length === 2);
    for (const url of [market.relay.url, second.url]) {
      await until('the other is seen', () => isShared(url));
    }
    expect((await request(second.url, '/ready')).status).to.equal(503);
    expect(await figuresOf(second.url, 'marketplace_problem{problem="authority_shared"}')).to.deep.equal([1]);
    requireRefused(await atFirst());
    requireRefused(await atSecond());
    for (const answer of held) answer();
    const [first, other] = await Promise.all(calls);
    for (const { status, text } of [first!, other!]) expect(status, text).to.equal(200);
    expect(rowsOfSecond()).to.deep.equal([other!.body.execution_id]);
    expect((await market.executionsByTask()).get('x')).to.not.equal(other!.body.execution_id);
    expect(await market.balances()).to.deep.equal({
      callers: before.callers.map((usdc) => usdc - PRICE),
      creator: before.creator + 2n * (PRICE - FEE),
      treasury: before.treasury + 2n * FEE,
    });
    await passSilence();
    for (const url of [market.relay.url, second.url]) await until('it goes on', () => isReady(url));
  });
});
