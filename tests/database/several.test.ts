/** Several processes on one PostgreSQL: which relays are alive, and which indexer keeps the index. */
import { expect } from 'chai';
import type { Kysely } from 'kysely';
import pino from 'pino';
import { connectPostgres, lockNumber, openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import { createSharedLeases } from '../../app/relay/ledger/sharedLeases.ts';
import type { LedgerTables } from '../../app/relay/ledger/tables.ts';
import { type Keeping, openAlone } from '../../indexer/queries/open.ts';
import type { IndexDatabase } from '../../indexer/queries/tables.ts';
import { until } from '../harness/edge/until.ts';
import { administer, freshPostgres, sharedPostgres } from '../harness/postgres.ts';

const log = pino({ level: 'silent' });
const LEASE_MS = 2_000;

describe('several processes on one PostgreSQL', () => {
  let url: string;
  before(async () => {
    url = await freshPostgres();
  });

  /** Cuts the connections whose last statement is LIKE this. */
  async function cut(statement: string): Promise<void> {
    const database = new URL(url).pathname.slice(1);
    await administer(
      await sharedPostgres(),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND query LIKE '${statement}'`,
    );
  }

  describe('relays', () => {
    let ledger: ReturnType<typeof openPostgres<LedgerTables>>;
    before(() => {
      ledger = openPostgres<LedgerTables>(url, { schema: SCHEMAS.ledger });
    });
    after(() => ledger.close());
    const leasesOf = (owner: string) => createSharedLeases(url, ledger.pool, owner, LEASE_MS);
    const aliveNow = async () => leasesOf('watcher').alive(0);
    const renewed = async () =>
      (await ledger.db.selectFrom('relays').select('alive_until_ms').executeTakeFirstOrThrow()).alive_until_ms;

    it('are alive for others while they renew a lease, whatever their clocks say, and dead once it ends', async () => {
      const end = await leasesOf('one').keep(log);
      expect(await aliveNow()).to.deep.equal(['one']);
      expect(await leasesOf('one').alive(0)).to.deep.equal([]);
      await end();
      expect(await aliveNow()).to.deep.equal([]);
    });

    it('give others time to renew their lease when they start soon after the database', async () => {
      const DAY_MS = 24 * 60 * 60_000;
      for (const [leaseMs, alive] of [
        [LEASE_MS, []],
        [DAY_MS, ['asleep']],
      ] as const) {
        await ledger.pool.query("INSERT INTO relays (owner, alive_until_ms) VALUES ('asleep', 1)");
        const fresh = createSharedLeases(url, ledger.pool, 'fresh', leaseMs);
        const end = await fresh.keep(log);
        await until('as many are alive', async () => (await fresh.alive(0)).length === alive.length);
        expect(await fresh.alive(0)).to.deep.equal(alive);
        await end();
      }
    });

    it('renew their lease, and take their lock again after the connection was cut', async () => {
      const end = await leasesOf('cut').keep(log);
      const first = await renewed();
      await cut('INSERT INTO relays%');
      await until('it renews the lease', async () => (await renewed()) > first);
      expect(await aliveNow()).to.deep.equal(['cut']);
      await end();
    });

    it('renew their lease while their lost connection holds the lock, and take it when it is free', async () => {
      const lost = await connectPostgres(url, SCHEMAS.ledger);
      const lock = String(lockNumber('relay patient'));
      await lost.query('SELECT pg_advisory_lock($1)', [lock]);
      const end = await leasesOf('patient').keep(log);
      const first = await renewed();
      await until('it renews the lease', async () => (await renewed()) > first);
      await lost.end();
      const isFree = async () =>
        (await ledger.pool.query('SELECT pg_try_advisory_xact_lock($1) AS free', [lock])).rows[0].free === true;
      await until('it takes the lock', async () => !(await isFree()));
      await end();
      await until('it leaves the lock', isFree);
    });

    it('give others time to reconnect after their own connection was lost', async () => {
      // Long, so that a pause of this process does not outlast the time in which the other counts as alive.
      const leases = createSharedLeases(url, ledger.pool, 'one', 15_000);
      const end = await leases.keep(log);
      await ledger.db.insertInto('relays').values({ owner: 'two', alive_until_ms: 0n }).execute();
      await until('it has begun to judge', async () => (await leases.alive(0)).length === 0);
      await cut('%pg_try_advisory_lock%');
      await cut('INSERT INTO relays%');
      await until('the silent one counts as alive', async () => (await leases.alive(0)).includes('two'));
      await until('it does no longer', async () => (await leases.alive(0)).length === 0);
      await end();
      await ledger.db.deleteFrom('relays').execute();
    });

    it('are dead after a kill even before their lease expires, because nobody holds their lock', async () => {
      // The lease of a process without a connection, renewed some time ago.
      const aliveUntil = Date.now() + LEASE_MS * 0.55;
      await ledger.db
        .insertInto('relays')
        .values({ owner: 'killed', alive_until_ms: BigInt(aliveUntil) })
        .execute();
      expect(await aliveNow()).to.deep.equal([]);
      await ledger.db.deleteFrom('relays').execute();
    });
  });

  describe('indexers', () => {
    const events: string[] = [];
    const keeping = (name: string, stop = new AbortController().signal): Keeping => ({
      stop,
      onStandby: () => void events.push(`${name} stands by`),
      onLost: () => void events.push(`${name} lost it`),
    });
    beforeEach(() => void events.splice(0));

    it('learn that their lock is lost with the connection, and the second takes over', async () => {
      const first = await openAlone(url, keeping('first'));
      const waiting = openAlone(url, keeping('second'));
      await until('the second stands by', () => events.includes('second stands by'));
      // Only the first indexer holds a lock.
      await administer(
        await sharedPostgres(),
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted",
      );
      const second = await waiting;
      await until('the first is told', () => events.includes('first lost it'));
      // If the first indexer continues anyway, it can write neither in a transaction nor outside of one.
      const insert = (db: Kysely<IndexDatabase>) =>
        db.insertInto('cursor').values({ id: 1n, signature: 'late', slot: 1n }).execute();
      const refused = (writing: Promise<unknown>) => writing.then(() => 'written', String);
      expect(await refused(first!.db.transaction().execute(insert))).to.include(
        'holds the lock of the indexer was lost',
      );
      expect(await refused(insert(first!.db))).to.include('read-only');
      expect(await refused(second!.db.transaction().execute(insert))).to.equal('written');
      await second?.close();
      await first?.close();
    });

    it('stop waiting when the standby is stopped', async () => {
      const first = await openAlone(url, keeping('first'));
      const stopping = new AbortController();
      const waiting = openAlone(url, keeping('second', stopping.signal));
      await until('the second stands by', () => events.includes('second stands by'));
      stopping.abort();
      expect(await waiting).to.equal(null);
      await first?.close();
    });
  });
});
