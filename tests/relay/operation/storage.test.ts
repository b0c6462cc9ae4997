/** A disk that fills up, and a storage of results that hangs: running calls end, and new ones begin once there is room. */
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import type { CompiledQuery } from 'kysely';
import pino from 'pino';
import type { GroupCommit } from '../../../app/database/groupCommit.ts';
import { shareLock, takeLock } from '../../../app/database/lock.ts';
import { openDatabase } from '../../../app/database/open.ts';
import { droppedLines, logToFile } from '../../../app/process/logDestination.ts';
import { ledgerPath } from '../../../app/relay/config.ts';
import { createStorage } from '../../../app/relay/operation/storage.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';
import { afterPaying, figuresOf, goodAnswer, PRICE, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { type Storage, startStorage } from '../../harness/storage.ts';

const query = (sql: string, ...parameters: unknown[]) => ({ sql, parameters }) as unknown as CompiledQuery;

describe('the lock files of a data folder', () => {
  const folder = useFolder('locks');

  it('are private, also those that an older version left, and in a folder that all may read', () => {
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'old.lock'), '', { mode: 0o644 });
    writeFileSync(join(folder, 'old.lock.pid'), '1', { mode: 0o644 });
    for (const lock of [takeLock(join(folder, 'old.lock')), takeLock(join(folder, 'new.lock'))]) lock.release();
    shareLock(join(folder, 'shared.lock')).release();
    const files = readdirSync(folder).sort();
    expect(files).to.deep.equal(['new.lock', 'new.lock.pid', 'old.lock', 'old.lock.pid', 'shared.lock']);
    expect(files.map((file) => statSync(join(folder, file)).mode & 0o777)).to.deep.equal(files.map(() => 0o600));
  });
});

describe('room for the ledger', () => {
  const folder = useFolder('storage');

  function stand(minFree = 100) {
    const state = { free: 1_000 as number | Error, at: 0, told: [] as boolean[] };
    const storage = createStorage({
      async readFree() {
        if (state.free instanceof Error) throw state.free;
        return state.free;
      },
      minFree,
      onChange: (isLow) => state.told.push(isLow),
      log: pino({ level: 'silent' }),
      now: () => state.at,
    });
    return { state, storage };
  }

  it('is too little below the limit, and each change is reported once', async () => {
    const { state, storage } = stand();
    for (const free of [1_000, 99, 98, 100, 1_000]) {
      state.free = free;
      await storage.poll();
    }
    expect(state.told).to.deep.equal([true, false]);
    state.free = new Error('away');
    expect(await storage.poll().catch(String)).to.equal('Error: away');
    expect(state.told).to.deep.equal([true, false]);
  });

  for (const code of ['SQLITE_FULL', 'ENOSPC', '53100']) {
    it(`is used up when a write fails with ${code}, until writes succeed for 15 seconds`, async () => {
      const { state, storage } = stand(0);
      let fault: Error | null = Object.assign(new Error('full'), { code });
      const write = async () => {
        if (fault) throw fault;
        return { changes: 1, rows: [] };
      };
      const rest = { intendAll: async () => void (await write()), commits: () => 0 };
      const writes: GroupCommit = { intend: write, note: write, underLocks: async () => [await write()], ...rest };
      const heard = storage.listenTo(writes);
      for (const attempt of [
        heard.intend(query('')),
        heard.intendAll([]),
        heard.note(query('')),
        heard.underLocks([], []),
      ]) {
        expect(await attempt.catch((error: unknown) => error)).to.equal(fault);
      }
      expect(state.told).to.deep.equal([true]);
      state.at = 14_999;
      await storage.poll();
      expect(state.told).to.deep.equal([true]);
      state.at = 15_000;
      await storage.poll();
      expect(state.told).to.deep.equal([true, false]);
      fault = Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' });
      expect(await heard.note(query('')).catch((error: unknown) => error)).to.equal(fault);
      expect(state.told).to.deep.equal([true, false]);
    });
  }

  it('is in files for their owner alone, in a folder that others may read and with a file that they could', () => {
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'older.db'), '', { mode: 0o644 });
    for (const name of ['older.db', 'new.db']) {
      const { sqlite, close } = openDatabase(join(folder, name));
      sqlite.exec('CREATE TABLE kept (value TEXT)');
      const modes = readdirSync(folder).filter((file) => file.startsWith(name));
      expect(modes.map((file) => statSync(join(folder, file)).mode & 0o777)).to.deep.equal([0o600, 0o600, 0o600]);
      close();
    }
  });

  it('has its reason in the error when SQLite itself has undone a transaction', async () => {
    const { db, sqlite, close } = openDatabase(':memory:');
    try {
      sqlite.exec('CREATE TABLE kept (value TEXT UNIQUE)');
      const twice = db.transaction().execute(async (transaction) => {
        await transaction.executeQuery(query('INSERT INTO kept VALUES (?)', 'x'));
        await transaction.executeQuery(query('INSERT OR ROLLBACK INTO kept VALUES (?)', 'x'));
      });
      expect(await twice.catch((error: unknown) => error)).to.include({ code: 'SQLITE_CONSTRAINT_UNIQUE' });
      expect(sqlite.prepare('SELECT count(*) FROM kept').pluck().get()).to.equal(0n);
    } finally {
      close();
    }
  });
});

