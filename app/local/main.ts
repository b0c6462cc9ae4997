/**
 * `npm start`: the whole marketplace on this computer. This process holds the relay and the indexer; the Solana node
 * and the demo creators' servers are processes of their own, and end with it.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { Command } from 'commander';
import pino from 'pino';
import { createIndexer } from '../../indexer/indexer.ts';
import { readConfig as readMarketplaceConfig } from '../../migrations/deploy.ts';
import { runCommandLine } from '../process/commandLine.ts';
import { callKeysPath, indexPath } from '../relay/config.ts';
import { createLog } from '../relay/log.ts';
import { startRelay } from '../relay/start.ts';
import { loadSigningKey, signingKeyAddress } from '../sdk/creator/signingKey.ts';
import type { Config } from '../sdk/program/program.ts';
import { openMarketplace } from '../sdk/wallet/marketplace.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { parseUsdc } from '../sdk/wire/usdc.ts';
import { isListedAs, type LocalAgent, publishAgent, readAgents } from './agents.ts';
import { provideKey } from './callers.ts';
import { openChain } from './chain.ts';
import { type LocalConfig, readConfig } from './config.ts';
import { removeDemoFile, writeDemoFile } from './demoFile.ts';
import { type DemoServers, forkDemoServers, type Ports, readPorts, signingKeyPath } from './demoServers.ts';
import { greet, writeExampleRequest } from './greeting.ts';
import { type Caller, type Identities, loadIdentities } from './identities.ts';
import { lockDirectory } from './lock.ts';
import { waitUntilReady } from './ready.ts';
import { claimForChain } from './records.ts';
import { type Chain, setUpChain } from './setup.ts';
import { createShutdown, type Shutdown, stopWithParent } from './shutdown.ts';

/** Loopback only: the demo keys lie on this disk, and everything here is for one person. */
const HOST = '127.0.0.1';
/** Of the two seconds in which everything here ends. */
const SHUTDOWN_SECONDS = 1;

const HELP = `
Settings come from the environment:

  DATA_DIR        folder of everything that outlives a run (default: .local)
  PORT            port of the API, 0 picks a free one (default: 8787)
  SOLANA_RPC_URL  node to use instead of one of its own (optional)
  SOLANA_WS_URL   WebSocket of that node, if not on the next port (optional)`;

const tell = (line: string): void => console.log(line);

/** A network that runs. */
export interface LocalNetwork {
  /** Without a trailing slash. */
  baseUrl: string;
  chain: Chain;
  config: Config;
  agents: {
    name: string;
    agentId: string;
    creator: string;
    signingKey: string;
    /** Base units. */
    price: bigint;
    isPaused: boolean;
  }[];
  callers: Caller[];
}

/** Starts everything; resolves when the API answers and demo.json is written. */
async function start(config: LocalConfig, shutdown: Shutdown): Promise<void> {
  const { dataDir } = config;
  const lock = lockDirectory(dataDir);
  shutdown.onStop(() => lock.release());
  removeDemoFile(dataDir);
  shutdown.onStop(() => removeDemoFile(dataDir));
  await requireFreePort(config.port);

  const demoDir = join(dataDir, 'demo');
  const identities = loadIdentities(demoDir);
  const servers = forkDemoServers(demoDir);
  shutdown.onStop(() => servers.stop());
  servers.exited.then((end) => shutdown.stop(`The demo creators' process has ended (${end}); stopping ...`, 1));

  tell(config.node ? `Using the Solana node at ${config.node.rpcUrl} ...` : 'Starting a Solana node ...');
  const chain = await openChain(config, shutdown);
  const { onChain, agents, ports } = await prepareChain(config, chain, identities, servers);
  const baseUrl = await startService(config, chain, identities.relayAuthority, shutdown);

  await servers.setTrusted(baseUrl);

  tell('Listing the demo agents, making the API keys ...');
  const marketplace = await openMarketplace({ baseUrl, rpcUrl: chain.rpcUrl });
  const publish = async (agent: LocalAgent) => {
    const { name } = agent.definition;
    await publishAgent(marketplace, agent, { identities, port: ports[name] ?? 0, demoDir });
    await servers.setListed(name);
  };
  const [callers] = await Promise.all([
    Promise.all(identities.callers.map((caller) => provideKey(marketplace, caller))),
    ...agents.map(publish),
  ]);
  const network: LocalNetwork = {
    baseUrl,
    chain,
    config: onChain,
    callers,
    agents: agents.map(({ definition: { name, price, behaviour }, agentId, creator }) => ({
      name,
      agentId: agentId.toBase58(),
      creator: creator.toBase58(),
      signingKey: signingKeyAddress(loadSigningKey(signingKeyPath(demoDir, name))),
      price: parseUsdc(price),
      isPaused: behaviour === 'paused',
    })),
  };
  const apiKeys = callers.map(({ apiKey }) => apiKey);
  await waitUntilReady(baseUrl, network.agents, apiKeys);
  if (shutdown.isStopping) return;
  const exampleRequest = writeExampleRequest(demoDir);
  const demoFile = writeDemoFile(dataDir, network);
  tell(greet(network, { demoFile, exampleRequest }));
}

