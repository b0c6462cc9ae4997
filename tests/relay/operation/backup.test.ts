/** Copies of the ledger made while the relay works, and the day on which one of them is all that is left. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import bs58 from 'bs58';
import { expect } from 'chai';
import { openDatabase } from '../../../app/database/open.ts';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import { backUp, checkTarget } from '../../../app/relay/ledger/backup.ts';
import type { LedgerDatabase } from '../../../app/relay/ledger/tables.ts';
import { reconcile } from '../../../app/relay/reconcile/sweep.ts';
import {
  accountDiscriminator,
  PROGRAM_ID,
  RECORD_OFFSETS,
  RECORD_STATUS_BYTE,
} from '../../../app/sdk/program/program.ts';
import {
  FEE,
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { FORGETFUL } from '../../harness/node/relayHere.ts';
import { runRelayCommand } from '../../harness/node/relayMain.ts';

const PATIENCE_MS = 60_000;

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error(`${what} did not happen within ${PATIENCE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a backup of the ledger', function () {
  this.timeout(180_000);
  let market: TestMarketplace;
  let folder: string;

  before(async () => {
    market = await startMarketplace();
    folder = mkdtempSync(join(tmpdir(), 'backup-'));
  });
  after(async () => {
    await market.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const execute = (url: string, body: Record<string, unknown>) =>
    request(url, `/v1/agents/${market.agentId}/execute`, { apiKey: market.callers[0]!.apiKey, body });
  it('is whole and private, and made while calls go on', async () => {
    let ended = false;
    const calls = (async () => {
      let done = 0;
      while (!ended) {
        expect((await execute(market.relay.url, { task: `during ${done}` })).status).to.equal(200);
        done += 1;
      }
      return done;
    })();
    const file = join(folder, 'first.db');
    const { status, stdout, stderr } = await runRelayCommand(market, ['backup', file, '--json']);
    ended = true;
    expect(await calls).to.be.greaterThan(0);
    expect([status, stderr]).to.deep.equal([0, '']);
    const report = JSON.parse(stdout);
    expect(report).to.include({ file, bytes: statSync(file).size, api_keys: 2, metadata: 1 });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder)).to.deep.equal(['first.db']);
    const copy = new Sqlite(file, { readonly: true });
    expect(copy.pragma('integrity_check', { simple: true })).to.equal('ok');
    expect(copy.prepare('SELECT count(*) FROM executions').pluck().get()).to.equal(report.executions);
    copy.close();
  });

  it('replaces an older one, but nothing of the relay’s own', async () => {
    const file = join(folder, 'first.db');
    const plain = await runRelayCommand(market, ['backup', file]);
    expect(plain.status).to.equal(0);
    expect(plain.stdout).to.match(/first\.db: \d+ bytes, \d+ executions, checked\n$/);
    const before = readFileSync(ledgerPath(market.dataDir)).length;
    for (const [target, message] of [
      [ledgerPath(market.dataDir), /own file/],
      [`${ledgerPath(market.dataDir)}-wal`, /own file/],
      [join(market.dataDir, 'index.db'), /own file/],
      [folder, /is a folder/],
      [join(folder, 'nowhere', 'x.db'), /no folder/],
    ] as const) {
      expect(() =>
        checkTarget(target, { ledger: ledgerPath(market.dataDir), index: indexPath(market.dataDir) }),
      ).to.throw(message);
    }
    const refused = await runRelayCommand(market, ['backup', ledgerPath(market.dataDir)]);
    expect([refused.status, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/own file/);
    expect(readFileSync(ledgerPath(market.dataDir)).length).to.be.at.least(before);
    const nothing = await runRelayCommand(market, ['backup', file], { DATA_DIR: join(folder, 'empty') });
    expect([nothing.status, /There is no ledger/.test(nothing.stderr)]).to.deep.equal([1, true]);
    expect((await execute(market.relay.url, { task: 'still there' })).status).to.equal(200);
  });

  it('is not made of a damaged ledger, and an older copy stays', async () => {
    const damaged = join(folder, 'damaged');
    mkdirSync(damaged);
    const healthy = join(damaged, 'healthy.db');
    await backUp(ledgerPath(market.dataDir), healthy);
    const bytes = readFileSync(healthy);
    // Not the first page, without which SQLite would not even open it.
    bytes.fill(0xff, 4_096 * 3, 4_096 * 5);
    const broken = join(damaged, 'broken.db');
    writeFileSync(broken, bytes);
    const target = join(damaged, 'copy.db');
    writeFileSync(target, 'the older copy');
    const refusal = await backUp(broken, target).then(
      () => 'made',
      (error: Error) => error.message,
    );
    expect(refusal).to.match(/damaged|malformed/);
    expect(readFileSync(target, 'utf8')).to.equal('the older copy');
    expect(readdirSync(damaged).sort()).to.deep.equal(['broken.db', 'copy.db', 'healthy.db']);
  });

  it('tells how far it is', async () => {
    const seen: [number, number][] = [];
    await backUp(ledgerPath(market.dataDir), join(folder, 'progress.db'), (done, total) => seen.push([done, total]));
    const [done, total] = seen.at(-1)!;
    expect(total).to.be.greaterThan(0);
    expect(done).to.be.at.most(total);
  });
});

describe('the ledger lost, and an old backup restored', function () {
  this.timeout(180_000);
  let market: TestMarketplace;
  before(async () => {
    market = await startMarketplace();
  });
  after(() => market.stop());

  const apiKey = () => market.callers[0]!.apiKey;
  const execute = (url: string, body: Record<string, unknown>) =>
    request(url, `/v1/agents/${market.agentId}/execute`, { apiKey: apiKey(), body });
  const read = async (url: string, id: string) =>
    (await request(url, `/v1/executions/${id}`, { apiKey: apiKey() })).body;

  async function openRecords(): Promise<number> {
    const equal = (offset: number, bytes: Uint8Array) => ({ memcmp: { offset, bytes: bs58.encode(bytes) } });
    const filters = [
      equal(0, accountDiscriminator('ExecutionRecord')),
      equal(RECORD_OFFSETS.status, Uint8Array.of(RECORD_STATUS_BYTE.open)),
    ];
    return (await market.node.connection.getProgramAccounts(PROGRAM_ID, { commitment: 'confirmed', filters })).length;
  }

  it('every call ends, every balance is exact, and new calls are served', async () => {
    const { url } = market.relay;
    const start = await market.balances();
    const held = new Map<string, () => void>();
    market.setBehaviour((body, _response, reply) => {
      const answer = () => reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
      if (body.task.startsWith('failing')) reply(failedAnswer(body.execution_id));
      else if (body.task.startsWith('held')) held.set(body.execution_id, answer);
      else if (!body.task.startsWith('silent')) answer();
    });
    const begin = async (task: string, timeout_seconds = 60): Promise<string> => {
      const { body } = await execute(url, { task, async: true, timeout_seconds });
      const id = body.execution_id as string;
      await until(`the call of ${task}`, async () => (market.calls.get(id) === 1 ? id : null));
      return id;
    };

    // Known to the backup: one that has ended, and two that the creator is still busy with.
    const completed = (await execute(url, { task: 'before' })).body.execution_id as string;
    const endsAfter = await begin('held: ends after the backup');
    const endsLater = await begin('held: ends after the restore');
    const backup = join(market.dataDir, 'backup.db');
    expect((await runRelayCommand(market, ['backup', backup])).status).to.equal(0);

    // Not known to it: one paid, one refunded, and two that are open when the disk breaks.
    held.get(endsAfter)!();
    await until('its end', async () => ((await read(url, endsAfter)).status === 'completed' ? true : null));
    const lostCompleted = (await execute(url, { task: 'after' })).body.execution_id as string;
    const lostFailed = (await execute(url, { task: 'failing' })).body.error.execution_id as string;
    const lostOpen = [await begin('silent: one', 8), await begin('silent: two', 8)];
    await market.relay.kill();
    const lost = ledgerPath(market.dataDir);
    for (const suffix of ['', '-wal', '-shm']) rmSync(lost + suffix, { force: true });
    await copyFile(backup, lost);
    expect(await openRecords()).to.equal(3);

    // The dead relay has signed a moment ago what the backup does not know: sharedAuthority.test.ts waits until that is long ago.
    const restored = await market.startRelayProcess(FORGETFUL);
    try {
      // It serves, so it knows of every open record: those without a row are parked for their refund.
      const ledger = new Sqlite(lost, { readonly: true });
      const parked = ledger.prepare("SELECT execution_id FROM executions WHERE task = ''").pluck().all();
      ledger.close();
      expect(parked.sort()).to.deep.equal([...lostOpen].sort());
      for (const id of lostOpen) expect((await read(restored.url, id)).cost_usdc).to.equal(0.25);

      expect(await read(restored.url, completed)).to.include({ status: 'completed', result: 'done: before' });
      const forgotten = {
        status: 'completed',
        result: null,
        ipfs_url: null,
        cost_usdc: 0.25,
        creator_amount_usdc: 0.2475,
      };
      expect(await read(restored.url, lostCompleted)).to.include(forgotten);
      expect((await read(restored.url, lostCompleted)).result_hash).to.match(/^sha256:[0-9a-f]{64}$/);
      expect(await read(restored.url, lostFailed)).to.include({ status: 'failed', cost_usdc: 0, refund: 'done' });
      // Its row was older than its end.
      const caughtUp = await until('the row of a call that has ended', async () => {
        const body = await read(restored.url, endsAfter);
        return body.status === 'completed' ? body : null;
      });
      expect(caughtUp).to.include(forgotten);

      // The creator is asked again, under the same id, and paid once.
      await until('the second call', async () => ((market.calls.get(endsLater) ?? 0) > 1 ? true : null));
      held.get(endsLater)!();
      await until('its end', async () => ((await read(restored.url, endsLater)).status === 'completed' ? true : null));
      expect((await read(restored.url, endsLater)).result).to.equal('done: held: ends after the restore');
      // Another ledger's relay may still settle what this one does not know, until a minute before refund_at.
      const ends = await Promise.all(lostOpen.map(async (id) => Number((await market.record(id))!.refundAt)));
      await market.node.timeTravel(Math.max(...ends) - 59);
      for (const id of lostOpen) {
        const body = await until('the refund', async () => {
          const now = await read(restored.url, id);
          return now.cost_usdc === 0 ? now : null;
        });
        expect(body).to.include({ status: 'failed', refund: 'done', result: null });
      }
      expect(await openRecords()).to.equal(0);
      expect((await execute(restored.url, { task: 'new' })).status).to.equal(200);

      const paid = 5n;
      const end = await market.balances();
      expect(end.callers[0]).to.equal(start.callers[0]! - PRICE * paid);
      expect(end.callers[1]).to.equal(start.callers[1]);
      expect(end.creator).to.equal(start.creator + (PRICE - FEE) * paid);
      expect(end.treasury).to.equal(start.treasury + FEE * paid);

      // While the relay runs, so that the index follows to the last call's end.
      const views = openDatabase<LedgerDatabase>(lost, {
        readonly: true,
        attach: { chain: indexPath(market.dataDir) },
      });
      const { connection } = market.node;
      const found = await reconcile({ connection, views: views.db }).finally(() => views.close());
      expect(found.differences).to.deep.equal([]);
      expect(found).to.include({ agrees: true, open_records: 0, escrow_total: 0n });
    } finally {
      await restored.kill();
    }
  });
});
