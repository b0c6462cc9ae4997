/** Runs the marketplace's indexer and relay in this process. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createIndexer } from '../../indexer/indexer.ts';
import { logToFile } from '../process/logDestination.ts';
import { backupPath, callKeysPath, indexPath, USUAL_RESULTS, USUAL_SERVICE_FEE } from '../relay/config.ts';
import { UNLIMITED } from '../relay/ledger/funding.ts';
import { createLog } from '../relay/log.ts';
import { startRelay } from '../relay/start.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import type { LocalChain } from './chain.ts';
import type { LocalConfig } from './config.ts';
import { LOOK_SECONDS, STOP_LAMPORTS } from './funding.ts';
import type { Identities } from './identities.ts';
import type { Shutdown } from './shutdown.ts';

/** Loopback only: the demo keys are on this disk, and everything here is for one user. */
const HOST = '127.0.0.1';
/** Timeout for the relay to stop, within the two seconds for the whole shutdown. */
const SHUTDOWN_SECONDS = 1;

/** Starts indexer and relay in this process; returns the API's base URL. */
export async function startService(
  config: LocalConfig & { databaseUrl: string | null },
  chain: LocalChain,
  { relayAuthority: authority, x402FeePayer, admin, creators, callers }: Identities,
  shutdown: Shutdown,
): Promise<string> {
  const { dataDir, port, databaseUrl } = config;
  const people = [
    ...callers.map(({ wallet }, index) => ({ name: `Demo caller ${index + 1}`, keypair: wallet })),
    { name: 'Demo creator A', keypair: creators.a },
    { name: 'Demo creator B', keypair: creators.b },
    { name: 'Demo admin', keypair: admin },
  ];
  const { rpcUrl, wsUrl } = chain;
  const log = createLog('info', logToFile(join(dataDir, 'marketplace.log')));
  const onFailure = (error: Error) => void shutdown.stop(`The indexer has stopped: ${error.message}; stopping ...`, 1);
  const indexer = createIndexer({ rpcUrl, wsUrl, path: databaseUrl ?? indexPath(dataDir), log, onFailure });
  shutdown.onStop(() => indexer.stop());
  await indexer.start();
  const relay = await startRelay({
    log,
    sharesProcess: true,
    config: {
      environment: 'test',
      rpcUrl,
      wsUrl,
      moreNodes: [],
      publicRpcUrl: rpcUrl,
      authority,
      x402: { feePayer: x402FeePayer, serviceFee: USUAL_SERVICE_FEE, minLamports: 0 },
      authoritySilenceSeconds: 0,
      dataDir,
      databaseUrl,
      host: HOST,
      port,
      baseUrl: null,
      callKeysPath: callKeysPath(dataDir),
      allowPrivateEndpoints: true,
      degraded: { refuseAfter: 0, probeSeconds: 30 },
      egressIps: [HOST],
      shutdownSeconds: SHUTDOWN_SECONDS,
      leaveSeconds: 0,
      backupDir: backupPath(dataDir),
      metricsToken: null,
      developmentWallets: people,
      helius: null,
      maxPriorityFeeLamports: 0n,
      minPriorityFee: 0n,
      edgeRpcPerSecond: 100,
      // With cheat codes, the fee payer can get any amount.
      runway: { minHours: 0, minLamports: chain.isSurfpool ? 0 : STOP_LAMPORTS, lookSeconds: LOOK_SECONDS },
      minFreeBytes: 0,
      // After a time travel, a user expects one call to be archived at once, not only together with eleven more.
      archive: { mode: 'on', waitSeconds: 0 },
      trustProxy: 0,
      publicRate: { perSecond: 50, burst: 200 },
      sponsorsAll: true,
      lentLamports: null,
      revocations: { wallet: UNLIMITED, total: UNLIMITED },
      results: USUAL_RESULTS,
      logLevel: 'info',
    },
  });
  shutdown.onStop(() => relay.stop());
  return relay.url;
}

/** Checks before anything is started; the relay itself takes the port later. */
export async function requireFreePort(port: number): Promise<void> {
  const probe = createServer();
  try {
    probe.listen(port, HOST);
    await once(probe, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Refusal(
        `Port ${port} is in use by another program. Choose another port, or a free one automatically: PORT=0 npm start`,
      );
    }
    if (code === 'EACCES')
      throw new Refusal(`This user may not listen on port ${port}. Choose one from 1024: PORT=8787`);
    throw error;
  }
  probe.close();
  await once(probe, 'close');
}