/** Makes chain and directory fit each other, puts on the chain what it lacks, and has the demo servers listen. */
async function prepareChain(config: LocalConfig, chain: Chain, identities: Identities, servers: DemoServers) {
  const { dataDir } = config;
  const [genesisHash, existing] = await Promise.all([
    chain.connection.getGenesisHash(),
    readMarketplaceConfig(chain.connection),
  ]);
  const old = claimForChain(dataDir, genesisHash, existing !== null);
  if (old) tell(`This is a fresh chain. The records of the one before are set aside in ${old}`);
  tell(existing ? 'This chain has the marketplace; carrying on ...' : 'Putting the marketplace on the chain ...');
  const listen = async (): Promise<{ agents: LocalAgent[]; ports: Ports }> => {
    const demoDir = join(dataDir, 'demo');
    const agents = await readAgents(chain.connection, identities);
    const ports = readPorts(demoDir);
    const unchanged = agents.filter((agent) => isListedAs(agent, ports[agent.definition.name], demoDir));
    const listed = new Set(unchanged.map(({ definition }) => definition.name));
    return { agents, ports: await servers.listen(ports, listed) };
  };
  const [onChain, listening] = await Promise.all([setUpChain(chain, identities), listen()]);
  return { onChain, ...listening };
}

/** Starts indexer and relay in this process; returns the API's base URL. */
async function startService(
  config: LocalConfig,
  chain: Chain,
  authority: Keypair,
  shutdown: Shutdown,
): Promise<string> {
  const { dataDir, port } = config;
  const { rpcUrl, wsUrl } = chain;
  const log = createLog('info', pino.destination({ dest: join(dataDir, 'marketplace.log'), sync: false }));
  const onFailure = (error: Error) => void shutdown.stop(`The indexer has stopped: ${error.message}; stopping ...`, 1);
  const indexer = createIndexer({ rpcUrl, wsUrl, path: indexPath(dataDir), log, onFailure });
  shutdown.onStop(() => indexer.stop());
  await indexer.start();
  const relay = await startRelay({
    log,
    config: {
      environment: 'test',
      rpcUrl,
      wsUrl,
      publicRpcUrl: rpcUrl,
      authority,
      dataDir,
      host: HOST,
      port,
      baseUrl: null,
      callKeysPath: callKeysPath(dataDir),
      allowPrivateEndpoints: true,
      degraded: { refuseAfter: 0, probeSeconds: 30 },
      egressIps: [HOST],
      shutdownSeconds: SHUTDOWN_SECONDS,
      metricsToken: null,
      helius: null,
      maxPriorityFeeLamports: 0n,
      // The fee payer of a local chain is as rich as it likes.
      runway: { minHours: 0, minLamports: 0 },
      trustProxy: 0,
      publicRate: { perSecond: 50, burst: 200 },
      walletLimits: { lostLamportsPerDay: 0, openExecutions: 0 },
      logLevel: 'info',
    },
  });
  shutdown.onStop(() => relay.stop());
  return relay.url;
}

/** Finds out before anything is started; the relay itself takes the port later. */
async function requireFreePort(port: number): Promise<void> {
  const probe = createServer();
  try {
    probe.listen(port, HOST);
    await once(probe, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Refusal(
        `Port ${port} is in use by another program. Choose another, or let one be picked: PORT=0 npm start`,
      );
    }
    if (code === 'EACCES')
      throw new Refusal(`This user may not listen on port ${port}. Choose one from 1024: PORT=8787`);
    throw error;
  }
  probe.close();
  await once(probe, 'close');
}

await runCommandLine(
  new Command('npm start')
    .description('Runs the whole marketplace on this computer, with demo agents and two callers. Ctrl-C stops it.')
    .addHelpText('after', HELP),
);
// A terminal that is closed takes its end of the pipe along; stopping must go on without it.
process.stdout.on('error', () => {});
const shutdown = createShutdown(tell);
try {
  const config = readConfig();
  if (config.startedByNpm) stopWithParent(shutdown);
  await start(config, shutdown);
} catch (error) {
  // What fails while everything is being stopped fails because of that.
  if (!shutdown.isStopping) {
    console.error(error instanceof Refusal ? `\n${error.message}` : error);
    await shutdown.stop('Not started.', 1);
  }
}
