/**
 * `npm start`: the whole marketplace on this computer. This process runs the relay and the indexer. The Solana node and
 * the demo creators' servers are separate processes that end with it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { readConfig as readMarketplaceConfig } from '../../migrations/deploy.ts';
import { runCommandLine } from '../process/commandLine.ts';
import { loadSigningKey, signingKeyAddress } from '../sdk/creator/signingKey.ts';
import { openMarketplace } from '../sdk/wallet/marketplace.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { originOf } from '../sdk/wire/secrets.ts';
import { parseUsdc } from '../sdk/wire/usdc.ts';
import { isListedAs, type LocalAgent, publishAgent, readAgents } from './agents.ts';
import { provideGas, provideKey } from './callers.ts';
import { type LocalChain, openLocalChain } from './chain.ts';
import { type LocalConfig, readConfig } from './config.ts';
import { buildDashboard } from './dashboard.ts';
import { claimForChain, lockDirectory } from './dataDirectory.ts';
import { type LocalNetwork, removeDemoFile, writeDemoFile } from './demoFile.ts';
import { type DemoServers, forkDemoServers, type Ports, readPorts, signingKeyPath } from './demoServers.ts';
import { greet, writeExampleRequest } from './greeting.ts';
import { type DemoCaller, type Identities, loadIdentities } from './identities.ts';
import { type LocalPostgres, openLocalPostgres } from './localPostgres.ts';
import { postgresFolder } from './postgres.ts';
import { waitUntilReady } from './ready.ts';
import { requireFreePort, startService } from './service.ts';
import { setUpChain } from './setup.ts';
import { createShutdown, type Shutdown, stopWithParent } from './shutdown.ts';

/** Long, because a busy computer is no error. */
const PUBLISH_MS = 10 * 60_000;

const HELP = `
Settings come from the environment:

  DATA_DIR        folder for all data that is kept between runs (default: .local)
  PORT            port of the API, 0 picks a free one (default: 8787)
  SOLANA_RPC_URL  Solana node to use instead of starting one (optional)
  SOLANA_WS_URL   WebSocket of that node, if not on the next port (optional)

The records of one chain stay in one database. If you started with --postgres, continue with it; if not, continue
without. On a fresh chain you can choose again. Every start without SOLANA_RPC_URL is on a fresh chain. The records of
older chains are kept.`;

const command = new Command('npm start')
  .description(
    'Runs the whole marketplace on this computer, with demo agents and two demo callers. Stop it with Ctrl-C.',
  )
  .option(
    '--postgres',
    'keep ledger and index in PostgreSQL, which is started in DATA_DIR/postgres (PostgreSQL must be installed)',
  )
  .option('--json', 'print the content of demo.json as one JSON object to stdout, and everything else to stderr')
  .addHelpText('after', HELP);
const options = () => command.opts<{ postgres?: true; json?: true }>();

const report = (line: string): void => (options().json ? console.error(line) : console.log(line));

/** The state of one start. */
interface Start {
  config: LocalConfig;
  shutdown: Shutdown;
  demoDir: string;
  identities: Identities;
  servers: DemoServers;
  /** Null for SQLite files. */
  postgres: LocalPostgres | null;
}

/** Starts everything. Resolves when the API answers and demo.json is written. */
async function start(config: LocalConfig, shutdown: Shutdown): Promise<void> {
  if (config.postgres) postgresFolder();
  await claimDirectory(config, shutdown);
  const demoDir = join(config.dataDir, 'demo');
  const identities = loadIdentities(demoDir);
  const servers = startDemoServers(demoDir, shutdown);
  const postgres = config.postgres ? openLocalPostgres(config.dataDir, shutdown) : null;
  const run: Start = { config, shutdown, demoDir, identities, servers, postgres };

  const built = buildDashboard(shutdown);
  // Awaited later; until then a failure must not count as unhandled.
  built.catch(() => undefined);
  report(config.node ? `Using the Solana node at ${originOf(config.node.rpcUrl)} ...` : 'Starting a Solana node ...');
  const chain = await openLocalChain(config, shutdown);
  const { onChain, agents, ports, databaseUrl } = await prepareChain(run, chain);
  await built;
  const baseUrl = await startService({ ...config, databaseUrl }, chain, identities, shutdown);
  await servers.setTrusted(baseUrl);

  report('Listing the demo agents, creating the API keys ...');
  const callers = await publish(run, { baseUrl, rpcUrl: chain.rpcUrl, agents, ports });
  const network = {
    baseUrl,
    chain,
    databaseUrl,
    config: onChain,
    callers,
    agents: agents.map((agent) => shownAgent(agent, demoDir)),
  };
  const apiKeys = callers.map(({ apiKey }) => apiKey);
  await waitUntilReady(baseUrl, network.agents, apiKeys);
  if (!shutdown.isStopping) announce(run, network);
}

