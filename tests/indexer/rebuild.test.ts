/**
 * Rebuilding the index while everything runs, its hash on the command line, and a node that answers with Retry-After.
 */
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Kysely, sql } from 'kysely';
import { openDatabase } from '../../app/database/open.ts';
import { readTogether } from '../../app/database/portable.ts';
import { connectPostgres, openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import type { Indexer } from '../../indexer/indexer.ts';
import type { AttachedIndex } from '../../indexer/queries/tables.ts';
import { serve } from '../harness/edge/listen.ts';
import { until } from '../harness/edge/until.ts';
import { onPostgres } from '../harness/postgres.ts';
import { change, dump, type Row, runIndexer, useBench } from './harness.ts';

const EXECUTIONS = 30;
/** Must never be printed. */
const PASSWORD = 'hidden-password';

/** The server needs no password and accepts any. */
function withPassword(place: string): string {
  if (!onPostgres) return place;
  const url = new URL(place);
  url.password = PASSWORD;
  return url.href;
}

/** The printed form of the index's location. */
function printedPlace(place: string): string {
  if (!onPostgres) return place;
  const { hostname, port, pathname } = new URL(place);
  return `${hostname}:${port}${pathname}`;
}

describe('indexer, rebuild and hash', function () {
  this.timeout(600_000);
  const { market, bench } = useBench();
  let indexer: Indexer;
  const path = () => bench.path('live.db');

  const run = async (...args: string[]) => {
    const { code, stdout, output } = await runIndexer(market.node, withPassword(path()), ...args).exited;
    expect(output).to.not.include(PASSWORD);
    return { code, output: stdout };
  };
  const hash = () => bench.hash('live.db');

  before(async () => {
    await market.list();
    await market.run(EXECUTIONS, await market.grant());
    indexer = await bench.start('live.db');
    await bench.catchUp(indexer);
  });
  it('prints the hash, with the last transaction as JSON', async () => {
    const [expected, plain, json] = [await hash(), await run('hash'), await run('hash', '--json')];
    expect(plain).to.deep.equal({ code: 0, output: `${expected}\n` });
    const [cursor] = (await dump(path())).cursor!;
    expect(JSON.parse(json.output)).to.deep.equal({
      hash: expected,
      cursor: { signature: cursor!.signature, slot: Number(cursor!.slot) },
    });
    const clean = await bench.backfill('clean.db');
    expect(clean.executions).to.have.length((await dump(path())).executions!.length);
    expect(await bench.hash('clean.db')).to.equal(expected);
  });

  /** Reads like a relay: over a long-lived connection, with prepared statements, several in one snapshot. */
  function openReader() {
    const ledger = onPostgres ? openPostgres<AttachedIndex>(path(), { schema: SCHEMAS.ledger, max: 2 }) : attach();
    const value = async (db: Kysely<AttachedIndex>, what: string) =>
      Number(Object.values((await sql<Row>`SELECT ${sql.raw(what)} WHERE ${1n} = ${1n}`.execute(db)).rows[0]!)[0]);
    return {
      close: () => ledger.close(),
      /** The ids of agents. Relays ask only for later ones than they have seen. */
      ids: async () => [
        await value(ledger.db, '(SELECT min(id) FROM chain.agents)'),
        await value(ledger.db, '(SELECT max(id) FROM chain.agents)'),
      ],
      poll: () =>
        readTogether(ledger.db, async (moment) => ({
          prices: await value(moment, '(SELECT count(DISTINCT price) FROM chain.executions)'),
          executions: await value(moment, '(SELECT count(*) FROM chain.executions)'),
          ended: await value(moment, "(SELECT count(*) FROM chain.executions WHERE status <> 'open')"),
          counted: await value(moment, '(SELECT sum(ended_executions) FROM chain.agent_statistics)'),
        })),
    };
  }

  function attach() {
    return openDatabase<AttachedIndex>(':memory:', { attach: { chain: path() } });
  }

  it('replaces the tables while indexer and reader run; the reader sees only old rows or only new rows', async () => {
    const right = await hash();
    await change(path(), 'UPDATE executions SET price = price + 1');
    expect(await hash()).to.not.equal(right);

    const reader = openReader();
    const [, before] = await reader.ids();
    const { executions: least } = await reader.poll();
    let looks = 0;
    let isOver = false;
    const watched = (async () => {
      while (!isOver) {
        const { prices, executions, ended, counted } = await reader.poll();
        expect([prices, executions, counted]).to.deep.equal([1, least, ended]);
        looks += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const { code, output } = await run('rebuild', '--json').finally(() => {
      isOver = true;
    });
    await watched;
    expect([code, JSON.parse(output).path]).to.deep.equal([0, printedPlace(path())]);
    expect(looks).to.be.greaterThan(10);
    expect(await hash()).to.equal(right);
    expect((await reader.ids())[0]).to.be.above(before!);

    const opened = await market.open();
    await until('followed after it', async () =>
      (await dump(path())).executions!.some(({ open_signature }) => open_signature === opened.signature),
    );
    expect((await reader.poll()).executions).to.equal(least + 1);
    await reader.close();
  });

  it('names the processes that block it, and continues when they release the tables', async function () {
    if (!onPostgres) this.skip();
    const present = await hash();
    const holder = await connectPostgres(path(), SCHEMAS.ledger);
    await holder.query("SET application_name = 'a forgotten shell'");
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM chain.executions LIMIT 1');
    const { child, exited, output } = runIndexer(market.node, path(), 'rebuild');
    await until('it says so', () => /pid \d+ \(a forgotten shell, idle in transaction for \d+ s\)/.test(output()));
    expect(child.exitCode).to.equal(null);
    await holder.end();
    expect((await exited).code).to.equal(0);
    expect(await hash()).to.equal(present);
  });

  it('retries a node that answers 429 after its Retry-After, and not before', async () => {
    /** By the bytes of a request: the time of its refusal. `waits` holds the milliseconds until it was repeated. */
    const refused = new Map<string, number>();
    const waits: number[] = [];
    const { url: rpcUrl, close } = await serve(async (request, response) => {
      const body = await text(request);
      const at = refused.get(body);
      if (at === undefined && body.includes('getTransaction') && refused.size < 5) {
        refused.set(body, performance.now());
        response.writeHead(429, { 'retry-after': '1' }).end('Too Many Requests');
        return;
      }
      if (at !== undefined) waits.push(performance.now() - at);
      const answer = await fetch(market.node.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    try {
      const patient = await bench.backfill('patient.db', { rpcUrl });
      expect(patient.events).to.deep.equal((await dump(path())).events);
      expect(waits).to.have.length(5);
      // Timers can fire slightly early.
      for (const wait of waits) expect(wait).to.be.greaterThan(950);
    } finally {
      close();
    }
  });
});
