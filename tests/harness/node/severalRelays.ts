/** Two relays, each with its own authority, with a working and a standby indexer on one PostgreSQL. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { forkSource } from '../../../app/process/typescript.ts';
import { until } from '../edge/until.ts';
import { startMarketplace, type TestMarketplace } from './marketplace.ts';
import { replaceRelayAuthorities } from './relayAuthorities.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'indexer', 'main.ts');
/** Ends the child when its parent disconnects, for example at Ctrl-C. */
const ENDS_WITH_US = ['--import', 'data:text/javascript,process.once("disconnect",()=>process.exit())'];
/** A delay as in systemd, so that an indexer that cannot start does not keep a processor busy. */
const RESTART_MS = 500;

export type SeveralRelays = Awaited<ReturnType<typeof startSeveralRelays>>;

/** Starts everything except the relays; `startRelay` starts those. */
export async function startSeveralRelays(options: Parameters<typeof startMarketplace>[0]) {
  const market = await startMarketplace({ ...options, here: true });
  await market.relay.kill();
  const successor = Keypair.generate();
  await market.node.fundSol(successor.publicKey, 10e9);
  const authorities = [market.authority.publicKey, successor.publicKey];
  await replaceRelayAuthorities(market.node.connection, market.node.payer, authorities);
  const path = join(market.dataDir, 'successor.json');
  writeFileSync(path, JSON.stringify([...successor.secretKey]), { mode: 0o600 });
  const indexers = await startIndexers(market);
  return {
    market,
    indexers,
    /** Authorities of the relays, in their order. */
    authorities,
    /** Starts a relay by number. `environment` overrides its settings; `hear` gets its output. */
    startRelay(number: number, environment: NodeJS.ProcessEnv = {}, hear?: (text: string) => void) {
      const own = number === 0 ? {} : { RELAY_KEYPAIR: path };
      return market.startRelayProcess({ WITHOUT_INDEXER: '1', ...own, ...environment }, hear);
    },
    /** Stops everything except the relays. */
    async stop() {
      await indexers.stop();
      await market.stop();
    },
  };
}

/** Starts two indexers, and again those that end. Resolves when one keeps the index and the other stands by. */
async function startIndexers(market: TestMarketplace) {
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
