/**
 * The recorded answers of Agave's own validator, which the embedded node is compared with, equal its current ones;
 * RENEW_ANSWERS=1 records them again. Then the indexer on it. After a restart it keeps about 160 slots. Rows that have
 * left its history must stay. An index that has missed slots must report them and show the accounts' state.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { sendAndConfirm } from '../../app/local/network.ts';
import { CLOCK_ADDRESS, decodeClock } from '../../app/sdk/program/clock.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import type { Indexer, IndexerOptions } from '../../indexer/indexer.ts';
import { openPlace } from '../../indexer/queries/open.ts';
import { hashIndex } from '../../indexer/verify/hash.ts';
import { verify } from '../../indexer/verify/verify.ts';
import { type Answers, askAll } from '../harness/answers/ask.ts';
import { readAnswers, writeAnswers } from '../harness/answers/record.ts';
import { playScene } from '../harness/answers/scene.ts';
import { until } from '../harness/edge/until.ts';
import { useFolder } from '../harness/folder.ts';
import type { TestNode } from '../harness/node/node.ts';
import { findValidator, NO_VALIDATOR, startValidator, type Validator } from '../harness/node/validator.ts';
import { IndexerBench, query } from '../indexer/harness.ts';
import { type Market, startMarket } from '../indexer/market.ts';

const PROGRAM = join(import.meta.dirname, '../../programs/marketplace/artifact/marketplace.so');
/** About 160 slots. */
const KEPT_SHREDS = 10_000;
/** From this slot on, the validator deletes what exceeds its limit when it is restarted. */
const LONG_ENOUGH = 520;
/** Number of slots, and of transactions, that leave the history while the indexer follows it. */
const FORGOTTEN = 20;
/** Slots between two executions. Each has two transactions and events. */
const PAUSE_SLOTS = 4;
/** Longer than any test. */
const NEVER = 3_600_000;
/** Timeout without progress, long enough for a busy machine. */
const PATIENCE_MS = 300_000;

