/** What an indexer says while it fills an index, and when its disk is full. */
import { expect } from 'chai';
import pino from 'pino';
import { messageOf } from '../../app/database/temporary.ts';
import { reportProgress } from '../../indexer/chain/backfill.ts';

describe('the log of an indexer', () => {
  it('has a line at the start of a backfill, and then one every ten seconds', () => {
    const lines: string[] = [];
    let now = 0;
    const report = reportProgress(
      pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) }),
      () => now,
    );
    for (let slot = 1n; slot <= 25n; slot += 1n) {
      report({ step: slot < 5n ? 'listing' : 'applying', slot });
      now += 1_000;
    }
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal([
      { level: 30, step: 'listing', slot: 1, msg: 'filling the index' },
      { level: 30, step: 'applying', slot: 11, msg: 'filling the index' },
      { level: 30, step: 'applying', slot: 21, msg: 'filling the index' },
    ]);
  });

  it('names a full disk, and what to do', () => {
    const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    expect(messageOf(full, '/data/index.db')).to.equal(
      'no space is left on the disk of /data/index.db. Free or add space; nothing is lost (database or disk is full)',
    );
    expect(messageOf(new Error('no node'), '/data/index.db')).to.equal('no node');
  });
});