describe('a relay without room', () => {
  let relay: RunningRelay;
  let objects: Storage;
  /** The relay's writing connections to ledger.db. */
  const connections = new Set<Sqlite.Database>();
  const market = useMarketplace();
  before(async () => {
    const { pragma } = Sqlite.prototype;
    Sqlite.prototype.pragma = function (this: Sqlite.Database, ...given) {
      if (this.name === ledgerPath(market.dataDir) && !this.readonly) connections.add(this);
      return pragma.apply(this, given);
    };
    // Its log is on a full disk too, and its memory buffer is full.
    const log = logToFile('/dev/full');
    for (let line = 0; line < 3_000; line++) log.write(`${'x'.repeat(100)}\n`);
    relay = await startRelayHere(market, { SPONSOR: 'all', LOG_LEVEL: 'debug' }, log).finally(() => {
      Sqlite.prototype.pragma = pragma;
    });
  });
  after(async () => {
    await relay.stop();
    await objects?.stop();
  });

  const allow = (pages: number) => {
    for (const connection of connections) connection.pragma(`max_page_count = ${pages}`);
  };
  const execute = (body: object) => market.execute(relay.url, body);
  const problems = async (): Promise<string[]> => (await request(relay.url, '/ready')).body.problems;

  it('on its disk accepts nothing new, finishes running calls once there is space, and then accepts calls again', async () => {
    expect(connections.size).to.be.at.least(1);
    // Takes the pages that dropped tables left free within the file.
    [...connections][0]!.exec('CREATE TABLE filler AS SELECT zeroblob(1000000) AS bytes');
    const before = await market.balances();
    const droppedBefore = droppedLines();
    // When the creator answers, no page is left to store the result.
    market.setBehaviour((asked, _response, reply) => {
      allow(1);
      reply(goodAnswer(market.signingKey, asked.execution_id, 'r'.repeat(60_000)));
    });
    const first = execute({ task: 'begun' });
    await until('the relay knows', async () => (await problems()).includes('storage_low'));
    const during = await market.balances();
    const refusal = await execute({ task: 'new' });
    expect([refusal.status, refusal.body.error.code], refusal.text).to.deep.equal([503, 'service_unavailable']);
    expect(refusal.body.error.execution_id).to.equal(null);
    expect(refusal.headers.get('retry-after')).to.equal('30');
    expect(await market.balances()).to.deep.equal(during);
    market.setBehaviour(null);
    allow(1_000_000);
    const answer = await first;
    expect(answer.status, answer.text).to.equal(200);
    const after = await market.balances();
    expect(after).to.deep.equal(afterPaying(before));
    await until('the relay is ready again', async () => (await problems()).length === 0);
    expect((await execute({ task: 'next' })).status).to.equal(200);
    expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - 2n * PRICE);
    const [dropped] = await figuresOf(relay.url, 'marketplace_log_lines_dropped_total');
    expect(dropped).to.be.above(droppedBefore);
  });

  it('in a storage that hangs serves, settles, answers from the ledger, stops, and moves results once it is back', async () => {
    const text = 'r'.repeat(100_000);
    market.setBehaviour(({ execution_id }, _, reply) => reply(goodAnswer(market.signingKey, execution_id, text)));
    objects = await startStorage();
    const { endpoint, bucket, accessKeyId, secretAccessKey } = objects.settings;
    const place = { S3_ENDPOINT: endpoint, S3_BUCKET: bucket };
    const keys = { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey };
    const start = async () => {
      relay = await startRelayHere(market, { SPONSOR: 'all', ...place, ...keys });
    };
    await relay.stop();
    await start();
    objects.state.weather = 'hangs';
    const before = await market.balances();
    const first = await execute({ task: 'large' });
    expect(first.status, first.text.slice(0, 300)).to.equal(200);
    await until('it asks the storage', () => objects.state.held > 0);
    const second = await execute({ task: 'large' });
    expect(second.status, second.text.slice(0, 300)).to.equal(200);
    expect(await market.balances()).to.deep.equal(afterPaying(before, 2n));
    const requireBoth = async () => {
      for (const { body } of [first, second]) {
        const record = await market.read(relay.url, body.execution_id);
        expect([record.status, record.body.result === text]).to.deep.equal([200, true]);
      }
    };
    await requireBoth();
    await relay.stop();
    objects.state.weather = 'fair';
    await start();
    const ids = [first, second].map(({ body }) => `'${body.execution_id}'`).join();
    const stored = `SELECT 1 FROM results WHERE object_stored = 1 AND execution_id IN (${ids})`;
    await until('both are in the storage', async () => (await market.query('ledger', stored)).length === 2);
    await requireBoth();
  });
});