/** Checks that nobody else uses the directory or the port, before anything is started. */
async function claimDirectory({ dataDir, port }: LocalConfig, shutdown: Shutdown): Promise<void> {
  const lock = lockDirectory(dataDir);
  shutdown.onStop(() => lock.release());
  removeDemoFile(dataDir);
  await requireFreePort(port);
}

/** Starts their process; nothing listens yet. If it ends unexpectedly, everything ends. */
function startDemoServers(demoDir: string, shutdown: Shutdown): DemoServers {
  const servers = forkDemoServers(demoDir);
  shutdown.onStop(() => servers.stop());
  servers.exited.then((end) => shutdown.stop(`The demo creators' process has ended (${end}); stopping ...`, 1));
  return servers;
}

/** Assigns the directory to the chain, adds what the chain lacks, and makes the demo servers listen. */
async function prepareChain(run: Start, chain: LocalChain) {
  const { config, identities } = run;
  const [genesisHash, existing] = await Promise.all([
    chain.connection.getGenesisHash(),
    readMarketplaceConfig(chain.connection),
  ]);
  const { old, database } = claimForChain(config.dataDir, {
    genesisHash,
    hasMarketplace: existing !== null,
    onPostgres: config.postgres,
  });
  if (old) report(`This is a fresh chain. The records of the previous one ${old}`);
  report(
    existing ? 'The marketplace exists on this chain; continuing ...' : 'Creating the marketplace on the chain ...',
  );
  const [onChain, listening, databaseUrl] = await Promise.all([
    setUpChain(chain, identities, config.dataDir),
    listen(run, chain),
    run.postgres && database ? run.postgres.provide(database) : null,
  ]);
  return { onChain, ...listening, databaseUrl };
}

/** Listens on the ports of the last run. An agent already listed at its port behaves as documented at once. */
async function listen(
  { identities, servers, demoDir }: Start,
  { connection }: LocalChain,
): Promise<{ agents: LocalAgent[]; ports: Ports }> {
  const agents = await readAgents(connection, identities);
  const ports = readPorts(demoDir);
  const unchanged = agents.filter((agent) => isListedAs(agent, ports[agent.definition.name], demoDir));
  const listed = new Set(unchanged.map(({ definition }) => definition.name));
  return { agents, ports: await servers.listen(ports, listed) };
}

/** Lists the demo agents and gives the callers keys, in parallel. Returns the callers with working keys. */
async function publish(
  { identities, servers, demoDir }: Start,
  { baseUrl, rpcUrl, agents, ports }: { baseUrl: string; rpcUrl: string; agents: LocalAgent[]; ports: Ports },
): Promise<DemoCaller[]> {
  const marketplace = await openMarketplace({ baseUrl, rpcUrl, patienceMs: PUBLISH_MS });
  const [callers] = await Promise.all([
    Promise.all(identities.callers.map((caller) => provideKey(marketplace, caller))),
    provideGas(marketplace, identities.callers),
    ...agents.map(async (agent) => {
      const { name } = agent.definition;
      await publishAgent(marketplace, agent, { identities, port: ports[name] ?? 0, demoDir });
      await servers.setListed(name);
    }),
  ]);
  return callers;
}

function shownAgent({ definition, agentId, creator }: LocalAgent, demoDir: string): LocalNetwork['agents'][number] {
  const { name, price, behaviour } = definition;
  return {
    name,
    agentId: agentId.toBase58(),
    creator: creator.toBase58(),
    signingKey: signingKeyAddress(loadSigningKey(signingKeyPath(demoDir, name))),
    price: parseUsdc(price),
    isPaused: behaviour === 'paused',
  };
}

/** Announces that the network is ready: to programs by demo.json, to the user by a text. */
function announce({ config, demoDir, shutdown }: Start, network: LocalNetwork): void {
  const exampleRequest = writeExampleRequest(demoDir);
  // The first step of the stop, because a busy machine may not reach the last one in time.
  shutdown.onStop(() => removeDemoFile(config.dataDir));
  const demoFile = writeDemoFile(config.dataDir, network);
  report(greet(network, { demoFile, exampleRequest }));
  if (options().json) console.log(JSON.stringify(JSON.parse(readFileSync(demoFile, 'utf8'))));
}

await runCommandLine(command);
// A closed terminal breaks the pipe. This must not interrupt the shutdown.
process.stdout.on('error', () => {});
const shutdown = createShutdown(report);
try {
  const config = readConfig(process.env, options());
  if (config.startedByNpm) stopWithParent(shutdown);
  await start(config, shutdown);
} catch (error) {
  // Errors during the stop are caused by the stop.
  if (!shutdown.isStopping) {
    console.error(error instanceof Refusal ? `\n${error.message}` : error);
    await shutdown.stop('Not started.', 1);
  }
}
