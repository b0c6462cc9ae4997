/**
 * Two indexer processes on one PostgreSQL. The standby takes over when the other is stopped, and one of them continues
 * after PostgreSQL itself was down. The tables end up equal to those of a clean backfill. A stopped indexer that resumes
 * writes nothing. tests/relay/kills kills one.
 */
import type { ChildProcess } from 'node:child_process';
import { expect } from 'chai';
import type pg from 'pg';
import pino from 'pino';
import { connectPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import { createIndexer } from '../../indexer/indexer.ts';
import { openPlace } from '../../indexer/queries/open.ts';
import { hashIndex } from '../../indexer/verify/hash.ts';
import { until } from '../harness/edge/until.ts';
import { takeAllConnections } from '../harness/exhaust.ts';
import { freshPostgres, sharedPostgres } from '../harness/postgres.ts';
import { runIndexer } from '../indexer/harness.ts';
import { type Market, startMarket } from '../indexer/market.ts';

const STANDS_BY = 'this one stands by';
const IS_AWAY = 'the database is out of reach';

/** Logs which indexer wrote to which table of the index, in order. Writes that are rolled back are not logged. */
const WATCH = `CREATE TABLE public.writes (id BIGINT GENERATED ALWAYS AS IDENTITY, who TEXT NOT NULL, at TEXT NOT NULL);
  CREATE FUNCTION public.watch() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.writes (who, at) VALUES (current_setting('application_name'), TG_TABLE_NAME);
    RETURN NULL;
  END $$;
  DO $$ DECLARE name TEXT; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'chain' LOOP
      EXECUTE format('CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON chain.%I
        FOR EACH STATEMENT EXECUTE FUNCTION public.watch()', name);
    END LOOP;
  END $$`;

describe('a standby indexer', () => {
  const children = new Set<ChildProcess>();
  let market: Market;
  let keyId: Uint8Array;
  let url: string;
  let own: pg.Client;

  before(async () => {
    market = await startMarket();
    await market.list();
    keyId = await market.grant();
  });
  beforeEach(async () => {
    url = await freshPostgres();
    own = await connectPostgres(url, SCHEMAS.index);
    await own.query(WATCH);
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
    await own?.end();
  });
  after(() => market?.node.stop());

  /** An indexer with this application name on PostgreSQL. */
  function start(name: string) {
    const run = runIndexer(market.node, `${url}?application_name=${name}`);
    children.add(run.child);
    const times = (text: string) => run.output().split(text).length - 1;
    return { ...run, times, hasSaid: (text: string) => times(text) > 0 };
  }

  const count = async (from: string, values: unknown[] = []) =>
    Number((await own.query(`SELECT count(*) AS n FROM ${from}`, values)).rows[0].n);
  const writesOf = (name: string) => count('public.writes WHERE who = $1', [name]);
  const executions = () => count('executions');
  const namesIn = async (query: string, values: unknown[] = []) =>
    (await own.query<{ who: string }>(`SELECT DISTINCT who FROM (${query}) AS w ORDER BY who`, values)).rows.map(
      ({ who }) => who,
    );
  const writersAfter = (id: bigint) => namesIn('SELECT who FROM public.writes WHERE id > $1', [id]);
  /** The indexers that hold an exclusive advisory lock. */
  const keepers = () =>
    namesIn(`SELECT application_name AS who FROM pg_stat_activity JOIN pg_locks USING (pid)
      WHERE datname = current_database() AND locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted`);

  async function startTwo() {
    const one = start('one');
    await until('the first one keeps the index', async () => (await writesOf('one')) > 0);
    const two = start('two');
    await until('the second one stands by', () => two.hasSaid(STANDS_BY));
    expect(await writesOf('two')).to.equal(0);
    return { one, two };
  }

  /** Acts while the market is running, after the first indexer has written a part of it. */
  async function inTheMiddle(act: () => void): Promise<void> {
    const before = await executions();
    const going = market.run(20, keyId);
    await until('the first one is at work', async () => (await executions()) > before + 3);
    act();
    await going;
  }

  async function hashOf(place: string): Promise<string> {
    const { db, close } = await openPlace(place);
    try {
      return await hashIndex(db);
    } finally {
      await close();
    }
  }

  async function requireWhole(): Promise<void> {
    const { rpcUrl, wsUrl, connection } = market.node;
    const path = await freshPostgres();
    const clean = createIndexer({ rpcUrl, wsUrl, path, log: pino({ level: 'silent' }) });
    await clean.start();
    try {
      await clean.caughtUpTo(await connection.getSlot('confirmed'), 240_000);
    } finally {
      await clean.stop();
    }
    const whole = await hashOf(path);
    await until('the tables are those of a clean backfill', async () => (await hashOf(url)) === whole);
  }

  it('takes over from a stopped indexer, which writes nothing afterwards and becomes the standby', async () => {
    const { one, two } = await startTwo();
    await inTheMiddle(() => one.child.kill('SIGSTOP'));
    await until('the second one writes', async () => (await writesOf('two')) > 0);
    await requireWhole();

    one.child.kill('SIGCONT');
    await until('the first one stands by', () => one.hasSaid(STANDS_BY));
    await market.run(3, keyId);
    await requireWhole();
    const late = "public.writes WHERE who = 'one' AND id > (SELECT min(id) FROM public.writes WHERE who = 'two')";
    expect(await count(late)).to.equal(0);

    const before = await writesOf('one');
    two.child.kill('SIGTERM');
    expect(await two.exited).to.include({ code: 0, signal: null });
    await market.run(3, keyId);
    await requireWhole();
    expect(await writesOf('one')).to.be.greaterThan(before);
    one.child.kill('SIGTERM');
    expect(await one.exited).to.include({ code: 0, signal: null });
  });

  it('leaves one active indexer after PostgreSQL was killed, stopped, and out of connections', async () => {
    const server = await sharedPostgres();
    const both = Object.values(await startTwo());
    const outages: ((untilSeen: () => Promise<void>) => Promise<void>)[] = [
      async (untilSeen) => {
        await server.kill();
        await untilSeen();
        await server.start();
      },
      async (untilSeen) => {
        await server.stop();
        await untilSeen();
        // Takes longer than the pause between the indexers' attempts.
        await market.run(10, keyId);
        await server.start();
      },
      async (untilSeen) => {
        const release = await takeAllConnections(server.url('postgres'), ['one', 'two']);
        await untilSeen();
        await market.run(3, keyId);
        await release();
      },
    ];
    for (const outage of outages) {
      const told = both.map(({ times }) => times(IS_AWAY));
      const untilSeen = () =>
        until('both wait for the database', () => both.every(({ times }, at) => times(IS_AWAY) > told[at]!));
      let ended: Promise<void> | null = null;
      await inTheMiddle(() => {
        ended = outage(untilSeen);
      });
      await ended;
      await own.end().catch(() => undefined);
      own = await connectPostgres(url, SCHEMAS.index);
      await until('one keeps the index', async () => (await keepers()).length > 0);
      const [keeper, ...others] = await keepers();
      expect(others).to.deep.equal([]);
      const { rows } = await own.query('SELECT coalesce(max(id), 0) AS last FROM public.writes');
      await market.run(3, keyId);
      await requireWhole();
      expect(await writersAfter(rows[0].last)).to.deep.equal([keeper]);
      expect(both.map(({ child }) => child.exitCode)).to.deep.equal([null, null]);
    }
    for (const { child } of both) child.kill('SIGTERM');
    for (const { exited } of both) expect(await exited).to.include({ code: 0, signal: null });
  });
});
