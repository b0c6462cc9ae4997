/** Rate limit counters shared by several relays on one PostgreSQL. */
import { expect } from 'chai';
import pino from 'pino';
import { createTrialLimits } from '../../app/relay/agents/trial.ts';
import { createSharedLimits, type Limits } from '../../app/relay/ledger/limits.ts';
import { startProxy, type TcpProxy } from '../harness/edge/proxy.ts';
import { until } from '../harness/edge/until.ts';
import { administer, freshPostgres, sharedPostgres } from '../harness/postgres.ts';

/** Trials of one endpoint in ten minutes. */
const LIMIT = 10;
const ENDPOINT = `https://creator.example/${'long/'.repeat(40)}execute`;

describe('limits of two relays on one PostgreSQL', () => {
  let url: string;
  /** In front of the second relay's database. */
  let proxy: TcpProxy;
  let relays: Limits[];
  let counters: ReturnType<typeof createTrialLimits>['endpoint'][];

  before(async () => {
    url = await freshPostgres();
    // An empty database is enough: the counters are exchanged without tables.
    proxy = await startProxy(url);
    const byProxy = new URL(url);
    byProxy.host = new URL(proxy.url).host;
    relays = [url, byProxy.href].map((way, at) => createSharedLimits(way, `relay ${at}`, pino({ level: 'silent' })));
    counters = relays.map((limits) => createTrialLimits(limits).endpoint);
    await untilBothHear('hello');
  });
  after(async () => {
    for (const limits of relays) await limits.end();
    await proxy.close();
  });

  const consumed = async (counter: number, client: string) =>
    (await counters[counter]!.get(client))?.consumedPoints ?? 0;
  const take = (counter: number, client = ENDPOINT) =>
    counters[counter]!.consume(client).then(
      () => 'taken',
      () => 'refused',
    );

  /** Waits until `to` has heard of something that `from` has just admitted. */
  async function untilHeard(from: 0 | 1, to: 0 | 1, what: string): Promise<void> {
    let asked = 0;
    await until(`${to} hears of ${from}`, async () => {
      asked += 1;
      const client = `${what} ${from} ${asked}`;
      await take(from, client);
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (let one = 1; one <= asked; one += 1) if ((await consumed(to, `${what} ${from} ${one}`)) > 0) return true;
      return false;
    });
  }
  async function untilBothHear(what: string): Promise<void> {
    await untilHeard(0, 1, what);
    await untilHeard(1, 0, what);
  }

  it('admit together as much as one relay would', async () => {
    for (let n = 0; n < 6; n += 1) expect(await take(0)).to.equal('taken');
    for (let n = 6; n < LIMIT; n += 1) expect(await take(1)).to.equal('taken');
    const hash = await nameOfLong();
    for (const counter of [0, 1]) await until('all is counted', async () => (await consumed(counter, hash)) === LIMIT);
    expect([await take(0), await take(1)]).to.deep.equal(['refused', 'refused']);
    expect([await take(0, 'another'), await take(1, 'another')]).to.deep.equal(['taken', 'taken']);
  });

  it('continue after their connections were cut', async () => {
    const database = new URL(url).pathname.slice(1);
    await administer(
      await sharedPostgres(),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
    );
    await untilBothHear('again');
  });

  it('notice that the connection to the database is silent, even when they have nothing to write', async () => {
    proxy.stall();
    proxy.restore();
    await untilHeard(0, 1, 'nothing told');
    proxy.stall();
    await take(1, 'told into the silence');
    proxy.restore();
    await untilBothHear('told');
  });
});

/** Limits use this hash instead of the long name. */
async function nameOfLong(): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(ENDPOINT));
  return Buffer.from(digest).toString('base64url');
}
