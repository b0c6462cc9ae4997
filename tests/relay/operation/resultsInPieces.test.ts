/**
 * Long results on a real ledger: written in pieces that count only when all are stored, read together, and swept if no
 * row names them.
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Kysely } from 'kysely';
import type { GroupCommit } from '../../../app/database/groupCommit.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import { createReadPieces, sweepPieces } from '../../../app/relay/ledger/pieces.ts';
import { dropResult } from '../../../app/relay/ledger/results.ts';
import type { LedgerDatabase, ResultRow } from '../../../app/relay/ledger/tables.ts';
import { JournalConflict } from '../../../app/relay/ledger/writing.ts';
import { PIECE_BYTES } from '../../../app/relay/longBytes.ts';
import { free } from '../../harness/edge/funding.ts';
import { executionOf, type Journals, openJournals, SIGNED, TIMES } from '../../harness/edge/journals.ts';

/** Three pieces, the last one short. */
const LENGTH = 2 * PIECE_BYTES + 5;
/** Statements that write it: three pieces, the one before them and the one after them. */
const STATEMENTS = 5;

class Killed extends Error {}

describe('results in pieces', () => {
  let opened: Journals;
  let mine: Journals['mine'];
  let others: Journals['others'];
  before(async () => {
    opened = await openJournals();
    ({ mine, others } = opened);
  });
  after(() => opened.close());
  beforeEach(async () => {
    await opened.clear();
    await opened.run('DELETE FROM late_answers', 'DELETE FROM result_pieces', 'DELETE FROM loose_pieces');
  });

  const resultOf = (id: string, bytes: Buffer): ResultRow => ({
    execution_id: id,
    result: bytes,
    size: BigInt(bytes.length),
    object_stored: 0n,
    result_hash: `sha256:${bytes.subarray(0, 4).toString('hex')}`,
    signature: 'ed25519:signature',
    execution_signature: null,
    tokens_used: null,
    steps: null,
    execution_time_ms: 1n,
    token: randomBytes(24).toString('base64url'),
    verified_ms: 1n,
  });
  async function dispatch(id: string) {
    const row = await mine.claim(executionOf(id, { fingerprint: 'fingerprint' }), 1, free());
    await mine.openSigned(row, SIGNED, 60n);
    await mine.openConfirmed(row, TIMES, 1);
    await mine.dispatched(row);
    return row;
  }
  const read = async ({ token, size }: Pick<ResultRow, 'token' | 'size'>) =>
    createReadPieces(opened.elsewhere as unknown as Kysely<LedgerDatabase>)(token, Number(size));
  const count = async (table: string) => Number((await opened.run(`SELECT count(*) AS n FROM ${table}`))[0].n);
  const sweep = () => sweepPieces(opened.elsewhere, () => false);
  /** Makes all loose pieces old. */
  const age = () => opened.run('UPDATE loose_pieces SET since_ms = 1');
  const rejected = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('it was taken'),
      (error) => error,
    );

  it('are kept byte for byte in pieces of limited size, without leftover pieces', async () => {
    await dispatch('one');
    const row = resultOf('one', randomBytes(LENGTH));
    const stored = await mine.storeResult(row);
    expect(stored.result?.equals(row.result!)).to.equal(true);
    const kept = (await others.result('one'))!;
    expect(kept).to.deep.equal({ ...row, result: Buffer.alloc(0) });
    expect((await read(kept))?.equals(row.result!)).to.equal(true);
    const lengths = await opened.run('SELECT length(bytes) AS n FROM result_pieces ORDER BY place');
    expect(lengths.map(({ n }) => Number(n))).to.deep.equal([PIECE_BYTES, PIECE_BYTES, 5]);
    await age();
    await sweep();
    expect([await count('loose_pieces'), await count('result_pieces')]).to.deep.equal([0, 3]);
  });

  it('are kept in their row when they fit into one piece', async () => {
    await dispatch('one');
    const row = resultOf('one', randomBytes(PIECE_BYTES));
    await mine.storeResult(row);
    expect((await others.result('one'))?.result?.equals(row.result!)).to.equal(true);
    expect(await count('result_pieces')).to.equal(0);
  });

  it('are written one piece at a time across writers, and other writes run between', async () => {
    for (const id of ['one', 'two', 'three']) await dispatch(id);
    let underWay = 0;
    let most = 0;
    let pieces = 0;
    const watched: GroupCommit = {
      ...opened.writes,
      async note(query) {
        const isPiece = query.sql.includes('result_pieces');
        if (!isPiece) return opened.writes.note(query);
        underWay += 1;
        pieces += 1;
        most = Math.max(most, underWay);
        return opened.writes.note(query).finally(() => {
          underWay -= 1;
        });
      },
    };
    const journal = createJournal(watched, opened.ledger, 'mine');
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const storing = ['one', 'two'].map((id) => journal.storeResult(resultOf(id, randomBytes(LENGTH))));
    const small = await journal.storeResult(resultOf('three', Buffer.from('small')));
    expect(small.result?.toString()).to.equal('small');
    await Promise.all(storing);
    isOver = true;
    expect([most, pieces, await count('results')]).to.deep.equal([1, 6, 3]);
    expect(turns).to.be.greaterThan(pieces);
  });

  for (let written = 0; written < STATEMENTS; written += 1) {
    it(`leave nothing readable after a crash after ${written} statements; a new result is accepted and leftovers are deleted`, async () => {
      await dispatch('one');
      let left = written;
      const dying =
        <Given extends unknown[], Answer>(write: (...given: Given) => Promise<Answer>) =>
        async (...given: Given): Promise<Answer> => {
          if (left === 0) throw new Killed();
          left -= 1;
          return write(...given);
        };
      const { intend, note, alone, room, commits } = opened.writes;
      const killed = createJournal(
        { intend: dying(intend), note: dying(note), alone: dying(alone), room, commits },
        opened.ledger,
        'mine',
      );
      const lost = resultOf('one', randomBytes(LENGTH));
      // The three pieces, the row that marks them as loose, and the result's row.
      expect(await rejected(killed.storeResult(lost))).to.be.instanceOf(Killed);
      expect(await others.result('one')).to.equal(undefined);
      await others.takeRowsOfOthersThan([]);
      const row = resultOf('one', randomBytes(LENGTH));
      await others.storeResult(row);
      await sweep();
      const pieces = Math.max(0, written - 1);
      expect(await count('result_pieces'), 'of somebody who may still write').to.equal(pieces + 3);
      await age();
      await sweep();
      expect([await count('loose_pieces'), await count('result_pieces')]).to.deep.equal([0, 3]);
      expect((await read(row))?.equals(row.result!)).to.equal(true);
    });
  }

  it('are kept for the first result, and the pieces of a second one are deleted', async () => {
    await dispatch('one');
    const first = resultOf('one', randomBytes(LENGTH));
    await mine.storeResult(first);
    const stored = await mine.storeResult(resultOf('one', randomBytes(LENGTH)));
    expect(stored.token).to.equal(first.token);
    expect(stored.result_hash).to.equal(first.result_hash);
    await age();
    await sweep();
    expect([await count('loose_pieces'), await count('result_pieces')]).to.deep.equal([0, 3]);
    expect((await read(first))?.equals(first.result!)).to.equal(true);
  });

  it('rejects: a row for pieces that are already being deleted', async () => {
    await dispatch('one');
    const writes: GroupCommit = {
      ...opened.writes,
      async alone(locks, queries) {
        await age();
        await sweep();
        return opened.writes.alone(locks, queries);
      },
    };
    const journal = createJournal(writes, opened.ledger, 'mine');
    expect(await rejected(journal.storeResult(resultOf('one', randomBytes(LENGTH))))).to.be.instanceOf(JournalConflict);
    expect([await count('results'), await count('result_pieces')]).to.deep.equal([0, 0]);
  });

  it('rejects: pieces of a relay that has lost the execution to another relay', async () => {
    await dispatch('one');
    await others.takeRowsOfOthersThan([]);
    const stale = resultOf('one', randomBytes(LENGTH));
    expect(await rejected(mine.storeResult(stale))).to.be.instanceOf(JournalConflict);
    expect(await others.result('one')).to.equal(undefined);
    await age();
    await sweep();
    expect([await count('loose_pieces'), await count('result_pieces')]).to.deep.equal([0, 0]);
  });

  it('are deleted with their result when it is dropped or its call never paid', async () => {
    for (const id of ['one', 'two']) await dispatch(id);
    const rows = { one: resultOf('one', randomBytes(LENGTH)), two: resultOf('two', randomBytes(LENGTH)) };
    for (const row of Object.values(rows)) await mine.storeResult(row);
    await dropResult(opened.ledger, 'one');
    await mine.void((await mine.get('two'))!, 'service_unavailable', 'rolled back');
    await mine.claim(executionOf('two', { fingerprint: 'fingerprint' }), 2, free());
    expect(await count('loose_pieces')).to.equal(2);
    // A reader that has just found the row can still read the pieces.
    await sweep();
    expect((await read(rows.one))?.equals(rows.one.result!)).to.equal(true);
    await age();
    await sweep();
    expect([await count('loose_pieces'), await count('result_pieces')]).to.deep.equal([0, 0]);
    expect(await read(rows.one)).to.equal(null);
  });

  it('are kept for one late answer, and deleted with it', async () => {
    const late = (result: Buffer) => ({
      execution_id: 'one',
      result,
      result_hash: 'sha256:x',
      signature: 'ed25519:x',
      execution_signature: null,
      received_ms: 5n,
    });
    const first = randomBytes(LENGTH);
    await mine.storeLateAnswer(late(first));
    await mine.storeLateAnswer(late(randomBytes(LENGTH)));
    await mine.storeLateAnswer(late(Buffer.from('short')));
    await age();
    await sweep();
    const [row] = await opened.run('SELECT token FROM late_answers');
    expect((await read({ token: row.token, size: BigInt(LENGTH) }))?.equals(first)).to.equal(true);
    expect(await count('result_pieces')).to.equal(3);
    await opened.run('DELETE FROM late_answers');
    await age();
    await sweep();
    expect([await count('loose_pieces'), await count('result_pieces')]).to.deep.equal([0, 0]);
  });
});
