/**
 * Chapters of the newcomer about the validator's history. Its recorded answers, which the embedded node is compared
 * with, equal its current ones; RENEW_ANSWERS=1 records them again. After a restart it keeps about 160 slots. Rows that
 * have left its history must stay. An index that has missed slots must report them and show the accounts' state.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { type Answers, askAll, readAnswers, writeAnswers } from '../harness/answers/ask.ts';
import { playScene } from '../harness/answers/scene.ts';
import { until } from '../harness/edge/until.ts';
import { type IndexerBench, query } from '../indexer/harness.ts';
import type { Stage } from './stage.ts';

/** Slots after the stop of the index `away.db`, of which a restart deletes the first ones. */
const MISSED = 260;
/** From this slot on, the validator deletes what exceeds its limit when it is restarted. */
const LONG_ENOUGH = 520;
/** Less than the rows and events before the restart. */
const FEW = 10;
const PATIENCE_MS = 300_000;

/** For the first test, on a chain without any other transaction. */
export function tellOfAnswers(stage: () => Stage): void {
  it('answers as recorded', async () => {
    const { rpcUrl, wsUrl } = stage().validator;
    const answers: Answers = await askAll(await playScene({ rpcUrl, wsUrl, programId: PROGRAM_ID }));
    if (process.env.RENEW_ANSWERS) writeAnswers(answers);
    const recorded = readAnswers();
    expect(Object.keys(answers)).to.have.members(Object.keys(recorded));
    for (const [name, answer] of Object.entries(answers)) {
      expect(JSON.parse(JSON.stringify(answer)), name).to.deep.equal(recorded[name]);
    }
  });
}

/** The slot up to which an index is complete. */
async function reachedBy(bench: IndexerBench, name: string): Promise<bigint> {
  const [progress] = await query(bench.path(name), 'SELECT slot FROM progress');
  return progress!.slot as bigint;
}

/** Waits until a restart of the validator deletes slots that `away.db` has missed. */
export async function untilLongEnough({ validator: { connection } }: Stage, bench: IndexerBench): Promise<void> {
  const least = Math.max(LONG_ENOUGH, Number(await reachedBy(bench, 'away.db')) + MISSED);
  const slot = () => connection.getSlot('finalized');
  await until('the chain is long enough', async () => (await slot()) > least, PATIENCE_MS, slot);
}

/** For the last tests, after a restart of the validator. `left` has the index `away.db`, which missed the story. */
export function tellOfHistory(stage: () => Stage, left: () => IndexerBench): void {
  describe('a history without its oldest slots', () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const pruned = (name: string) => query(left().path(name), 'SELECT * FROM pruned_slots');
    const takenBack = () => lines.filter((line) => /rolled back|reapplied|rebuilding/.test(line));

    /** Follows the chain up to now, and searches for dropped or missing transactions as often as possible. */
    async function follow(name: string): Promise<void> {
      const indexer = await left().start(name, { log, pollMs: 100, rescanMs: 200 });
      await left().catchUp(indexer);
      expect(await indexer.status()).to.deep.include({ state: 'running', error: null });
      await left().stop(indexer);
      expect(await left().verified(name)).to.be.greaterThan(FEW);
      expect(takenBack()).to.deep.equal([]);
    }

    it('changes nothing in the index that ran meanwhile, also after its restart', async () => {
      const { connection } = stage().validator;
      const index = join(stage().dataDir, 'index.db');
      const missed = await reachedBy(left(), 'away.db');
      const isGone = async () => (await connection.getFirstAvailableBlock()) > missed;
      await until('slots are gone', isGone, PATIENCE_MS, () => connection.getSlot('finalized'));
      await stage().end();
      for (const end of ['', '-wal']) {
        if (existsSync(index + end)) copyFileSync(index + end, left().path('kept.db') + end);
      }
      await follow('kept.db');
      const first = await connection.getFirstAvailableBlock();
      const gone = await query(left().path('kept.db'), `SELECT count(*) AS n FROM events WHERE slot < ${first}`);
      expect(Number(gone[0]!.n)).to.be.greaterThan(FEW);
      expect(await pruned('kept.db')).to.deep.equal([]);
    });

    it('lets an index that missed them, and a new one, continue from the accounts', async () => {
      const missed = (await reachedBy(left(), 'away.db')) + 1n;
      const rows = 'SELECT execution_id, status, result_hash, settled_at FROM executions ORDER BY execution_id';
      const kept = await query(left().path('kept.db'), rows);
      for (const [name, from] of [
        ['away.db', missed],
        ['empty.db', 0n],
      ] as const) {
        await follow(name);
        expect((await pruned(name)).map(({ first_slot }) => first_slot)).to.deep.equal([from]);
        expect(await query(left().path(name), rows)).to.deep.equal(kept);
      }
      expect(lines.some((line) => line.includes('the node no longer has the transactions of slots 0 to'))).to.equal(
        true,
      );
    });
  });
}
