/**
 * Everything that serves, put together: opens the ledger, connects to the chain, answers, compares the ledger with the
 * chain, carries on what a crash left, and only then takes new executions.
 */
import { randomUUID } from 'node:crypto';
import { once, setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { type Config, findTreasury, PROGRAM_ID, parseAddress, relayAuthoritiesOf } from '../sdk/program/program.ts';
import { watchRpc } from '../solana/failure.ts';
import { heliusPrice } from '../solana/helius.ts';
import { createRpcFetch } from '../solana/rpc.ts';
import { createKeyUse } from './access/auth.ts';
import { createSessions } from './access/sessions.ts';
import { type AgentHealthReader, createAgentHealth } from './agents/agentHealth.ts';
import { createDocuments, type Documents } from './agents/documents.ts';
import { createListedAgents } from './agents/listed/listedAgents.ts';
import { startProber } from './agents/prober.ts';
import { createChainAccounts } from './chain/accounts.ts';
import { readMarketplace, watchStanding } from './chain/cluster.ts';
import { createEdgeBudget } from './chain/edgeBudget.ts';
import { createFees, recentPrice } from './chain/fees.ts';
import { createRelayChain, type RelayChain } from './chain/relayChain.ts';
import type { Observe } from './chain/stages.ts';
import type { RelayConfig } from './config.ts';
import type { RelayDeps } from './deps.ts';
import { type AuthorityWatch, createAuthorityWatch } from './execution/authorityWatch.ts';
import { createEngine } from './execution/engine.ts';
import { createExposure } from './execution/exposure.ts';
import { startKeeping } from './execution/keeping.ts';
import { createKeepLate } from './execution/late.ts';
import { startRecovery } from './execution/recover.ts';
import { explorerQuery } from './explorer.ts';
import { endConnections, watchAnswers } from './http/drain.ts';
import { createHttpServer } from './http/server.ts';
import { createKeyReader } from './ledger/apiKeys.ts';
import { createArchiveNodes } from './ledger/archiveNodes.ts';
import { createSweepPlace } from './ledger/archiveSweep.ts';
import { shareCallKeys } from './ledger/callKeys.ts';
import { hasSigned } from './ledger/executions.ts';
import { createJournal, type Journal } from './ledger/journal.ts';
import { createLeadership } from './ledger/leadership.ts';
import { createSharedLimits, ownLimits } from './ledger/limits.ts';
import { type OpenLedger, openLedger } from './ledger/open.ts';
import { createReadPieces } from './ledger/pieces.ts';
import { createGate, type Gate } from './operation/gate.ts';
import { createMetrics, type Metrics } from './operation/metrics.ts';
import { reconcileLedger } from './operation/reconciling.ts';
import { createRunway, type Runway } from './operation/runway.ts';
import { createStorage, freeBytes, type Storage } from './operation/storage.ts';
import { loadCallKeys } from './outbound/callKeys.ts';
import { type CreatorPool, callCreator, createCreatorPool } from './outbound/dispatch.ts';
import { createReadText, createResultObjects, type ReadText } from './outbound/resultObjects.ts';
import { type Sweeper, startSweeper } from './sweeper/sweeper.ts';
import { within } from './waiting.ts';

/** The part of the time for stopping in which executions may still end by themselves; the rest is for answers and files. */
const DRAIN_SHARE = 0.7;

/** How long the start waits for the ledger to be compared with the chain; the gate stays shut until it has been. */
const RECONCILE_WAIT_MS = 3_000;

/** Where `npm run build:dashboard` puts the page. */
const DASHBOARD = join(import.meta.dirname, '..', 'dashboard', 'dist');

export interface RelayOptions {
  config: RelayConfig;
  log: Logger;
  /** Lets a test stand between the engine and its journal, to end the process at a chosen step. */
  wrapJournal?: (journal: Journal) => Journal;
  /** The same between the engine and the chain. */
  wrapChain?: (chain: RelayChain) => RelayChain;
  /** Is told how long each stage of a call takes. */
  observe?: Observe;
}

export interface RunningRelay {
  /** Where the API answers, without a trailing slash. */
  url: string;
  engine: ReturnType<typeof createEngine>;
  /** Durable transactions so far: each waited once for the disk. */
  commits(): number;
  /**
   * Has proxies turn away for `config.leaveSeconds`; then takes nothing new, lets what is nearly done end, answers the rest
   * with what is known, and leaves it to the journal. Resolves within `config.shutdownSeconds`.
   */
  stop(): Promise<void>;
}

/** Starts everything; resolves when the API answers. Throws with a message for an operator. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  const { config, log } = options;
  const files = await openLedger(config);
  let sweeper: Sweeper | null = null;
  const money = { runway: () => runway.status(), swept: async () => (await sweeper?.figures()) ?? null };
  const metrics: Metrics = createMetrics({
    views: files.views.db,
    inFlight: () => engine.inFlight(),
    nodes: () => chain.nodes(),
    ...money,
    now: () => Date.now(),
  });
  const observe: Observe = (stage, ms) => {
    metrics.observe(stage, ms);
    options.observe?.(stage, ms);
  };
  const chain = connect(config, log, observe, metrics);
  await chain.look();
  const marketplace = await readMarketplace(chain, config.environment);
  requireAuthority(marketplace.config, chain);
  await requireRentReturn(config.rentReturn, chain);
  const callKeys = loadCallKeys(config.callKeysPath);
  const keyDirectory = await shareCallKeys(files.ledger.db, callKeys.directory, log);
  const objects = config.results.objects && createResultObjects(config.results.objects);
  const gate = createGate();
  const storage = await startStorage(config, gate, log);
  const parts: EngineParts = {
    storage,
    readText: createReadText(createReadPieces(files.views.db), objects, log),
    files,
    chain,
    config: marketplace.config,
    creators: createCreatorPool({ allowPrivate: config.allowPrivateEndpoints, sign: callKeys.sign }),
    documents: createDocuments(files.views.db),
    agentHealth: createAgentHealth(files.ledger, config.degraded.refuseAfter, config.degraded.probeSeconds),
    gate,
    watch: createAuthorityWatch({
      chain,
      isInLedger: ({ executionId, signature }) => hasSigned(files.ledger.db, executionId, signature),
      silenceSeconds: config.authoritySilenceSeconds,
      onChange(isShared) {
        gate.set('authority_shared', isShared);
        metrics.authorityShared(isShared);
      },
      log,
    }),
    metrics,
    observe,
  };
  const { creators, agentHealth, watch } = parts;
  const { engine, leases, leadership, place, commits, endStanding } = assembleEngine(options, parts);
  const runway = await startRunway(config, chain, gate, log);
  const stopping = new AbortController();
  // Every revocation in flight listens to it.
  setMaxListeners(0, stopping.signal);
  const keyUse = createKeyUse(files.ledger.db, log);

  const accounts = createChainAccounts(chain, createEdgeBudget(config.edgeRpcPerSecond), stopping.signal);

  const limits = config.databaseUrl === null ? ownLimits() : createSharedLimits(config.databaseUrl, randomUUID(), log);
  let baseUrl = '';
  const deps: RelayDeps = {
    config,
    dashboardFolder: DASHBOARD,
    baseUrl: () => baseUrl,
    explorerQuery: explorerQuery(marketplace.genesis, config.publicRpcUrl),
    ledger: files.ledger.db,
    views: files.views.db,
    readText: parts.readText,
    documents: parts.documents,
    findKey: createKeyReader(files.views),
    listed: createListedAgents({ views: files.views.db, ledger: files.ledger.db, now: () => Date.now(), log }),
    keyUse,
    genesisHash: marketplace.genesis,
    limits,
    sessions: createSessions({ ledger: files.ledger.db, genesisHash: marketplace.genesis, now: () => Date.now() }),
    accounts,
    engine: gate.guard(engine),
    gate,
    metrics,
    operator: {
      ...money,
      authority: chain.authority.toBase58(),
      readBalances: accounts.readBalances,
      nodes: chain.nodes,
      lamportsPerCall: metrics.lamportsPerCall,
    },
    readKeyDirectory: keyDirectory.read,
    agentHealth,
    callCreator: (call) => callCreator(creators, { ...call, once: true }),
    now: () => Date.now(),
    log,
  };
  const server = createHttpServer(deps);
  const answered = watchAnswers(server);
  baseUrl = await listen(server, config);
  // So that nobody's first list waits for it.
  deps.listed.current().catch((error) => log.warn({ error: String(error) }, 'the listings could not be read'));
  // Money that an older ledger forgot comes first; then what this one left unfinished.
  const endLease = await leases.keep(log);
  sweeper = startSweeper({
    chain,
    views: files.views.db,
    nodes: createArchiveNodes(files.writes, files.ledger.db),
    place,
    leases,
    settings: config.archive,
    minLamports: config.runway.minLamports,
    log,
  });
  const ends = [watch.end, keyDirectory.end, endStanding, runway.end, storage.end];
  // Its own rows too may be another's, as where the whole ledger was copied: nothing is done about any before.
  let isStopping = false;
  const onAlone = () => {
    if (isStopping) return;
    watch.start();
    ends.push(startRecovery(engine, leadership, log));
  };
  const reconciling = reconcileLedger({ engine, gate, watch, onAlone, views: files.views.db, log }, stopping.signal);
  await within(reconciling, RECONCILE_WAIT_MS);
  const endKeeping = startKeeping({
    ledger: files.ledger.db,
    views: files.views.db,
    objects,
    readText: parts.readText,
    settings: config.results,
    now: deps.now,
    log,
  });
  ends.push(startProber(deps, agentHealth, config.degraded.probeSeconds));
  log.info({ url: baseUrl }, 'relay is ready');

  async function stop(): Promise<void> {
    isStopping = true;
    if (config.leaveSeconds > 0) {
      gate.announce('stopping');
      endConnections(server);
      await sleep(config.leaveSeconds * 1_000);
    }
    gate.set('stopping', true);
    server.close();
    for (const end of ends) end();
    const limitMs = (config.shutdownSeconds - config.leaveSeconds) * 1_000;
    const restMs = (limitMs * (1 - DRAIN_SHARE)) / 3;
    await within(engine.idle(), limitMs * DRAIN_SHARE);
    stopping.abort(new Error('stopping'));
    await within(sweeper?.end() ?? Promise.resolve(), restMs);
    await within(Promise.all([engine.stop(), endKeeping()]), restMs);
    await within(answered(), restMs);
    server.closeAllConnections();
    await leadership.leave();
    await endLease();
    chain.close();
    await within(Promise.allSettled([keyUse.close(), creators.destroy(), limits.end()]), restMs);
    await files.close();
  }
  return { url: baseUrl, engine, commits, stop };
}

function connect(config: RelayConfig, log: Logger, observe: Observe, metrics: Metrics): RelayChain {
  const { rpcUrl, wsUrl, moreNodes } = config;
  return createRelayChain({
    rpcUrl,
    wsUrl,
    moreNodes,
    onDisagreement: metrics.rpcDisagreed,
    authority: config.authority,
    log,
    observe,
    fetch: watchRpc(createRpcFetch(), metrics.rpcFailed),
    createFees: (connection) => {
      const writable = [findTreasury(), config.authority.publicKey];
      const source = config.helius
        ? heliusPrice(config.helius, [PROGRAM_ID, ...writable].map(String))
        : recentPrice(connection, writable);
      const payer = config.authority.publicKey;
      return createFees({
        connection,
        payer,
        source,
        minPrice: config.minPriorityFee,
        maxLamports: config.maxPriorityFeeLamports,
        log,
      });
    },
  });
}

function requireAuthority(config: Config, chain: RelayChain): void {
  const named = relayAuthoritiesOf(config);
  if (named.some((authority) => authority.equals(chain.authority))) return;
  throw new Error(
    `The marketplace's relay authorities are ${named.join(', ')}, but RELAY_KEYPAIR is the key of ${chain.authority}`,
  );
}

/** A program takes no lamports: each open that names one would fail and cost its fee. */
async function requireRentReturn(address: PublicKey | null, chain: RelayChain): Promise<void> {
  if (address === null) return;
  const { accounts } = await chain.read([address]);
  if (accounts[0]?.executable)
    throw new Error(`RENT_RETURN_ADDRESS ${address} is a program, which can take no lamports`);
}

interface EngineParts {
  storage: Storage;
  readText: ReadText;
  files: OpenLedger;
  chain: RelayChain;
  /** The marketplace's, as it was when the relay started. */
  config: Config;
  creators: CreatorPool;
  documents: Documents;
  agentHealth: AgentHealthReader;
  gate: Gate;
  watch: AuthorityWatch;
  metrics: Metrics;
  observe: Observe;
}

/** The engine with its journal, and what shuts the gate where the chain refuses its opens. */
function assembleEngine({ config, log, wrapChain, wrapJournal }: RelayOptions, parts: EngineParts) {
  const { files, chain, gate, documents } = parts;
  const { ledger, writes } = files;
  const owner = randomUUID();
  const journal = createJournal(parts.storage.listenTo(writes), ledger.db, owner);
  const leases = files.leasesOf(owner);
  const standing = watchStanding(chain, parts.config, log, ({ isOurs, opensPaused }) => {
    gate.set('authority_changed', !isOurs);
    gate.set('opens_paused', opensPaused);
  });
  gate.set('opens_paused', parts.config.opensPaused);
  const exposure = createExposure();
  const engine = createEngine({
    chain: wrapChain ? wrapChain(chain) : chain,
    leases,
    journal: parts.metrics.listenTo(wrapJournal ? wrapJournal(journal) : journal),
    creators: parts.creators,
    usdcMint: parseAddress(parts.config.usdcMint.toBase58()),
    budgets: config.budgets,
    rentReturn: config.rentReturn ?? chain.authority,
    isAlone: parts.watch.isAlone,
    authorities: standing,
    keepLate: createKeepLate(journal, ledger.db, log),
    async requireServing(listing) {
      exposure.requireRoom(listing);
      await parts.agentHealth.requireServing(listing);
    },
    openFailed(error, listing) {
      if (error === 'ExposureLimitReached') exposure.reached(listing);
      // What the chain has said counts until Config says otherwise.
      if (error === 'OpensPaused') gate.set('opens_paused', true);
      if (error === 'OpensPaused' || error === 'NotRelayAuthority') void standing.look();
    },
    readText: parts.readText,
    resultBytesPerCent: config.results.bytesPerCent,
    endpointOf: async (hash) => (await documents.get(hash))?.metadata.endpoint ?? null,
    log,
    observe: parts.observe,
  });
  const place = createSweepPlace(writes, ledger.db, owner);
  const leadership = createLeadership(ledger.db, owner);
  return { engine, leases, leadership, place, commits: writes.commits, endStanding: standing.end };
}

async function startRunway(config: RelayConfig, chain: RelayChain, gate: Gate, log: Logger): Promise<Runway> {
  const runway = createRunway({
    readBalance: () => chain.connection.getBalance(chain.authority),
    limits: config.runway,
    onChange: (isLow) => gate.set('fees_low', isLow),
    log,
    now: () => Date.now(),
  });
  await runway.look();
  runway.start();
  return runway;
}

async function startStorage(config: RelayConfig, gate: Gate, log: Logger): Promise<Storage> {
  const storage = createStorage({
    // Where PostgreSQL's disk is, only PostgreSQL knows.
    readFree: config.databaseUrl === null ? () => freeBytes(config.dataDir) : null,
    minFree: config.minFreeBytes,
    onChange: (isLow) => gate.set('storage_low', isLow),
    log,
    now: () => Date.now(),
  });
  await storage.look();
  storage.start();
  return storage;
}

/** Where it listens, without a trailing slash. */
async function listen(server: Server, config: RelayConfig): Promise<string> {
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return config.baseUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}
