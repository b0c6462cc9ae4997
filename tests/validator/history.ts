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
import { type Answers, askAll } from '../harness/answers/ask.ts';
import { readAnswers, writeAnswers } from '../harness/answers/record.ts';
import { playScene } from '../harness/answers/scene.ts';
import { until } from '../harness/edge/until.ts';
import { type IndexerBench, query } from '../indexer/harness.ts';
import type { Stage } from './stage.ts';

/** About 160 slots. */
export const KEPT_SHREDS = 10_000;
/** From this slot on, the validator deletes what exceeds its limit when it is restarted. */
const LONG_ENOUGH = 520;
/** Less than the number of calls before the restart, and of their events. */
const CALLS = 20;
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

/** Waits until a restart of the validator deletes its oldest slots. */
export async function untilLongEnough({ validator: { connection } }: Stage): Promise<void> {
  const slot = () => connection.getSlot('finalized');
  await until('the chain is long enough', async () => (await slot()) > LONG_ENOUGH, PATIENCE_MS, slot);
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
      expect(await left().verified(name)).to.be.greaterThan(CALLS);
      expect(takenBack()).to.deep.equal([]);
    }

    it('changes nothing in the index that ran meanwhile, also after its restart', async () => {
      const { connection } = stage().validator;
      const index = join(stage().dataDir, 'index.db');
      await until('slots are gone', async () => (await connection.getFirstAvailableBlock()) > 0, PATIENCE_MS);
      await stage().end();
      for (const end of ['', '-wal']) {
        if (existsSync(index + end)) copyFileSync(index + end, left().path('kept.db') + end);
      }
      await follow('kept.db');
      const first = await connection.getFirstAvailableBlock();
      const gone = await query(left().path('kept.db'), `SELECT count(*) AS n FROM events WHERE slot < ${first}`);
      expect(Number(gone[0]!.n)).to.be.greaterThan(CALLS);
      expect(await pruned('kept.db')).to.deep.equal([]);
    });

    it('lets an index that missed them, and a new one, continue from the accounts', async () => {
      const [{ slot: reached }] = (await query(left().path('away.db'), 'SELECT slot FROM progress')) as [
        { slot: bigint },
      ];
      const rows = 'SELECT execution_id, status, result_hash, settled_at FROM executions ORDER BY execution_id';
      const kept = await query(left().path('kept.db'), rows);
      for (const [name, from] of [
        ['away.db', reached + 1n],
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
