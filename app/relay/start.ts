/**
 * Starts the whole service: opens the ledger, connects to the chain, starts the HTTP server, continues unfinished
 * executions, and compares the ledger with the chain. Only then does it accept new ones.
 */
import { once, setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { BUILD } from '../process/build.ts';
import { parseAddress } from '../sdk/program/program.ts';
import { createKeyUse } from './access/auth.ts';
import type { Undocumented } from './agents/undocumented.ts';
import { assembleDeps } from './assembly/api.ts';
import { closeRelay } from './assembly/close.ts';
import { assembleEngine } from './assembly/engine.ts';
import { assembleParts, type RelayOptions } from './assembly/parts.ts';
import { assembleX402 } from './assembly/x402.ts';
import { createChainAccounts } from './chain/accounts.ts';
import { createEdgeBudget } from './chain/edgeBudget.ts';
import type { RelayChain } from './chain/relayChain.ts';
import type { RelayConfig } from './config.ts';
import { createEvents } from './events/events.ts';
import type { createEngine } from './execution/engine.ts';
import { startKeeping } from './execution/keeping.ts';
import { startRecovery } from './execution/recovery/recover.ts';
import type { RelayDeps } from './http/deps.ts';
import { watchAnswers } from './http/drain.ts';
import { createHttpServer } from './http/server.ts';
import { createArchiveNodes } from './ledger/archiveNodes.ts';
import { readLandedReturns, readUnknownOpen } from './ledger/indexed.ts';
import { watchLoad } from './operation/load.ts';
import { reconcileLedger } from './operation/reconciling.ts';
import { createWebhookCalls } from './outbound/webhook.ts';
import { type Sweeper, startSweeper } from './sweeper/sweeper.ts';
import { within } from './waiting.ts';

/** How long the start waits for the ledger to be compared with the chain. The gate stays closed until then. */
const RECONCILE_WAIT_MS = 3_000;

export interface RunningRelay {
  /** URL of the API, without a trailing slash. */
  url: string;
  engine: ReturnType<typeof createEngine>;
  /** Durable transactions so far; each waited once for the disk. */
  commits(): number;
  /**
   * Stops the relay. For `config.leaveSeconds` it lets proxies switch to another relay. Then it accepts nothing new,
   * and lets executions that are nearly done end. It answers the others with what is known, and leaves them to the
   * journal. Resolves within `config.shutdownSeconds`.
   */
  stop(): Promise<void>;
}

/** Starts everything; resolves when the API answers. Throws with a message for an operator. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  const { config, log } = options;
  let sweeper: Sweeper | null = null;
  const { parts, marketplace, keyDirectory, objects, money } = await assembleParts(options, {
    inFlight: () => engine.inFlight(),
    swept: async () => (await sweeper?.figures()) ?? null,
  });
  const { files, chain, gate, storage, runway } = parts;
  const built = assembleEngine(options, parts);
  const { engine, leases, leadership, sweepTransactions, commits, authorities, chainWatch } = built;
  const stopping = new AbortController();
  // Every revocation in flight listens to it.
  setMaxListeners(0, stopping.signal);
  const keyUse = createKeyUse(files.ledger.db, log);

  const takeReading = createEdgeBudget(config.edgeRpcPerSecond, parts.payers);
  const accounts = createChainAccounts(chain, takeReading, stopping.signal);

  const { ledger, views, writes } = files;
  const calls = createWebhookCalls({ allowPrivate: config.allowPrivateEndpoints });
  const events = createEvents({
    ledger: ledger.db,
    views: views.db,
    writes,
    calls,
    limits: authorities.config,
    agentHealth: parts.agentHealth,
    now: Date.now,
    log,
  });
  let baseUrl = '';
  const load = watchLoad();
  const deps = assembleDeps(options, parts, {
    baseUrl: () => baseUrl,
    isBusy: () => !options.sharesProcess && engine.inFlight() > 0 && load.isBusy(),
    genesisHash: marketplace.genesis,
    engine: gate.guard(engine),
    x402: assembleX402(config, parts, marketplace.genesis),
    keyUse,
    accounts,
    money,
    readKeyDirectory: keyDirectory.read,
    streams: events.streams,
  });
  const server = createHttpServer(deps);
  const answered = watchAnswers(server);
  baseUrl = await listen(server, config);
  // The first list must not wait for the documents of all agents to be looked up.
  void reportUndescribed(deps.undocumented, log);
  const endLease = await leases.keep(log);
  sweeper = startSweeper({
    chain,
    views: views.db,
    nodes: createArchiveNodes(writes, ledger.db),
    transactions: sweepTransactions,
    leadership,
    settings: config.archive,
    minLamports: config.runway.minLamports,
    usdcMint: parseAddress(parts.config.usdcMint.toBase58()),
    spent: (lamports) => runway.spend(lamports),
    log,
  });
  const ends = [load.end, chainWatch.end, keyDirectory.end, authorities.end, runway.end, storage.end];
  const adoptUnknown = () => adoptMissing(engine, views.db, chain);
  ends.push(startRecovery({ ...engine, adoptUnknown }, leadership, log));
  events.startSending();
  await within(reconcileLedger({ engine, gate, chainWatch, views: views.db, log }, stopping.signal), RECONCILE_WAIT_MS);
  const endKeeping = startKeeping({
    ledger: ledger.db,
    views: views.db,
    objects,
    settings: config.results,
    now: deps.now,
    log,
  });
  events.start();
  log.info({ url: baseUrl, release: BUILD.release, build: BUILD.build }, 'relay is ready');

  function stop(): Promise<void> {
    const ending = { server, answered, stopping, leadership, endLease, endKeeping, keyUse, ends, sweeper };
    return closeRelay({ config, parts, engine, ...ending, events, calls });
  }
  return { url: baseUrl, engine, commits, stop };
}

/** Takes over what the chain has and the ledger lacks. */
async function adoptMissing(
  engine: RunningRelay['engine'],
  views: RelayDeps['views'],
  chain: RelayChain,
): Promise<void> {
  await engine.parkLanded(await readLandedReturns(views));
  // A void row is ours at any time: its open has landed although it had been given up.
  await engine.adoptOrphans(await readUnknownOpen(views, chain.clock()));
}

/** An empty market of a restored ledger would otherwise look like one without agents. */
async function reportUndescribed(undocumented: Undocumented, log: Logger): Promise<void> {
  try {
    const listings = (await undocumented.read()).length;
    if (listings > 0)
      log.warn(
        { listings },
        'active listings have no description here and cannot be called: restore a backup, or ask their creators to send them again',
      );
  } catch (error) {
    log.warn({ error }, 'cannot read the listings');
  }
}

/** The listening address as a URL, without a trailing slash. */
async function listen(server: Server, config: RelayConfig): Promise<string> {
  server.listen(config.port, config.host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new Error(listenFault(error, config), { cause: error });
  });
  const { port } = server.address() as AddressInfo;
  return config.baseUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}

function listenFault({ code, message }: NodeJS.ErrnoException, { host, port }: RelayConfig): string {
  if (code === 'EADDRINUSE')
    return `PORT ${port} of ${host} is in use by another process. Stop it, or set another PORT.`;
  if (code === 'EACCES') return `This user may not listen on PORT ${port}. Set one from 1024 on.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `HOST ${host} is not an address of this machine.`;
  return message;
}
