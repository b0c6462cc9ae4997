/** Runs the marketplace's indexer and relay in this process. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createIndexer } from '../../indexer/indexer.ts';
import { logToFile } from '../process/logDestination.ts';
import { indexPath, readConfig } from '../relay/config.ts';
import { UNLIMITED } from '../relay/ledger/funding.ts';
import { createLog } from '../relay/log.ts';
import { startRelay } from '../relay/start.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import type { LocalChain } from './chain.ts';
import type { LocalConfig } from './config.ts';
import type { Identities } from './identities.ts';
import type { Shutdown } from './shutdown.ts';

/** Loopback only: the demo keys are on this disk, and everything here is for one user. */
const HOST = '127.0.0.1';
/** Seconds between checks of the relay's balance. */
const POLL_SECONDS = 2;
/** Below this the relay accepts no new calls, lamports: more than the fees of the calls that start between two checks. */
const STOP_LAMPORTS = 100_000_000;
/** Timeout for the relay to stop, within the two seconds for the whole shutdown. */
const SHUTDOWN_SECONDS = 1;

/** Starts indexer and relay in this process; returns the API's base URL. */
export async function startService(
  config: LocalConfig & { databaseUrl: string | null },
  chain: LocalChain,
  { relayAuthorityPath, x402FeePayerPath, admin, creators, callers }: Identities,
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
  const settings = readConfig({
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    PUBLIC_RPC_URL: rpcUrl,
    EDGE_RPC_PER_SECOND: '100',
    MAX_PRIORITY_FEE_LAMPORTS: '0',
    RELAY_KEYPAIR: relayAuthorityPath,
    MIN_RUNWAY_HOURS: '0',
    // With cheat codes, the fee payer can get any amount.
    MIN_FEE_PAYER_LAMPORTS: chain.isSurfpool ? '0' : String(STOP_LAMPORTS),
    SPONSOR: 'all',
    // After a time travel, a user expects one call to be archived at once, not only together with others.
    ARCHIVE_WAIT_SECONDS: '0',
    X402_FEE_PAYER_KEYPAIR: x402FeePayerPath,
    HOST,
    PORT: String(port),
    SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS),
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    EGRESS_IPS: HOST,
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl ?? '',
    MIN_FREE_BYTES: '0',
  });
  const relay = await startRelay({
    log,
    sharesProcess: true,
    config: {
      ...settings,
      runway: { ...settings.runway, pollSeconds: POLL_SECONDS },
      revocations: { wallet: UNLIMITED, total: UNLIMITED },
      developmentWallets: people,
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
