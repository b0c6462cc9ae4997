/** Statements that are compiled once, with named values. */
import { expect } from 'chai';
import { sql } from 'kysely';
import { openDatabase } from '../../app/database/open.ts';
import { createPrepared, type Named } from '../../app/database/prepared.ts';

interface Given {
  first: bigint;
  second: bigint;
}

describe('prepared statements', () => {
  const { db, close } = openDatabase<object>(':memory:');
  after(close);

  it('take their values by name, in any order and any number of times, and are compiled once', async () => {
    const { compile } = createPrepared();
    let built = 0;
    const build = ({ first, second }: Named<Given>) => {
      built += 1;
      return {
        compile: () =>
          sql<{ sum: bigint }>`SELECT ${second} * 100 + ${first} * 10 + ${second} + ${3n} AS sum`.compile(db),
      };
    };
    const sums = [];
    for (const values of [
      { first: 1n, second: 2n },
      { second: 5n, first: 4n },
    ]) {
      sums.push((await db.executeQuery(compile('sum', values, build))).rows[0]!.sum);
    }
    expect(sums).to.deep.equal([215n, 548n]);
    expect(built).to.equal(1);
  });
});
