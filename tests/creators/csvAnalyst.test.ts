/** csv-analyst over HTTP: what it adds to csv-parse and SQLite, and how everything else fails. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Creators, complete, execution, fail, forkCreators, type RunningAgent } from './process.ts';

const cities = readFileSync(new URL('../../examples/cities.csv', import.meta.url), 'utf8');

describe('demo creators: csv-analyst', () => {
  let creators: Creators;
  let agent: RunningAgent;

  before(async () => {
    creators = forkCreators();
    agent = (await creators.start([{ name: 'csv-analyst' }])).get('csv-analyst')!;
  });
  after(() => creators.stop());

  async function ask(csv: string, query: string): Promise<{ columns: string[]; rows: unknown[][]; row_count: number }> {
    return JSON.parse(await complete(agent, execution('analyse', { csv, query })));
  }
  function refuse(csv: string, query = 'SELECT * FROM csv'): Promise<string> {
    return fail(agent, execution('analyse', { csv, query }));
  }
  const typesOf = "SELECT name, type FROM pragma_table_info('csv')";

  describe('the example file', () => {
    it('has 50 cities with the types of their values', async () => {
      expect(await ask(cities, 'SELECT count(*) AS cities, count(founded) AS with_year FROM csv')).to.deep.equal({
        columns: ['cities', 'with_year'],
        rows: [[50, 43]],
        row_count: 1,
      });
      expect((await ask(cities, typesOf)).rows).to.deep.equal([
        ['city', 'TEXT'],
        ['country', 'TEXT'],
        ['founded', 'INTEGER'],
        ['population', 'INTEGER'],
        ['area_km2', 'REAL'],
        ['mean_celsius', 'REAL'],
        ['rain_mm', 'INTEGER'],
        ['notes', 'TEXT'],
      ]);
    });
  });

  describe('reads CSV', () => {
    /** The rows as JSON. */
    const TEXTS: [what: string, csv: string, rows: string][] = [
      ['all three ends', 'a,b\r1,x\r\n2,y\n3,"z\r"\r', String.raw`[[1,"x"],[2,"y"],[3,"z\r"]]`],
      ['blank lines of every end', 'a,b\r\n\r\n1,2\n\r \t\r\n', '[[1,2]]'],
      ['spaces around numbers', 'a, b\n1, 9.50\n 2 , \n', '[[1,9.5],[2,null]]'],
      ['empty fields as NULL', 'a,b\n,""\n', '[[null,null]]'],
      ['blank lines of one column as NULL', 'a\n1\n\n2\n', '[[1],[null],[2]]'],
      ['semicolons, as spreadsheets write them', '\uFEFFa;b\r\n"x;y";9,50\r\n', '[["x;y","9,50"]]'],
      ['a header whose only commas are quoted', '"a, of b";c\n1;2\n', '[[1,2]]'],
      ['one column with separators in its values', 'a\n1;2\n', '[["1;2"]]'],
    ];
    for (const [what, csv, rows] of TEXTS) {
      it(what, async () => {
        expect(JSON.stringify((await ask(csv, 'SELECT * FROM csv')).rows)).to.equal(rows);
      });
    }

    it('renames empty and repeated header names', async () => {
      const { columns } = await ask(' a ,A,,"x ""y""",a_2,\n1,2,3,4,5,6\n', 'SELECT * FROM csv');
      expect(columns).to.deep.equal(['a', 'A_2', 'column_3', 'x "y"', 'a_2_2', 'column_6']);
    });
  });

  describe('types columns', () => {
    /** The values as text, and read. */
    const COLUMNS: [what: string, values: string[], type: string, read?: unknown[]][] = [
      ['whole numbers', ['1', '-2', '0'], 'INTEGER', [1, -2, 0]],
      ['one beyond int64', ['9223372036854775808'], 'TEXT'],
      ['decimals among whole numbers', ['1', '2.5', '1e3', ''], 'REAL', [1, 2.5, 1000, null]],
      ['decimals beside a whole number beyond 2^53', ['2.5', '9007199254740993'], 'TEXT'],
      ['more digits than a double holds', ['1234567890.123456789012345678'], 'TEXT'],
      ['leading zeros', ['007', '010'], 'TEXT'],
    ];
    for (const [what, values, type, read = values] of COLUMNS) {
      it(`with ${what} as ${type}`, async () => {
        // Thanks to the second column, a line with an empty value is not blank.
        const csv = `v,k\n${values.map((value) => `${value},k\n`).join('')}`;
        expect((await ask(csv, typesOf)).rows[0]).to.deep.equal(['v', type]);
        expect((await ask(csv, 'SELECT v FROM csv')).rows.flat()).to.deep.equal(read);
      });
    }
  });

  describe('rejects CSV', () => {
    const TEXTS: [string, string, string][] = [
      ['a quote never closed', 'a,b\n"x,1\n', 'CSV: Quote Not Closed'],
      ['a short record', 'a,b\n1,2\n3\n', 'CSV: the record ending on line 3 has 1 fields, the header has 2'],
      ['501 columns', `${'a,'.repeat(500)}a\n`, 'CSV: more than 500 columns'],
      ['100,001 records', `a\n${'1\n'.repeat(100_001)}`, 'CSV: more than 100000 records'],
      ['over 1 MiB', 'x'.repeat(1024 * 1024 + 1), 'parameters.csv is larger than 1 MiB'],
      ['nothing', '', 'parameters.csv must be the text of a CSV file'],
      ['a character that ends a text of SQLite', 'a,b\nx\0y,1\n', 'CSV: the text contains the character U+0000'],
    ];
    for (const [what, csv, reason] of TEXTS) {
      it(what, async () => {
        expect(await refuse(csv)).to.contain(reason);
      });
    }
  });

  describe('accepts one SELECT or WITH', () => {
    const QUERIES: [string, unknown[][]][] = [
      ['  -- a remark\n/* another * one */ SELECT a FROM csv -- the end', [[1], [2]]],
      [
        "SELECT 9007199254740993, 9e999, -9e999, x'00ff', NULL",
        [['9007199254740993', 'Infinity', '-Infinity', '00ff', null]],
      ],
      ["SELECT ';', 'PRAGMA x; DROP TABLE csv'", [[';', 'PRAGMA x; DROP TABLE csv']]],
    ];
    for (const [query, rows] of QUERIES) {
      it(query, async () => {
        expect((await ask('a\n1\n2\n', query)).rows).to.deep.equal(rows);
      });
    }

    const REFUSED: [string, string][] = [
      ['INSERT INTO csv VALUES (3)', 'one SELECT or WITH'],
      ['WITH t AS (SELECT 1) INSERT INTO csv SELECT * FROM t', 'read-only'],
      ["ATTACH DATABASE '/tmp/creators-attached.db' AS x", 'one SELECT or WITH'],
      ['SELECT 1; SELECT 2', 'more than one statement'],
      ['SELECT b FROM csv', 'SQL: no such column: b (columns of the table csv: "a")'],
      ["SELECT load_extension('x')", 'SQL: not authorized'],
      ['SELECT hex(zeroblob(400000000)) || hex(zeroblob(400000000))', 'SQL:'],
    ];
    for (const [query, reason] of REFUSED) {
      it(`rejects: ${query.slice(0, 60)}`, async () => {
        expect(await refuse('a\n1\n2\n', query)).to.contain(reason);
      });
    }
  });

  describe('keeps its bounds', () => {
    const numbers = (count: number): string =>
      `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${count}) SELECT x FROM c`;

    it('answers 10,000 rows, and refuses 10,001', async () => {
      const { rows, row_count } = await ask('a\n1\n', numbers(10_000));
      expect([rows.length, rows[9999], row_count]).to.deep.equal([10_000, [10_000], 10_000]);
      expect(await refuse('a\n1\n', numbers(10_001))).to.equal(
        'SQL: the query returns more than 10000 rows; add a LIMIT',
      );
    });

    it('answers at most 4 MiB', async () => {
      const query = `SELECT hex(zeroblob(500000)) FROM (${numbers(5)})`;
      expect(await refuse('a\n1\n', query)).to.equal('SQL: the result is larger than 4 MiB of JSON; select less');
    });

    it('stops an endless query after 2 s, while others are answered', async () => {
      const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c';
      // The short query is usually answered first. A slow start of its process can change the order.
      for (let attempt = 1; ; attempt += 1) {
        const started = performance.now();
        let isEnded = false;
        const ended = refuse('a\n1\n', endless).finally(() => {
          isEnded = true;
        });
        expect((await ask('a\n1\n', 'SELECT a FROM csv')).rows).to.deep.equal([[1]]);
        const isFirst = !isEnded;
        expect(await ended).to.equal('SQL: the query was stopped after 2 s');
        expect(performance.now() - started).to.be.at.least(2000);
        if (isFirst) break;
        expect(attempt, 'the short query waited for the endless one').to.be.below(10);
      }
    });

    it('survives a query that requests all memory', async () => {
      const hungry =
        'WITH RECURSIVE c(x, y) AS (SELECT 1, zeroblob(20000000) UNION SELECT x + 1, zeroblob(20000000 + x) FROM c) ' +
        'SELECT count(*) FROM c';
      expect(await refuse('a\n1\n', hungry)).to.match(/^SQL: (out of memory|the query was stopped after 2 s)/);
    });

    it('gives up before the deadline of the execution', async () => {
      const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c';
      const reason = await fail(agent, execution('x', { csv: 'a\n1\n', query: endless }, 1));
      expect(reason).to.equal('not finished within the timeout of 1 s');
    });
  });
});
