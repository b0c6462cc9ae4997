/**
 * Two relays, each with its own authority, a working and a standby indexer, and one PostgreSQL, with many calls in
 * progress. The indexer is killed, the database fails in every possible way, and a relay is stopped for longer than its
 * lease. A killed relay is in kills/kills, revoked keys are in calls/keys, a paused agent in calls/idempotency, and a call
 * that another relay has ended in kills/recovery.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { isPostgresUrl } from '../../../app/database/postgres.ts';
import { PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { openPlace } from '../../../indexer/queries/open.ts';
import { verify } from '../../../indexer/verify/verify.ts';
import { until } from '../../harness/edge/until.ts';
import { takeAllConnections } from '../../harness/exhaust.ts';
import { type RelayHandle, request, type TestMarketplace } from '../../harness/node/marketplace.ts';
import { type SeveralRelays, startSeveralRelays } from '../../harness/node/severalRelays.ts';
import { onPostgres, sharedPostgres } from '../../harness/postgres.ts';
import { survive } from './survival.ts';
import { startWitness, type Witness } from './witness.ts';

/** Longer than two renewals of a lease. All relays have been silent, and none may conclude that another is dead. */
const LONG_AWAY_MS = 8_000;

/** The events that the webhook gets for an execution, by the final state of its row. */
const EVENTS: Record<string, string> = {
  settled: 'pending,running,completed',
  refunded: 'pending,running,failed',
  void: 'failed',
};

// Only on PostgreSQL: a SQLite ledger and its relays are on one machine. recovery.test.ts tests two of those.
if (onPostgres) {
  describe('two relays on one PostgreSQL', function () {
    // Calls that a failed test leaves would disturb the next test.
    this.bail(true);
    this.timeout(900_000);
    let several: SeveralRelays;
    let market: TestMarketplace;
    let witness: Witness;
    const relays = [] as unknown as [RelayHandle, RelayHandle];
    // Their logs about a missing database are long.
    const start = (number: number) => several.startRelay(number, { LOG_LEVEL: process.env.TEST_LOG ?? 'silent' });

    before(async () => {
      several = await startSeveralRelays({ slotTimeMs: 150, timeoutSeconds: 600 });
      market = several.market;
      [relays[0], relays[1]] = await Promise.all([start(0), start(1)]);
      witness = await startWitness(market, relays[0].url);
    });
    after(async () => {
      witness?.stop();
      await Promise.all(relays.map((relay) => relay.kill()));
      await several.stop();
    });

    const survivors = () => ({ market, relays: () => relays });
    const apiKey = () => market.callers[0]!.apiKey;

    /** Resolves when both relays report that their database is away. */
    async function untilAway(): Promise<void> {
      for (const { url } of relays) {
        await until('a relay says that the database is away', async () => {
          const { status, body } = await request(url, '/v1/executions', { apiKey: apiKey() });
          return status === 503 && body.error.code === 'service_unavailable';
        });
      }
    }

    it('survive the kill of the active indexer, and the standby keeps the index current', () =>
      survive(survivors(), { name: 'the indexer killed', loses: null, disturb: () => several.indexers.killWorking() }));

    it('survive the kill of PostgreSQL for longer than their lease, and take no executions from each other', () =>
      survive(survivors(), {
        name: 'the database killed',
        loses: null,
        async disturb() {
          const database = await sharedPostgres();
          await database.kill();
          await Promise.all([untilAway(), sleep(LONG_AWAY_MS)]);
          await database.start();
        },
      }));

    it('survive a PostgreSQL with no free connection', () =>
      survive(survivors(), {
        name: 'out of connections',
        loses: null,
        async disturb() {
          const release = await takeAllConnections((await sharedPostgres()).url('postgres'), ['marketplace%']);
          await untilAway();
          await release();
        },
      }));

    it('survive a relay that is stopped for longer than its lease and then continues', () =>
      survive(survivors(), {
        name: 'a relay frozen',
        loses: 0,
        async disturb() {
          const [frozen] = relays;
          frozen.process!.kill('SIGSTOP');
          const rows = "FROM executions WHERE state NOT IN ('settled', 'refunded', 'void')";
          const owners = async () => (await market.query('ledger', `SELECT DISTINCT lease_owner ${rows}`)).length;
          await until('what it left has ended elsewhere', async () => (await owners()) === 0, 120_000, owners);
          frozen.process!.kill('SIGCONT');
        },
      }));

    it('report every event of each execution to its webhook at least once, in order, whatever was taken from them', async () => {
      const ended = await market.query('ledger', 'SELECT execution_id, state FROM executions');
      expect(ended).to.not.be.empty;
      const wrong = () =>
        ended
          .map(({ execution_id: id, state }) => ({ id, state, heard: witness.heardOf(String(id)).join() }))
          .filter(({ state, heard }) => heard !== EVENTS[String(state)]);
      await until(
        'every end is reported',
        async () => wrong().length === 0,
        undefined,
        () => wrong().length,
      );
      expect(witness.faults).to.deep.equal([]);
    });

    it('leave an index that agrees with the chain', async () => {
      await several.indexers.working();
      expect(isPostgresUrl(market.indexPlace)).to.equal(true);
      const { db, close } = await openPlace(market.indexPlace);
      try {
        const { connection } = market.node;
        const found = async () => (await verify({ db, connection, programId: PROGRAM_ID })).differences;
        await until('the index is as the chain', async () => (await found()).length === 0);
      } finally {
        await close();
      }
    });
  });
}
