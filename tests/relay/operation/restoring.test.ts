/** A backup tried by `npm run drill`, and put in the place of a lost ledger: a file, or a schema of PostgreSQL. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import bs58 from 'bs58';
import { expect } from 'chai';
import { SCHEMAS } from '../../../app/database/postgres.ts';
import { ledgerPath } from '../../../app/relay/config.ts';
import { openViews } from '../../../app/relay/ledger/open.ts';
import { reconcile } from '../../../app/relay/reconcile/sweep.ts';
import {
  accountDiscriminator,
  PROGRAM_ID,
  RECORD_OFFSETS,
  RECORD_STATUS_BYTE,
} from '../../../app/sdk/program/program.ts';
import { until, untilFound } from '../../harness/edge/until.ts';
import {
  FEE,
  failedAnswer,
  goodAnswer,
  PRICE,
  type TestMarketplace,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { runCommandHere } from '../../harness/node/relayMain.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Loses the ledger and puts the newest backup in its place, as docs/operating.md describes. */
async function restoreLedger(market: TestMarketplace): Promise<void> {
  if (market.databaseUrl) await market.query('ledger', `ALTER SCHEMA ${SCHEMAS.ledger} RENAME TO ledger_old`);
  else for (const suffix of ['', '-wal', '-shm']) rmSync(ledgerPath(market.dataDir) + suffix, { force: true });
  const { status, stderr } = await runCommandHere(market, ['restore']);
  expect([status, stderr]).to.deep.equal([0, '']);
}

/** Starts `npm run drill` as an operator does. `ended` resolves to its exit code and what it has printed. */
function startDrill(market: TestMarketplace, ...args: string[]) {
  const env = {
    ...process.env,
    SOLANA_RPC_URL: market.node.rpcUrl,
    SOLANA_WS_URL: market.node.wsUrl,
    ...market.database,
  };
  const words = ['scripts/run.mjs', 'scripts/drill.ts', '--json', ...args];
  const child = spawn(process.execPath, words, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [status]]) => ({ status, stderr, found: stdout === '' ? null : JSON.parse(stdout) }),
  );
  return { child, ended };
}

const drill = (market: TestMarketplace, ...args: string[]) => startDrill(market, ...args).ended;

