/**
 * Two relays, each with an authority of its own, on one PostgreSQL with calls under way at both: one is killed, then the
 * database is killed and started again. Nothing is lost, done twice, or reported otherwise than the chain has it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { findExecution } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { changeRelayAuthorities } from '../../../app/sdk/wallet/settings.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { createIndexer, type Indexer } from '../../../indexer/indexer.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  FEE,
  failedAnswer,
  goodAnswer,
  PRICE,
  type RelayHandle,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { onPostgres, sharedPostgres } from '../../harness/postgres.ts';

const CALLS = 40;
/** Of four, one fails. */
const REFUNDED = CALLS / 4;
/** How long the database is away. */
const AWAY_MS = 1_000;

/** An indexer that is started again whenever it has ended, as systemd does it. */
function keepIndexer(market: TestMarketplace): { stop(): Promise<void> } {
  let isOver = false;
  let indexer: Indexer;
  let starting: Promise<void>;
  const start = () => {
    if (isOver) return;
    const { rpcUrl, wsUrl } = market.node;
    indexer = createIndexer({
      rpcUrl,
      wsUrl,
      path: market.indexPlace,
      log: pino({ level: 'silent' }),
      onFailure: () => void indexer.stop().then(again),
    });
    starting = indexer.start().catch(again);
  };
  const again = () => void setTimeout(start, 100);
  start();
  return {
    async stop() {
      isOver = true;
      await starting;
      await indexer.stop();
    },
  };
}

// A ledger of SQLite is one machine's, and so are the relays on it: recovery.test.ts has two of them.
if (onPostgres) {
  describe('two relays on one PostgreSQL', function () {
    this.timeout(300_000);
    let market: TestMarketplace;
    let indexer: { stop(): Promise<void> };
    let first: RelayHandle;
    let second: RelayHandle;
    const held: (() => void)[] = [];
    let holds = true;

    before(async () => {
      market = await startMarketplace({ slotTimeMs: 150 });
      await market.relay.kill();
      const successor = Keypair.generate();
      await market.node.fundSol(successor.publicKey, 10e9);
      const authorities = [market.authority.publicKey, successor.publicKey];
      await changeRelayAuthorities(market.marketplace, keypairSigner(market.node.payer), authorities);
      const path = join(market.dataDir, 'successor.json');
      writeFileSync(path, JSON.stringify([...successor.secretKey]), { mode: 0o600 });
      market.setBehaviour((body, _response, reply) => {
        const isFailure = body.task.includes('failure');
        const answer = () =>
          reply(
            isFailure
              ? failedAnswer(body.execution_id)
              : goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`),
          );
        if (holds) held.push(answer);
        else answer();
      });
      indexer = keepIndexer(market);
      // They say a lot about a database that is away.
      const settings = { WITHOUT_INDEXER: '1', LOG_LEVEL: process.env.TEST_LOG ?? 'silent' };
      first = await market.startRelayProcess(settings);
      second = await market.startRelayProcess({ ...settings, RELAY_KEYPAIR: path });
    });
    after(async () => {
      await Promise.all([first.kill(), second.kill()]);
      await indexer.stop();
      await market.stop();
    });

    const apiKey = () => market.callers[0]!.apiKey;
    const tasks = Array.from({ length: CALLS }, (_, n) => `${n % 4 === 0 ? 'failure' : 'success'} ${n}`);

    it(`${CALLS} calls over both survive that one is killed and then the database`, async () => {
      const before = await market.balances();
      const calls = tasks.map((task, n) =>
        request((n % 2 === 0 ? first : second).url, `/v1/agents/${market.agentId}/execute`, {
          apiKey: apiKey(),
          body: { task, timeout_seconds: 60 },
        }).catch((error: Error) => error),
      );
      await until('every creator is called', async () => held.length === CALLS);
      const ids = await market.executionsByTask();
      await first.kill();
      holds = false;
      for (const answer of held.splice(0)) answer();
      await until('some have ended', async () => (await market.journal()).some(({ state }) => state === 'settled'));
      const database = await sharedPostgres();
      await database.kill();
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
      await database.start();

      const isOver = ({ state }: { state: string }) => ['settled', 'refunded', 'void'].includes(state);
      const progress = async () => JSON.stringify(await market.journal().then((rows) => rows.map((row) => row.state)));
      await until('every execution ends', async () => (await market.journal()).every(isOver), 60_000, progress);
      const answers = await Promise.all(calls);

      const after = await market.balances();
      const paid = BigInt(CALLS - REFUNDED);
      expect(after.callers).to.deep.equal([before.callers[0]! - PRICE * paid, before.callers[1]]);
      expect(after.creator).to.equal(before.creator + (PRICE - FEE) * paid);
      expect(after.treasury).to.equal(before.treasury + FEE * paid);

      first = await market.startRelayProcess({ WITHOUT_INDEXER: '1' });
      for (const [n, task] of tasks.entries()) {
        const id = ids.get(task)!;
        const isFailure = task.includes('failure');
        expect((await market.record(id))?.status, task).to.equal(isFailure ? 'refunded' : 'completed');
        expect(await market.escrowExists(id), task).to.equal(false);
        const named = await market.node.connection.getSignaturesForAddress(
          findExecution(parseUuid(id)!),
          undefined,
          'confirmed',
        );
        expect(named.filter(({ err }) => err === null).length, task).to.equal(2);
        for (const relay of [first, second]) {
          const { body } = await request(relay.url, `/v1/executions/${id}`, { apiKey: apiKey() });
          expect([body.status, body.cost_usdc, body.result], task).to.deep.equal(
            isFailure ? ['failed', 0, null] : ['completed', 0.25, `done: ${task}`],
          );
        }
        requireTrue(answers[n]!, id, isFailure);
      }
    });

    /** What a caller was told at the time: how it ended, or that this is not known yet; never the opposite. */
    function requireTrue(answer: Answer | Error, id: string, isFailure: boolean): void {
      if (answer instanceof Error) return;
      const { status, body, text } = answer;
      if (status === 200 && body.status === 'completed') {
        expect([body.execution_id, isFailure], text).to.deep.equal([id, false]);
      } else if (body.error?.code === 'execution_failed') {
        expect([body.error.execution_id, isFailure], text).to.deep.equal([id, true]);
      } else if (status === 202) {
        expect(body, text).to.deep.equal({ execution_id: id, status: 'running' });
      } else {
        expect([500, 503], text).to.include(status);
        expect(body.error.code, text).to.be.oneOf(['internal_error', 'service_unavailable']);
      }
    }
  });
}
