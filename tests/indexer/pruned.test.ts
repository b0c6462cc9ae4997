/**
 * A node that forgets its history while the index is kept, as Agave's validator does after a minute. Nothing that was
 * applied is rolled back. If the index missed something, it continues from the accounts and reports the missing slots.
 */
import { expect } from 'chai';
import { closeExecution, constants, PROGRAM_ID, setPause } from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { LAST_RESTART_ADDRESS } from '../../app/solana/lastRestart.ts';
import type { Indexer } from '../../indexer/indexer.ts';
import { until } from '../harness/edge/until.ts';
import { type PrunedView, prune } from '../harness/node/pruned.ts';
import { createAftermath } from './aftermath.ts';
import { query, queryDuringRebuild, useBench } from './harness.ts';
import type { OpenedExecution } from './market.ts';

/** More slots than any node forgets of its newest history. */
const AWAY_SLOTS = 40;
/** Timeout of one step, generous for a busy machine. */
const PATIENCE_MS = 120_000;

describe('indexer, with a node that drops old history', function () {
  this.timeout(600_000);
  const { market, bench, rpc, start: startWith } = useBench();
  before(() => market.list());

  for (const saysUnknown of [false, true]) {
    describe(saysUnknown ? 'and says so,' : 'and does not say so,', () => {
      let view: PrunedView;
      /** Each kind of node has its own indexes. */
      const own = (name: string) => (saysUnknown ? name : `silent-${name}`);

      before(() => {
        view = prune(rpc, market.node.connection, saysUnknown);
      });
      beforeEach(() => view.forgetBelow(0));
      const slotNow = () => market.node.connection.getSlot('confirmed');
      const start = (name: string) => startWith(name, { rescanMs: 50 });
      /** Returns the slot up to which the index is complete. */
      const catchUp = async (indexer: Indexer) => {
        const slot = await slotNow();
        await indexer.caughtUpTo(slot, PATIENCE_MS);
        return slot;
      };
      const hash = (name: string) => bench.hash(name);
      const pruned = (name: string) => queryDuringRebuild(bench.path(name), 'SELECT * FROM pruned_slots');
      const rowOf = async (name: string, { executionId }: Pick<OpenedExecution, 'executionId'>) =>
        (
          await query(bench.path(name), `SELECT * FROM executions WHERE execution_id = '${formatUuid(executionId)}'`)
        )[0];

      /** Makes the node forget everything so far. Returns the first slot that it still has. */
      async function forgetAll(): Promise<number> {
        const now = await slotNow();
        await until('slots go by', async () => (await slotNow()) > now + AWAY_SLOTS);
        view.forgetBelow(now + 1);
        return now + 1;
      }

      /** For an index without a cursor: it names no transaction, so all nodes answer it alike. */
      const itOnce = (title: string, run: () => Promise<void>) => {
        if (saysUnknown) it(title, run);
      };

      /** Waits until the indexer has made every kind of check of the last slots. */
      const lookOn = (indexer: Indexer) =>
        until('it looks on', async () => {
          expect(await indexer.status()).to.deep.include({ state: 'running' });
          return view.listed() > 20;
        });

      it('keeps every row while it runs, and continues when the last transaction is forgotten too', async () => {
        const indexer = await start(own('followed.db'));
        await market.run(6, await market.grant());
        await catchUp(indexer);
        const before = await hash(own('followed.db'));
        await forgetAll();
        await lookOn(indexer);
        expect(await hash(own('followed.db'))).to.equal(before);
        const opened = await market.open();
        await catchUp(indexer);
        await market.settle(opened);
        await catchUp(indexer);
        expect(await indexer.status()).to.deep.include({ state: 'running', error: null });
        await bench.stop(indexer);

        await bench.backfill(own('followed-whole.db'));
        expect(await hash(own('followed.db'))).to.equal(await hash(own('followed-whole.db')));
        expect(await pruned(own('followed.db'))).to.deep.equal([]);
      });

      it('keeps every row after a start when the forgotten slots contained nothing new', async () => {
        const first = await start(own('started.db'));
        await market.run(3, await market.grant());
        const reached = await catchUp(first);
        const before = await hash(own('started.db'));
        // On a busy machine the node is many slots further by now.
        view.forgetBelow(reached);
        await bench.stop(first);
        const second = await start(own('started.db'));
        await catchUp(second);
        await lookOn(second);
        expect(await hash(own('started.db'))).to.equal(before);
        expect(await pruned(own('started.db'))).to.deep.equal([]);
        await bench.stop(second);
      });

      it('continues from the accounts after a stop longer than the history, and names the missing slots', async () => {
        const { node, admin, caller } = market;
        const before = await start(own('stopped.db'));
        const [settled, closed] = [await market.open(), await market.open()];
        const { terms } = await market.openInstruction(new Uint8Array(16));
        const deposit = createAftermath(market).deposit(terms, 1n);
        await market.send([deposit.prepare], market.relay);
        await catchUp(before);
        const { slot: reached } = await before.status();
        await bench.stop(before);

        await market.settle(settled);
        await market.refund(closed, 'creatorFailed');
        await market.send([deposit.refund(market.relay.publicKey)], market.relay);
        await node.timeTravel((await node.now()) + constants.recordSecondsMin + 1);
        await market.send([closeExecution(closed)], caller);
        const missed = await market.open();
        const first = await forgetAll();
        await market.send([setPause({ authority: admin.publicKey, isPaused: true })], admin);
        await market.send([setPause({ authority: admin.publicKey, isPaused: false })], admin);

        const after = await start(own('stopped.db'));
        await catchUp(after);
        await lookOn(after);
        expect(await pruned(own('stopped.db'))).to.deep.equal([
          { first_slot: reached! + 1n, last_slot: BigInt(first) - 1n },
        ]);
        expect(await rowOf(own('stopped.db'), settled)).to.deep.include({ status: 'completed', closed: 0n });
        expect(await rowOf(own('stopped.db'), closed)).to.deep.include({ closed: 1n });
        expect(await rowOf(own('stopped.db'), missed)).to.deep.include({ status: 'open', open_signature: null });
        const shown = `SELECT status, closed FROM deposits WHERE deposit = '${deposit.address.toBase58()}'`;
        expect(await query(bench.path(own('stopped.db')), shown)).to.deep.equal([{ status: 'prepared', closed: 1n }]);
        expect(await bench.verified(own('stopped.db'))).to.be.greaterThan(5);
        await market.settle(missed);
        await catchUp(after);
        expect(await rowOf(own('stopped.db'), missed)).to.deep.include({ status: 'completed' });
        expect(await after.status()).to.deep.include({ state: 'running', error: null });

        // The node, or another one, has the whole history again.
        view.forgetBelow(0);
        await bench.stop(after);
        await bench.backfill(own('stopped-whole.db'));
        await bench.rebuild(own('stopped.db'), rpc.rpcUrl);
        expect(await pruned(own('stopped.db'))).to.deep.equal([]);
        expect(await hash(own('stopped.db'))).to.equal(await hash(own('stopped-whole.db')));
      });

      itOnce('fills an empty index from the accounts, and does not replace a complete one with it', async () => {
        const opened = await market.open();
        const first = await forgetAll();
        await market.settle(opened);
        const indexer = await start('empty.db');
        await catchUp(indexer);
        expect(await pruned('empty.db')).to.deep.equal([{ first_slot: 0n, last_slot: BigInt(first) - 1n }]);
        expect(await bench.verified('empty.db')).to.be.greaterThan(5);
        expect(await rowOf('empty.db', opened)).to.deep.include({ status: 'completed', open_signature: null });
        await bench.stop(indexer);

        await bench.backfill('whole.db');
        const whole = await hash('whole.db');
        const refusal = await bench.rebuild('whole.db', rpc.rpcUrl).catch((error: unknown) => (error as Error).message);
        expect(refusal).to.equal(
          `the node's history is incomplete (the node no longer has the transactions of slots 0 to ${first - 1}), so the index was not rebuilt; use a node with the whole history`,
        );
        expect(await hash('whole.db')).to.equal(whole);
      });

      itOnce('misses nothing when the marketplace is younger than the history', async () => {
        const listed = await market.node.connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed');
        view.forgetBelow(listed.at(-1)!.slot);
        const indexer = await start('younger.db');
        await catchUp(indexer);
        await bench.stop(indexer);
        await bench.backfill('younger-whole.db');
        expect(await pruned('younger.db')).to.deep.equal([]);
        expect(await hash('younger.db')).to.equal(await hash('younger-whole.db'));
      });

      itOnce('continues from the accounts when the history is forgotten during a backfill', async () => {
        await market.run(6, await market.grant());
        const later = await slotNow();
        await until('slots go by', async () => (await slotNow()) > later + AWAY_SLOTS);
        const opened = await market.open();
        view.forgetBelow(later + 1, { atFetch: 5 });
        const indexer = await start('backfill.db');
        await catchUp(indexer);
        const [slots] = await pruned('backfill.db');
        expect(slots).to.deep.include({ last_slot: BigInt(later) });
        expect(slots!.first_slot).to.not.equal(0n);
        expect(await bench.verified('backfill.db')).to.be.greaterThan(5);
        expect(await rowOf('backfill.db', opened)).to.deep.include({
          status: 'open',
          open_signature: opened.signature,
        });
        await bench.stop(indexer);
      });

      itOnce(
        'is built again after a restart of the cluster although old history is gone, and names the missing slots',
        async () => {
          const { node } = market;
          const indexer = await start('restarted.db');
          const opened = await market.open();
          await catchUp(indexer);
          const first = await forgetAll();
          const data = Buffer.alloc(8);
          data.writeBigUInt64LE(BigInt(first));
          await node.rpc('surfnet_setAccount', [LAST_RESTART_ADDRESS.toBase58(), { data: data.toString('hex') }]);
          const restartSlot = async () =>
            (await queryDuringRebuild(bench.path('restarted.db'), 'SELECT restart_slot FROM chain_meta'))[0]!
              .restart_slot;
          await until('rebuilt', async () => (await restartSlot()) === BigInt(first));
          await catchUp(indexer);
          expect(await pruned('restarted.db')).to.deep.equal([{ first_slot: 0n, last_slot: BigInt(first) - 1n }]);
          expect(await rowOf('restarted.db', opened)).to.deep.include({ status: 'open', open_signature: null });
          expect(await bench.verified('restarted.db')).to.be.greaterThan(5);
          expect(await indexer.status()).to.deep.include({ state: 'running', error: null });
          await bench.stop(indexer);
        },
      );
    });
  }
});
