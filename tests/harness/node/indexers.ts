/** Runs indexers on one PostgreSQL: one keeps the index, the others stand by. Restarts any that end. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkSource } from '../../../app/process/typescript.ts';
import { until } from '../edge/until.ts';
import type { TestMarketplace } from './marketplace.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'indexer', 'main.ts');
/** Ends the child when its parent disconnects, for example at Ctrl-C. */
const ENDS_WITH_US = ['--import', 'data:text/javascript,process.once("disconnect",()=>process.exit())'];
/** A delay as in systemd, so that an indexer that cannot start does not keep a processor busy. */
const RESTART_MS = 500;

/** Starts two indexers. Resolves when one keeps the index. */
export async function startIndexers(market: TestMarketplace) {
  const env = {
    ...process.env,
    ...market.database,
    SOLANA_RPC_URL: market.node.rpcUrl,
    SOLANA_WS_URL: market.node.wsUrl,
    LOG_LEVEL: 'info',
  };
  const children = new Set<ChildProcess>();
  let keeper: ChildProcess | null = null;
  let isOver = false;

  function start(): void {
    if (isOver) return;
    const child = forkSource(MAIN, [], { execArgv: ENDS_WITH_US, env, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] });
    children.add(child);
    child.stdout?.on('data', (chunk) => {
      if (String(chunk).includes('"subscribed to the program"')) keeper = child;
    });
    child.once('exit', () => {
      children.delete(child);
      if (keeper === child) keeper = null;
      setTimeout(start, RESTART_MS);
    });
  }
  const killAll = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', killAll);
  const working = () => until('an indexer keeps the index', async () => keeper !== null, 120_000);

  start();
  start();
  await working();
  return {
    /** Resolves when an indexer keeps the index. */
    working,
    /** Kills the indexer that keeps the index. Resolves when another one keeps it. */
    async killWorking() {
      await working();
      const doomed = keeper as ChildProcess;
      doomed.kill('SIGKILL');
      await once(doomed, 'exit');
      await working();
    },
    async stop() {
      isOver = true;
      process.removeListener('exit', killAll);
      const gone = [...children].map((child) => once(child, 'exit'));
      killAll();
      await Promise.all(gone);
    },
  };
}