describe('the ledger lost, and an old backup restored', () => {
  const market = useMarketplace({ timeoutSeconds: 600 });

  const read = async (url: string, id: string) => (await market.read(url, id)).body;

  async function openRecords(): Promise<number> {
    const equal = (offset: number, bytes: Uint8Array) => ({ memcmp: { offset, bytes: bs58.encode(bytes) } });
    const filters = [
      equal(0, accountDiscriminator('ExecutionRecord')),
      equal(RECORD_OFFSETS.status, Uint8Array.of(RECORD_STATUS_BYTE.open)),
    ];
    return (await market.node.connection.getProgramAccounts(PROGRAM_ID, { commitment: 'confirmed', filters })).length;
  }

  it('ends every call with exact balances, and serves new calls', async () => {
    const { url } = market.relay;
    const start = await market.balances();
    const held = new Map<string, () => void>();
    market.setBehaviour((body, _response, reply) => {
      const answer = () => reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
      if (body.task.startsWith('failing')) reply(failedAnswer(body.execution_id));
      else if (body.task.startsWith('held')) held.set(body.execution_id, answer);
      else if (!body.task.startsWith('silent')) answer();
    });
    const begin = async (task: string): Promise<string> => {
      const { body } = await market.execute(url, { task, async: true });
      const id = body.execution_id as string;
      await until(`the call of ${task}`, () => market.calls.get(id) === 1);
      return id;
    };

    // In the backup: one call that has ended, and two that the creator is still working on.
    const completed = (await market.execute(url, { task: 'before' })).body.execution_id as string;
    const endsAfter = await begin('held: ends after the backup');
    const endsLater = await begin('held: ends after the restore');
    const backup = await runCommandHere(market, ['backup', '--json']);
    expect([backup.status, backup.stderr]).to.deep.equal([0, '']);
    const { file } = JSON.parse(backup.stdout);

    // Not in the backup: one paid call, one refunded, and two that are open when the disk breaks.
    held.get(endsAfter)!();
    await until('its end', async () => (await read(url, endsAfter)).status === 'completed');
    const lostCompleted = (await market.execute(url, { task: 'after' })).body.execution_id as string;
    const lostFailed = (await market.execute(url, { task: 'failing' })).body.error.execution_id as string;
    const lostOpen = [await begin('silent: one'), await begin('silent: two')];
    await market.relay.kill();

    const before = await market.balances();
    const { status, stderr, found: drilled } = await drill(market);
    expect(status, stderr).to.equal(0);
    expect(drilled).to.deep.include({ ok: true, file, missing: 4, later: 3 });
    expect(drilled.rows).to.deep.include({ executions: 3, api_keys: 2, documents: 1 });
    expect(drilled.reconcile).to.deep.include({ agrees: true, journal_rows: 3, index_rows: 7, differences: [] });
    expect(drilled.verify.differences).to.deep.equal([]);
    // By its name this backup would have everything, so what it lacks is a difference.
    const newer = join(dirname(file), basename(file).replace(/\d{8}/, '20990101'));
    copyFileSync(file, newer);
    const differing = await drill(market, '--file', newer, ...(market.databaseUrl ? ['--on-server'] : []));
    expect(differing.status, differing.stderr).to.equal(1);
    const kinds = differing.found.reconcile.differences.map(({ kind }: { kind: string }) => kind);
    expect(kinds.sort()).to.deep.equal(['journal_missing', 'journal_missing', 'journal_state']);
    rmSync(newer);
    // Its first words come when it works in its scratch place.
    const interrupted = startDrill(market);
    await once(interrupted.child.stderr, 'data');
    interrupted.child.kill('SIGTERM');
    const { status: code, stderr: said, found } = await interrupted.ended;
    expect([code, found]).to.deep.equal([2, null]);
    expect(said).to.include('The drill was ended by SIGTERM.');
    // A drill leaves nothing behind, and moves nothing.
    expect(existsSync(join(dirname(file), '.work'))).to.equal(false);
    expect(await market.balances()).to.deep.equal(before);

    await restoreLedger(market);
    expect(await openRecords()).to.equal(3);

    const restored = await market.startRelayProcess();
    try {
      // After it has compared its ledger with the chain, it parks each open record without a row for its refund.
      const parked = await untilFound('both orphans', async () => {
        const rows = await market.query('ledger', "SELECT execution_id FROM executions WHERE task = ''");
        return rows.length >= lostOpen.length ? rows.map(({ execution_id }) => execution_id) : null;
      });
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
      // The backup's row was older than its end.
      expect(await market.endOf(restored.url, endsAfter)).to.include(forgotten);

      // The creator is called again with the same id, and paid once.
      await until('the second call', () => (market.calls.get(endsLater) ?? 0) > 1);
      held.get(endsLater)!();
      expect((await market.endOf(restored.url, endsLater)).result).to.equal('done: held: ends after the restore');
      // Until a minute before refund_at, another ledger's relay could settle an execution that this one does not know.
      const ends = await Promise.all(lostOpen.map(async (id) => Number((await market.record(id))!.refundAt)));
      await market.node.timeTravel(Math.max(...ends) - 59);
      for (const id of lostOpen) {
        const body = await market.endOf(restored.url, id);
        expect(body).to.include({ status: 'failed', refund: 'done', result: null });
      }
      expect(await openRecords()).to.equal(0);
      expect((await market.execute(restored.url, { task: 'new' })).status).to.equal(200);

      const paid = 5n;
      const end = await market.balances();
      expect(end.callers[0]).to.equal(start.callers[0]! - PRICE * paid);
      expect(end.callers[1]).to.equal(start.callers[1]);
      expect(end.creator).to.equal(start.creator + (PRICE - FEE) * paid);
      expect(end.treasury).to.equal(start.treasury + FEE * paid);

      // While the relay runs, so that the index follows to the last call's end.
      const views = await openViews(market);
      const { connection } = market.node;
      const found = await reconcile({ connection, views: views.db }).finally(() => views.close());
      expect(found.differences).to.deep.equal([]);
      expect(found).to.include({ agrees: true, open_records: 0, escrow_total: 0n });
    } finally {
      await restored.kill();
    }
  });
});
