/** `npm run indexer` as a process of its own: settings, signals, exit codes, and a kill in the middle of a backfill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openIndex } from '../../indexer/open.ts';
import { dump, eventually, IndexerBench } from './harness.ts';
import { type Market, startMarket } from './market.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('indexer, process', () => {
  let market: Market;
  let bench: IndexerBench;
  const children = new Set<ChildProcess>();

  const run = (environment: NodeJS.ProcessEnv, ...args: string[]) => {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, ['scripts/run.mjs', 'indexer/main.ts', ...args], {
      cwd: ROOT,
      env: { PATH, HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal, output }));
    return { child, exited };
  };
  const settings = (name: string) => ({
    SOLANA_RPC_URL: market.node.rpcUrl,
    SOLANA_WS_URL: market.node.wsUrl,
    INDEX_DB: bench.path(name),
  });

  before(async () => {
    market = await startMarket();
    bench = new IndexerBench(market.node);
    await market.list();
    await market.run(30, await market.grant());
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await bench?.close();
    await market?.node.stop();
  });

  it('explains its settings, and refuses wrong ones by name', async () => {
    const help = await run({}, '--help').exited;
    expect(help).to.deep.include({ code: 0 });
    for (const name of ['SOLANA_RPC_URL', 'SOLANA_WS_URL', 'DATA_DIR', 'INDEX_DB', 'LOG_LEVEL']) {
      expect(help.output).to.include(name);
    }
    const refused = await run({ SOLANA_RPC_URL: 'not a url' }).exited;
    expect(refused).to.deep.include({
      code: 1,
      output: 'SOLANA_RPC_URL must be a URL: JSON-RPC address of the Solana node\n',
    });
  });

  it('refuses a second indexer on the same file while the first lives, and only then', async () => {
    const path = bench.path('shared.db');
    const first = run(settings('shared.db'));
    await eventually('first read', () => existsSync(path) && dump(path).executions!.length >= 30);
    const second = await run(settings('shared.db')).exited;
    expect(second).to.deep.include({ code: 1 });
    expect(second.output).to.include(`${path} is kept by another indexer (process ${first.child.pid}): stop that one`);
    first.child.kill('SIGKILL');
    await first.exited;
    const opened = await market.open();
    const third = run(settings('shared.db'));
    await eventually('followed', () => dump(path).executions!.some((row) => row.open_signature === opened.signature));
    third.child.kill('SIGTERM');
    expect(await third.exited).to.deep.include({ code: 0 });
  });

  it('follows the chain and ends at once, cleanly, when asked to', async () => {
    const { child, exited } = run(settings('followed.db'));
    await eventually('first read', () => dump(bench.path('followed.db')).executions!.length >= 30);
    const opened = await market.open();
    await eventually('followed', () =>
      dump(bench.path('followed.db')).executions!.some((row) => row.open_signature === opened.signature),
    );
    const asked = Date.now();
    child.kill('SIGTERM');
    expect(await exited).to.deep.include({ code: 0, signal: null });
    expect(Date.now() - asked).to.be.lessThan(2_000);
  });

  it('ends with the same tables when killed in the middle of a backfill, again and again', async () => {
    const clean = await bench.backfill('clean.db');
    let kills = 0;
    for (let rows = 1; rows < clean.events!.length; rows += 25) {
      const { child, exited } = run(settings('killed.db'));
      await eventually('some rows', () => dump(bench.path('killed.db')).events!.length >= rows);
      child.kill('SIGKILL');
      await exited;
      kills += 1;
    }
    expect(kills).to.be.greaterThan(1);
    expect(await bench.backfill('killed.db')).to.deep.equal(clean);
  });

  it('ends with an error that names the transaction it cannot apply', async () => {
    const path = bench.path('clean.db');
    const { sqlite, close } = openIndex(path);
    sqlite.exec(
      "CREATE TRIGGER refuse BEFORE INSERT ON executions BEGIN SELECT RAISE(ABORT, 'as a test wants it'); END",
    );
    close();
    const { signature } = await market.open();
    const { code, output } = await run(settings('clean.db')).exited;
    expect(code).to.equal(1);
    expect(output).to.include(`cannot apply transaction ${signature}: as a test wants it`);
    expect(dump(path).events!.map((row) => row.signature)).to.not.include(signature);
  });
});