describe('a validator with a short ledger', function () {
  this.timeout(3_600_000);
  let validator: Validator;
  let market: Market;
  let bench: IndexerBench;
  const payer = Keypair.generate();
  const folder = useFolder('pruned');
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

  before(async function () {
    if (findValidator() === null) {
      console.log(NO_VALIDATOR);
      this.skip();
    }
    const authority = join(folder, 'authority.json');
    writeFileSync(authority, JSON.stringify([...payer.secretKey]));
    validator = await startValidator({
      programs: [{ programId: PROGRAM_ID, soPath: PROGRAM, authority }],
      keptShreds: KEPT_SHREDS,
    });
  });
  after(async () => {
    await bench?.close();
    await validator?.remove();
  });

  /** Opens and settles an execution every few slots until the condition holds. */
  async function runUntil(isEnough: () => Promise<boolean>): Promise<void> {
    while (!(await isEnough())) {
      await market.settle(await market.open());
      const slot = (await validator.connection.getSlot('confirmed')) + PAUSE_SLOTS;
      await until('slots have passed', async () => (await validator.connection.getSlot('confirmed')) >= slot);
    }
  }

  const firstAvailable = () => validator.connection.getFirstAvailableBlock();
  const start = (name: string, options: Partial<IndexerOptions>) => bench.start(name, { log, ...options });
  /** Starts an indexer that searches for dropped or missing transactions as often as possible. */
  const startWatchful = (name: string) => start(name, { pollMs: 100, rescanMs: 200 });
  const catchUp = async (indexer: Indexer) =>
    indexer.caughtUpTo(await validator.connection.getSlot('confirmed'), PATIENCE_MS);
  const hash = async (name: string) => {
    const { db, close } = await openPlace(bench.path(name));
    const made = await hashIndex(db);
    await close();
    return made;
  };
  const numberOf = async (name: string, text: string) => Number((await query(bench.path(name), text))[0]!.n);
  const pruned = (name: string) => query(bench.path(name), 'SELECT * FROM pruned_slots');
  const takenBack = () => lines.filter((line) => /rolled back|reapplied|rebuilding/.test(line));

  /** Waits until the latest transactions are final. */
  async function untilFinal(): Promise<void> {
    const slot = await validator.connection.getSlot('confirmed');
    while ((await validator.connection.getSlot('finalized')) < slot) await delay(100);
  }

  async function expectVerified(name: string): Promise<void> {
    const { db, close } = await openPlace(bench.path(name));
    const { differences } = await verify({ db, connection: validator.connection, programId: PROGRAM_ID });
    await close();
    expect(differences).to.deep.equal([]);
  }

  it('answers as recorded', async () => {
    const { rpcUrl, wsUrl } = validator;
    const answers: Answers = await askAll(await playScene({ rpcUrl, wsUrl, programId: PROGRAM_ID }));
    if (process.env.RENEW_ANSWERS) writeAnswers(answers);
    const recorded = readAnswers();
    expect(Object.keys(answers)).to.have.members(Object.keys(recorded));
    for (const [name, answer] of Object.entries(answers)) {
      expect(JSON.parse(JSON.stringify(answer)), name).to.deep.equal(recorded[name]);
    }
  });

  it('has an index that keeps every applied row, over restarts of indexer and validator', async () => {
    const node = nodeOf(validator, payer);
    await node.fundSol(payer.publicKey, 1_000e9);
    market = await startMarket(node);
    bench = new IndexerBench({ node });
    await market.list();
    // This indexer only receives notifications, and compares nothing.
    const heard = await start('heard.db', { rescanMs: NEVER });
    let watchful = await startWatchful('watchful.db');
    const begun = await validator.connection.getSlot('confirmed');
    await catchUp(watchful);
    const away = await startWatchful('away.db');
    await catchUp(away);
    await bench.stop(away);
    await runUntil(async () => (await validator.connection.getSlot('finalized')) > LONG_ENOUGH);
    await untilFinal();
    await validator.kill();
    await validator.restart();
    await runUntil(async () => {
      const first = await firstAvailable();
      if (first < begun + FORGOTTEN) return false;
      return (await numberOf('watchful.db', `SELECT count(*) AS n FROM events WHERE slot < ${first}`)) >= FORGOTTEN;
    });
    const expectSame = async () => {
      await catchUp(heard);
      await catchUp(watchful);
      expect(await hash('watchful.db')).to.equal(await hash('heard.db'));
      expect(await watchful.status()).to.deep.include({ state: 'running', error: null });
      expect([takenBack(), await pruned('watchful.db')]).to.deep.equal([[], []]);
    };
    await expectSame();
    const ended = "SELECT count(*) AS n FROM executions WHERE status = 'completed'";
    const all = 'SELECT count(*) AS n FROM executions';
    expect(await numberOf('watchful.db', ended)).to.equal(await numberOf('watchful.db', all));

    await bench.stop(watchful);
    watchful = await startWatchful('watchful.db');
    await market.settle(await market.open());
    await expectSame();

    await expectVerified('watchful.db');
    await bench.stop(heard);
    await bench.stop(watchful);
  });

  it('has an index that continues from the accounts after a stop longer than the history, and from an empty index', async () => {
    const [{ slot: reached }] = (await query(bench.path('away.db'), 'SELECT slot FROM progress')) as [{ slot: bigint }];
    const names = ['away.db', 'empty.db'];
    const indexers = [await startWatchful('away.db'), await startWatchful('empty.db')];
    for (const indexer of indexers) await catchUp(indexer);
    await market.settle(await market.open());
    for (const indexer of indexers) {
      await catchUp(indexer);
      expect(await indexer.status()).to.deep.include({ state: 'running', error: null });
      await bench.stop(indexer);
    }
    const lacked = await Promise.all(
      names.map(async (name) => (await pruned(name)).map(({ first_slot }) => first_slot)),
    );
    expect(lacked).to.deep.equal([[reached + 1n], [0n]]);
    expect(lines.some((line) => line.includes('the node no longer has the transactions of slots 0 to'))).to.equal(true);
    expect(takenBack()).to.deep.equal([]);
    const rows = 'SELECT execution_id, status, result_hash, settled_at FROM executions ORDER BY execution_id';
    expect(await query(bench.path('away.db'), rows)).to.deep.equal(await query(bench.path('empty.db'), rows));
    for (const name of names) await expectVerified(name);
  });
});

/** The validator with the interface of the tests' local node. */
function nodeOf(validator: Validator, payer: Keypair): TestNode {
  const { rpcUrl, wsUrl, connection } = validator;
  const cannot = async () => {
    throw new Error('a validator cannot do this');
  };
  return {
    rpcUrl,
    wsUrl,
    connection,
    payer,
    async fundSol(address, lamports) {
      const fromPubkey = validator.payer.publicKey;
      const transfer = SystemProgram.transfer({ fromPubkey, toPubkey: address, lamports });
      await sendAndConfirm(connection, [transfer], [validator.payer]);
    },
    setFrozen: cannot,
    timeTravel: cannot,
    outlive: cannot,
    async now() {
      const clock = await connection.getAccountInfo(CLOCK_ADDRESS, 'confirmed');
      return Number(decodeClock(clock!.data));
    },
    rpc: (method, params) => validator.rpc(method, params),
    stop: () => validator.remove(),
  };
}
