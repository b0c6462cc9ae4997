/** PostgreSQL as this project opens it: values, writes that are durable or not, faults, migrations. */
import dns from 'node:dns';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import { migratePostgres } from '../../app/database/migrate.ts';
import {
  connectPostgres,
  createPostgresWrites,
  lockNumber,
  openPostgres,
  SCHEMAS,
} from '../../app/database/postgres.ts';
import { isTemporary } from '../../app/database/temporary.ts';
import type { LedgerDatabase } from '../../app/relay/ledger/tables.ts';
import { useFolder } from '../harness/folder.ts';
import { administer, freshPostgres, sharedPostgres } from '../harness/postgres.ts';

const NEVER = expect.fail.bind(null, 'should have been refused');
const thrown = (work: Promise<unknown>): Promise<Error & { code?: string }> => work.then(NEVER, (error) => error);

describe('PostgreSQL', () => {
  let url: string;
  let opened: ReturnType<typeof openPostgres<LedgerDatabase>>;
  before(async () => {
    url = await freshPostgres();
    opened = openPostgres<LedgerDatabase>(url, { schema: SCHEMAS.ledger });
    await opened.pool.query('CREATE TABLE moves (name TEXT COLLATE "C" PRIMARY KEY, count BIGINT NOT NULL DEFAULT 0)');
  });
  after(() => opened.close());
  beforeEach(() => opened.pool.query('DELETE FROM moves').then(() => {}));

  const insert = (name: string) => CompiledQuery.raw('INSERT INTO moves VALUES ($1)', [name]);
  async function stored(): Promise<string[]> {
    const { rows } = await opened.pool.query('SELECT name FROM moves ORDER BY name');
    return rows.map((row) => row.name);
  }

  describe('values', () => {
    it('are bigint for whole numbers, number for others and Buffer for bytes', async () => {
      const { rows } = await sql`SELECT 9223372036854775807 AS large, 1 AS small, count(*) AS counted,
        sum(9223372036854775807) AS sum, 0.5 AS fraction, CAST(0.25 AS DOUBLE PRECISION) AS half,
        CAST('\\x00ff' AS BYTEA) AS bytes, CASE WHEN true THEN 1 ELSE 0 END AS flag`.execute(opened.db);
      expect(rows).to.deep.equal([
        {
          large: 2n ** 63n - 1n,
          small: 1n,
          counted: 1n,
          sum: 2n ** 63n - 1n,
          fraction: 0.5,
          half: 0.25,
          bytes: Buffer.from([0, 255]),
          flag: 1n,
        },
      ]);
    });

    it('keep text with U+0000 and with its escape unchanged, whichever way it is written', async () => {
      const texts = ['\0', 'a\0b', '\uE000', '\uE0000', '\uE0001', '\uE000\0', '\0\uE000', 'plain \\x00', ''];
      const writes = createPostgresWrites(opened.pool, opened.pool);
      for (const [at, text] of texts.entries()) {
        if (at % 2 === 0) await writes.intend(insert(text));
        else await sql`INSERT INTO moves VALUES (${text})`.execute(opened.db);
      }
      expect(await stored()).to.have.members(texts);
      for (const text of texts) {
        const { rows } = await sql<{ name: string }>`SELECT name FROM moves WHERE name = ${text}`.execute(opened.db);
        expect(rows).to.deep.equal([{ name: text }]);
      }
    });

    it('order text by its bytes, although the locale of the database differs', async () => {
      for (const name of ['b', 'B', 'a', 'A', '_', '1']) await opened.run(insert(name));
      expect(await stored()).to.deep.equal(['1', 'A', 'B', '_', 'a', 'b']);
      const { rows } = await opened.pool.query(`SELECT 'B' COLLATE "default" < 'a' COLLATE "default" AS bytes`);
      expect(rows).to.deep.equal([{ bytes: false }]);
    });

    it('have 64 bits in each integer column, and the order of bytes in each text column', async () => {
      const { rows } = await opened.pool.query(`SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema IN ('chain', 'ledger') AND table_name <> 'migrations'
          AND (data_type IN ('integer', 'real') OR data_type = 'text' AND collation_name IS DISTINCT FROM 'C')`);
      expect(rows).to.deep.equal([]);
    });

    it('let a reader write nothing', async () => {
      const reader = openPostgres<LedgerDatabase>(url, { schema: SCHEMAS.ledger, readonly: true });
      expect((await thrown(reader.run(insert('a')))).message).to.include('read-only');
      await reader.close();
    });

    it('continue after a migration changed the result of a prepared statement', async () => {
      const all = CompiledQuery.raw('SELECT * FROM moves WHERE name <> $1', ['x']);
      await opened.run(insert('a'));
      expect((await opened.run(all)).rows).to.deep.equal([{ name: 'a', count: 0n }]);
      await opened.pool.query('ALTER TABLE moves ADD COLUMN added BIGINT');
      expect((await opened.run(all)).rows).to.deep.equal([{ name: 'a', count: 0n, added: null }]);
      await opened.pool.query('ALTER TABLE moves DROP COLUMN added');
    });
  });

  describe('writes', () => {
    const writes = () => createPostgresWrites(opened.pool, notes.pool);
    let notes: typeof opened;
    before(() => {
      notes = openPostgres<LedgerDatabase>(url, { schema: SCHEMAS.ledger, synchronousCommit: 'off' });
    });
    after(() => notes.close());

    it('wait for the disk for an intent but not for a note; both return their result', async () => {
      const both = writes();
      const how = CompiledQuery.raw("SELECT current_setting('synchronous_commit') AS way WHERE $1 = 1", [1]);
      expect((await both.intend(how)).rows).to.deep.equal([{ way: 'on' }]);
      expect((await both.note(how)).rows).to.deep.equal([{ way: 'off' }]);
      expect(await both.intend(insert('a'))).to.deep.equal({ changes: 1, rows: [] });
      const returning = CompiledQuery.raw('INSERT INTO moves VALUES ($1) ON CONFLICT DO NOTHING RETURNING name', ['b']);
      expect(await both.note(returning)).to.deep.equal({ changes: 0, rows: [{ name: 'b' }] });
      expect(await both.note(returning)).to.deep.equal({ changes: 0, rows: [] });
      expect(both.commits()).to.equal(2);
    });

    it('keep other writes when one fails', async () => {
      const group = [insert('a'), insert('a'), insert('b')].map((query) => writes().intend(query));
      const results = await Promise.allSettled(group);
      expect(results.filter(({ status }) => status === 'rejected')).to.have.length(1);
      expect(await stored()).to.deep.equal(['a', 'b']);
    });

    it('are all or nothing under a lock, and no other write under the same lock runs at the same time', async () => {
      const alone = writes();
      const failed = await thrown(alone.underLocks(['x'], [insert('a'), insert('a')]));
      expect(failed.code).to.equal('23505');
      expect(await stored()).to.deep.equal([]);
      await alone.intend(insert('sum'));
      // Each task reads and writes in two statements. Another task between the two would lose counts.
      const read = CompiledQuery.raw('UPDATE moves SET name = name WHERE name = $1 RETURNING count', ['sum']);
      const tries = Array.from({ length: 30 }, () =>
        alone.underLocks(
          ['sum'],
          [
            CompiledQuery.raw(
              "INSERT INTO moves SELECT 'n' || count(*) FROM moves WHERE name LIKE 'n%' HAVING count(*) < $1",
              [5],
            ),
            read,
          ],
        ),
      );
      const written = await Promise.all(tries);
      expect(written.filter(([first]) => first?.changes === 1)).to.have.length(5);
      expect(await stored()).to.deep.equal(['n0', 'n1', 'n2', 'n3', 'n4', 'sum']);
    });

    it('leave connections free for writes without a lock while others wait for a lock', async () => {
      const [few, one] = [2, 1].map((max) => openPostgres<LedgerDatabase>(url, { schema: SCHEMAS.ledger, max }));
      const holder = await opened.pool.connect();
      try {
        const both = createPostgresWrites(opened.pool, few!.pool, one!.pool);
        await holder.query('BEGIN');
        await holder.query('SELECT pg_advisory_xact_lock($1)', [lockNumber('held')]);
        const waiting = ['a', 'b', 'c', 'd'].map((name) => both.underLocks(['held'], [insert(name)]));
        await both.note(insert('e'));
        expect(await stored()).to.deep.equal(['e']);
        await holder.query('COMMIT');
        await Promise.all(waiting);
        expect(await stored()).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
      } finally {
        holder.release();
        await Promise.all([few!.close(), one!.close()]);
      }
    });
  });

  describe('a process that stops while it holds a lock', () => {
    it('loses the lock and its uncommitted writes to the waiting processes', async () => {
      const writes = createPostgresWrites(opened.pool, opened.pool);
      const how = CompiledQuery.raw("SELECT current_setting('idle_in_transaction_session_timeout') AS most", []);
      const [written] = await writes.underLocks(['held'], [how]);
      expect(written?.rows).to.deep.equal([{ most: '5s' }]);
      const client = await opened.pool.connect();
      let goOn: () => void = () => undefined;
      let failed = Promise.resolve(new Error('not asked yet'));
      const stands = new Promise<void>((reached) => {
        const query = async (text: string, values?: unknown[]) => {
          if (values?.[0] === 'b') {
            reached();
            await new Promise<void>((resolve) => {
              goOn = resolve;
            });
          }
          return client.query(text, values);
        };
        const release = (broken?: boolean) => client.release(broken);
        const stopping = { connect: async () => ({ query, release }) } as unknown as pg.Pool;
        const stopped = createPostgresWrites(opened.pool, opened.pool, stopping);
        failed = thrown(stopped.underLocks(['held'], [insert('a'), insert('b')]));
      });
      await stands;
      await writes.underLocks(['held'], [insert('c')]);
      expect(await stored()).to.deep.equal(['c']);
      goOn();
      expect(isTemporary(await failed)).to.equal(true);
      expect(await stored()).to.deep.equal(['c']);
    });
  });

  describe('faults', () => {
    it('replace a cut connection, and keep the process alive', async () => {
      const lost: string[] = [];
      const pool = openPostgres(url, { schema: SCHEMAS.ledger, onLost: (error) => lost.push(error.message) });
      await pool.run(insert('a'));
      const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'marketplace ledger' AND datname = '${new URL(url).pathname.slice(1)}'`;
      await administer(await sharedPostgres(), cut);
      const written = pool.run(insert('b')).catch(() => pool.run(insert('b')));
      expect((await written).changes).to.equal(1);
      await pool.close();
    });

    it('are temporary when they pass without help, and permanent when something must be fixed', async () => {
      const refused = openPostgres('postgres://postgres@127.0.0.1:1/none', { schema: SCHEMAS.ledger });
      expect(isTemporary(await thrown(refused.run(insert('a'))))).to.equal(true);
      await refused.close();
      const named = await thrown(connectPostgres('postgres://me:canary@127.0.0.1:1/none', SCHEMAS.ledger));
      expect([named.message, isTemporary(named)]).to.deep.equal([
        'cannot connect to the database 127.0.0.1:1/none: connect ECONNREFUSED 127.0.0.1:1',
        true,
      ]);
      const { lookup } = dns;
      dns.lookup = ((_host: string, _options: object, found: (error: null, addresses: object[]) => void) =>
        found(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '127.0.0.2', family: 4 },
        ])) as typeof lookup;
      const nowhere = openPostgres('postgres://postgres@two-addresses:1/none', { schema: SCHEMAS.ledger });
      const fault = await thrown(nowhere.run(insert('a'))).finally(() => {
        dns.lookup = lookup;
      });
      expect(fault).to.have.property(
        'message',
        'cannot connect to the database two-addresses:1/none: connect ECONNREFUSED 127.0.0.1:1',
      );
      expect(isTemporary(fault)).to.equal(true);
      await nowhere.close();
      const slow = thrown(opened.pool.query('SET LOCAL statement_timeout = 1; SELECT pg_sleep(10)'));
      expect(isTemporary(await slow)).to.equal(true);
      const exhausted = (await sharedPostgres()).url('crowded');
      await administer(await sharedPostgres(), 'CREATE DATABASE crowded CONNECTION LIMIT 0');
      await administer(await sharedPostgres(), 'CREATE ROLE guest LOGIN');
      const guest = openPostgres(exhausted.replace('postgres@', 'guest@'), { schema: SCHEMAS.ledger });
      const crowded = await thrown(guest.run(insert('a')));
      expect(crowded.code).to.equal('53300');
      expect(isTemporary(crowded)).to.equal(true);
      await guest.close();
      for (const wrong of ['SELECT nothing', 'SELECT 1 / 0', 'INSERT INTO moves VALUES (NULL)']) {
        expect(isTemporary(await thrown(opened.pool.query(wrong))), wrong).to.equal(false);
      }
      // A lock held too long, and a deadlock.
      for (const code of ['25P03', '40P01'])
        expect(isTemporary(Object.assign(new Error('lost'), { code }))).to.equal(true);
      expect(isTemporary(new Error('ENOENT: no such file'))).to.equal(false);
      expect(() => openPostgres('mysql://x', { schema: SCHEMAS.ledger })).to.throw('postgres://');
    });
  });

  describe('migrations', () => {
    const folder = useFolder('migrations');
    const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
    let place: string;
    const run = () => migratePostgres(place, SCHEMAS.index, folder);
    async function applied(): Promise<string[]> {
      const client = new pg.Client({ connectionString: place });
      await client.connect();
      const { rows } = await client.query('SELECT name FROM chain.migrations ORDER BY number');
      await client.end();
      return rows.map((row) => row.name);
    }
    before(async () => {
      const server = await sharedPostgres();
      await administer(server, 'CREATE DATABASE migrations');
      place = server.url('migrations');
    });

    it('are applied once and in order, also by processes that start together', async () => {
      put('0001_base.sqlite.sql', 'CREATE TABLE nothing (a INTEGER) STRICT;');
      put('0001_base.sql', 'CREATE TABLE first (\n  a INTEGER\n) STRICT;\n');
      put('0001_base.pg.sql', 'INSERT INTO first VALUES (1);');
      put('0002_more.pg.sql', 'UPDATE first SET a = a + 1;');
      await Promise.all([run(), run(), run()]);
      await run();
      expect(await applied()).to.deep.equal(['0001_base', '0002_more']);
    });

    it('need no rights when there is nothing to do, and fail without rights when there is', async () => {
      const client = new pg.Client({ connectionString: place });
      await client.connect();
      await client.query(`CREATE ROLE onlooker LOGIN; GRANT USAGE ON SCHEMA chain TO onlooker;
        GRANT SELECT ON ALL TABLES IN SCHEMA chain TO onlooker`);
      await client.end();
      const look = () => migratePostgres(place.replace('postgres@', 'onlooker@'), SCHEMAS.index, folder);
      await look();
      put('0003_further.pg.sql', 'UPDATE first SET a = 8;');
      expect((await thrown(look())).message).to.include('permission denied for table migrations');
      rmSync(join(folder, '0003_further.pg.sql'));
      expect(await applied()).to.have.length(2);
    });

    it('leave nothing of a file that fails halfway', async () => {
      put('0003_broken.pg.sql', 'UPDATE first SET a = 7; INSERT INTO nowhere VALUES (1);');
      expect((await thrown(run())).message).to.include('nowhere');
      expect(await applied()).to.have.length(2);
      rmSync(join(folder, '0003_broken.pg.sql'));
    });

    it('refuse an edited file, a missing one, and a number out of order', async () => {
      put('0002_more.pg.sql', 'UPDATE first SET a = a + 2;');
      expect((await thrown(run())).message).to.include('was made with another version of the migration 0002_more');
      rmSync(join(folder, '0002_more.pg.sql'));
      expect((await thrown(run())).message).to.include(
        'was migrated by a newer release, which has the migration 0002_more',
      );
      put('0003_more.pg.sql', '');
      expect((await thrown(run())).message).to.include('should be number 0002');
    });
  });
});
