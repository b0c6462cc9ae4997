/**
 * Starts the whole service: opens the ledger, connects to the chain, starts the HTTP server, compares the ledger with
 * the chain, and continues unfinished executions. Only then does it accept new ones.
 */
import { randomUUID } from 'node:crypto';
import { once, setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { attachedIndex, readRestartSlot } from '../../indexer/queries/read.ts';
import { BUILD } from '../process/build.ts';
import { freeBytes } from '../process/disk.ts';
import {
  areOpensPaused,
  type Config,
  constants,
  findTreasury,
  PROGRAM_ID,
  parseAddress,
  relayAuthoritiesOf,
} from '../sdk/program/program.ts';
import { formatSol } from '../sdk/wire/sol.ts';
import { type Clock, createClock } from '../solana/clock.ts';
import { watchRpc } from '../solana/failure.ts';
import { type Finality, readFinality } from '../solana/finality.ts';
import { heliusPrice } from '../solana/helius.ts';
import { createRpcFetch } from '../solana/rpc.ts';
import { createKeyUse } from './access/auth.ts';
import { createSessions } from './access/sessions.ts';
import { type AgentHealthReader, createAgentHealth } from './agents/agentHealth.ts';
import { createDocuments, type Documents, describeStored } from './agents/documents.ts';
import { startProber } from './agents/prober.ts';
import { createUndocumented, type Undocumented } from './agents/undocumented.ts';
import { createLostCalls } from './calls/lostCalls.ts';
import { networkOf, secretOf } from './calls/x402/quote.ts';
import { serviceFeeAt } from './calls/x402/serviceFee.ts';
import { createUnpaidLimit } from './calls/x402/unpaid.ts';
import { createChainAccounts } from './chain/accounts.ts';
import { readMarketplace, watchStanding } from './chain/cluster.ts';
import { createBudget, createEdgeBudget } from './chain/edgeBudget.ts';
import { createFees, recentPrice } from './chain/fees.ts';
import { createRelayChain, type RelayChain } from './chain/relayChain.ts';
import type { Observe } from './chain/stages.ts';
import type { RelayConfig } from './config.ts';
import type { RelayDeps } from './deps.ts';
import { ApiError } from './errors.ts';
import { createEvents, type RunningEvents } from './events/events.ts';
import { createWarnings } from './events/warnings.ts';
import { type AuthorityWatch, createAuthorityWatch } from './execution/authorityWatch.ts';
import { createEngine } from './execution/engine.ts';
import { createExposure } from './execution/exposure.ts';
import { startKeeping } from './execution/keeping.ts';
import { createKeepLate } from './execution/late.ts';
import { startRecovery } from './execution/recover.ts';
import { compareEnds } from './execution/restarted.ts';
import { explorerQuery } from './explorer.ts';
import { endConnections, watchAnswers } from './http/drain.ts';
import { createHttpServer } from './http/server.ts';
import { createKeyReader } from './ledger/apiKeys.ts';
import { createArchiveNodes } from './ledger/archiveNodes.ts';
import { listBackups } from './ledger/backup.ts';
import { shareCallKeys } from './ledger/callKeys.ts';
import { createJournal, type Journal } from './ledger/journal.ts';
import { createLeadership, type Leadership } from './ledger/leadership.ts';
import { noteLender } from './ledger/lenders.ts';
import { createSharedLimits, ownLimits } from './ledger/limits.ts';
import { type OpenLedger, openLedger } from './ledger/open.ts';
import { createPayers, type Payers } from './ledger/payers.ts';
import { createSweepTransactions } from './ledger/sweepTransactions.ts';
import { hasSigned } from './ledger/transactions.ts';
import { isReturned, readClosedEnd, readLandedReturns, readUnknownOpen } from './ledger/unfinished.ts';
import { type ChainWatch, createChainWatch } from './operation/chainWatch.ts';
import { createGate, type Gate } from './operation/gate.ts';
import { createLending, type WatchedLending } from './operation/lending.ts';
import { watchLoad } from './operation/load.ts';
import { createMetrics, type Metrics } from './operation/metrics.ts';
import { reconcileLedger } from './operation/reconciling.ts';
import { createRunway, type Runway } from './operation/runway.ts';
import { createStorage, type Storage } from './operation/storage.ts';
import { loadCallKeys } from './outbound/callKeys.ts';
import { type CreatorPool, callCreator, createCreatorPool } from './outbound/dispatch.ts';
import { createReadText, createResultObjects, type ReadText } from './outbound/resultObjects.ts';
import { createPost } from './outbound/testPost.ts';
import { createWebhookCalls, type WebhookCalls } from './outbound/webhook.ts';
import { type Sweeper, startSweeper } from './sweeper/sweeper.ts';
import { within } from './waiting.ts';

/** The share of the stopping time in which executions may still end. The rest is for answers and files. */
const DRAIN_SHARE = 0.7;

/** How long the start waits for the ledger to be compared with the chain. The gate stays closed until then. */
const RECONCILE_WAIT_MS = 3_000;

/** Four transactions, one after another, would take a minute there, and the payment's blockhash expires before. */
const X402_OFF = 'Payments by x402 are off: this cluster has no Alpenglow and takes 14 s to finalize a block';

/** Output of `npm run build:dashboard`. */
const DASHBOARD = join(import.meta.dirname, '..', 'dashboard', 'dist');

export interface RelayOptions {
  config: RelayConfig;
  log: Logger;
  /** Lets a test wrap the journal of the engine, to end the process at a chosen step. */
  wrapJournal?: (journal: Journal) => Journal;
  /** The same for the chain of the engine. */
  wrapChain?: (chain: RelayChain) => RelayChain;
  /** True if other parts, such as a node, run in this process, so that its load is not the relay's own. */
  sharesProcess?: boolean;
}

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
  const { files, chain, gate, storage, runway, agentHealth, watch } = parts;
  const { engine, leases, leadership, sweepTransactions, commits, standing, chainWatch } = assembleEngine(
    options,
    parts,
  );
  const stopping = new AbortController();
  // Every revocation in flight listens to it.
  setMaxListeners(0, stopping.signal);
  const keyUse = createKeyUse(files.ledger.db, log);

  const takeReading = createEdgeBudget(config.edgeRpcPerSecond, parts.payers);
  const accounts = createChainAccounts(chain, takeReading, stopping.signal);

  const limits = config.databaseUrl === null ? ownLimits() : createSharedLimits(config.databaseUrl, randomUUID(), log);
  const calls = createWebhookCalls({ allowPrivate: config.allowPrivateEndpoints });
  const events = assembleEvents(files, calls, standing.config, log);
  let baseUrl = '';
  const load = watchLoad();
  const deps = assembleDeps(options, parts, {
    baseUrl: () => baseUrl,
    isBusy: () => !options.sharesProcess && engine.inFlight() > 0 && load.isBusy(),
    genesisHash: marketplace.genesis,
    engine: gate.guard(engine),
    door: assembleDoor(config, parts, marketplace.genesis, limits),
    keyUse,
    limits,
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
  // Orphans of an older ledger come first, then the unfinished rows of this one.
  const endLease = await leases.keep(log);
  sweeper = startSweeper({
    chain,
    views: files.views.db,
    nodes: createArchiveNodes(files.writes, files.ledger.db),
    transactions: sweepTransactions,
    leadership,
    settings: config.archive,
    minLamports: config.runway.minLamports,
    usdcMint: parseAddress(parts.config.usdcMint.toBase58()),
    spent: (lamports) => runway.spend(lamports),
    log,
  });
  const ends = [load.end, watch.end, chainWatch.end, keyDirectory.end, standing.end, runway.end, storage.end];
  // In a copied ledger, our rows may belong to another deployment. Until that is excluded, no row is touched.
  let isStopping = false;
  const onAlone = () => {
    if (isStopping) return;
    watch.start();
    chainWatch.start();
    const { recover, countRents, adoptOrphans, parkLanded } = engine;
    const adoptUnknown = async () => {
      await parkLanded(await readLandedReturns(files.views.db));
      // A void row is ours at any time: its open has landed although it had been given up.
      await adoptOrphans(await readUnknownOpen(files.views.db, chain.clock()));
    };
    ends.push(startRecovery({ recover, countRents, adoptUnknown }, leadership, log));
    events.startSending();
  };
  const reconciling = reconcileLedger(
    { engine, gate, watch, chainWatch, onAlone, views: files.views.db, log },
    stopping.signal,
  );
  await within(reconciling, RECONCILE_WAIT_MS);
  const endKeeping = startKeeping({
    ledger: files.ledger.db,
    views: files.views.db,
    objects,
    settings: config.results,
    now: deps.now,
    log,
  });
  ends.push(startProber(deps, agentHealth, config.degraded.probeSeconds));
  events.start();
  log.info({ url: baseUrl, release: BUILD.release, build: BUILD.build }, 'relay is ready');

  function stop(): Promise<void> {
    isStopping = true;
    const ending = {
      server,
      answered,
      stopping,
      leadership,
      endLease,
      endKeeping,
      keyUse,
      limits,
      ends,
      sweeper,
      events,
      calls,
    };
    return closeRelay({ config, parts, engine, ...ending });
  }
  return { url: baseUrl, engine, commits, stop };
}

/** An empty market of a restored ledger would otherwise look like one without agents. */
async function reportUndescribed(undocumented: Undocumented, log: Logger): Promise<void> {
  try {
    const listings = (await undocumented.read()).length;
    if (listings > 0)
      log.warn(
        { listings },
        'active listings have no description here and cannot be called; `npm run relay -- import` brings exported ones back',
      );
  } catch (error) {
    log.warn({ error }, 'cannot read the listings');
  }
}

/** Everything that a stop must end. */
interface Running {
  config: RelayConfig;
  parts: EngineParts;
  engine: ReturnType<typeof createEngine>;
  server: Server;
  /** Resolves when no answer is outstanding. */
  answered(): Promise<unknown>;
  /** Aborts everything that still waits. */
  stopping: AbortController;
  leadership: ReturnType<typeof createLeadership>;
  endLease(): Promise<void>;
  endKeeping(): Promise<unknown>;
  keyUse: ReturnType<typeof createKeyUse>;
  limits: RelayDeps['limits'];
  /** Ends the periodic tasks. */
  ends: (() => void)[];
  sweeper: Sweeper | null;
  events: RunningEvents;
  calls: WebhookCalls;
}

async function closeRelay(running: Running): Promise<void> {
  const { config, parts, engine, server, stopping } = running;
  if (config.leaveSeconds > 0) {
    parts.gate.announce('stopping');
    endConnections(server);
    await sleep(config.leaveSeconds * 1_000);
  }
  parts.gate.set('stopping', true);
  server.close();
  for (const end of running.ends) end();
  const limitMs = (config.shutdownSeconds - config.leaveSeconds) * 1_000;
  const restMs = (limitMs * (1 - DRAIN_SHARE)) / 3;
  await within(engine.idle(), limitMs * DRAIN_SHARE);
  stopping.abort(new Error('stopping'));
  await within(running.sweeper?.end() ?? Promise.resolve(), restMs);
  await within(Promise.all([engine.stop(), running.endKeeping(), running.events.end()]), restMs);
  await within(running.answered(), restMs);
  server.closeAllConnections();
  await running.leadership.leave();
  await running.endLease();
  parts.chain.close();
  await within(
    Promise.allSettled([
      running.keyUse.close(),
      parts.creators.destroy(),
      running.calls.destroy(),
      running.limits.end(),
    ]),
    restMs,
  );
  await parts.files.close();
}

/** The cluster's finality. Says what it changes for this relay. */
async function startFinality({ rpcUrl, moreNodes, x402 }: RelayConfig, gate: Gate, log: Logger): Promise<Finality> {
  const finality = await readFinality([rpcUrl, ...moreNodes.map((node) => node.rpcUrl)], () =>
    log.warn({}, 'no node answers getAgGenesisCert, so the cluster counts as one without Alpenglow'),
  );
  log.info({ finality_ms: finality.ms }, 'read how long the cluster takes to finalize a block');
  if (!x402 || finality.isFast) return finality;
  log.warn({}, X402_OFF);
  gate.advise(X402_OFF);
  return finality;
}

function connect(
  config: RelayConfig,
  finality: Finality,
  { log, observe, metrics, clock }: { log: Logger; observe: Observe; metrics: Metrics; clock: Clock },
): RelayChain {
  const { rpcUrl, wsUrl, moreNodes } = config;
  return createRelayChain({
    rpcUrl,
    wsUrl,
    moreNodes,
    finality,
    onDisagreement: metrics.rpcDisagreed,
    authority: config.authority,
    feePayer: config.x402?.feePayer ?? null,
    log,
    observe,
    fetch: clock.watch(watchRpc(createRpcFetch(), metrics.rpcFailed)),
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
    `RELAY_KEYPAIR is the key of ${chain.authority}, which is not among the marketplace's relay authorities: ${named.join(', ')}`,
  );
}

interface EngineParts {
  storage: Storage;
  runway: Runway;
  lending: WatchedLending;
  /** Of the fee payer of x402 payments. */
  x402Runway: Runway | null;
  readText: ReadText;
  files: OpenLedger;
  payers: Payers;
  undocumented: Undocumented;
  clock: Clock;
  chain: RelayChain;
  /** The marketplace's Config at the start of the relay. */
  config: Config;
  creators: CreatorPool;
  documents: Documents;
  agentHealth: AgentHealthReader;
  gate: Gate;
  watch: AuthorityWatch;
  metrics: Metrics;
  observe: Observe;
}

/** Figures of parts that are built later, read on request. */
interface Later {
  inFlight(): number;
  swept(): ReturnType<RelayDeps['operator']['swept']>;
}

/** Builds the ledger, the chain and the parts between them and the engine. Throws with a message for an operator. */
async function assembleParts(options: RelayOptions, more: Later) {
  const { config, log } = options;
  const files = await openLedger(config);
  await describeStored(files.ledger.db);
  const undocumented = createUndocumented(files.views.db);
  const money = { runway: () => runway.status(), swept: more.swept };
  const x402FeePayer = config.x402 && (() => parts.x402Runway?.status().lamports ?? Number.NaN);
  const metrics: Metrics = createMetrics({
    views: files.views.db,
    inFlight: more.inFlight,
    obstacles: () => gate.obstacles(),
    nodes: () => chain.nodes(),
    x402FeePayer,
    ...money,
    lendingLimit: () => lending.limit(),
    spent: (lamports) => runway.spend(lamports),
    undescribed: async () => (await undocumented.read()).length,
    freeBytes: () => freeBytes(config.dataDir),
    backedUpAt: async () => listBackups(config.backupDir)[0]?.madeAt ?? null,
    ended: (call) => log.info(call, 'call ended'),
    now: () => Date.now(),
  });
  const { observe } = metrics;
  const gate = createGate();
  const finality = await startFinality(config, gate, log);
  const clock = createClock(() => Date.now());
  const chain = connect(config, finality, { log, observe, metrics, clock });
  await chain.look();
  const marketplace = await readMarketplace(chain, config.environment);
  requireAuthority(marketplace.config, chain);
  await noteLender(files.ledger.db, chain.authority.toBase58());
  const callKeys = loadCallKeys(config.callKeysPath);
  const keyDirectory = await shareCallKeys(files.ledger.db, callKeys.directory, log);
  const objects = config.results.objects && createResultObjects(config.results.objects);
  const storage = await startStorage(config, gate, log);
  const lending = createLending({
    ...config,
    recordSeconds: marketplace.config.recordSeconds,
    archiveWaitSeconds: config.archive.waitSeconds,
    minLamports: config.runway.minLamports,
    views: files.views.db,
  });
  const runway = await startRunway(config, chain, gate, lending, log);
  const parts: EngineParts = {
    storage,
    runway,
    lending,
    x402Runway: await startX402Runway(config, chain, marketplace.config, log),
    readText: createReadText(objects, log),
    files,
    payers: createPayers(files.views.db),
    undocumented,
    clock,
    chain,
    config: marketplace.config,
    creators: createCreatorPool({ allowPrivate: config.allowPrivateEndpoints, sign: callKeys.sign }),
    documents: createDocuments(files.views.db),
    agentHealth: createAgentHealth(files.ledger, config.degraded.refuseAfter, config.degraded.probeSeconds),
    gate,
    watch: watchAuthority(config, { files, chain, gate }, log),
    metrics,
    observe,
  };
  return { parts, marketplace, keyDirectory, objects, money };
}

type MoreDeps = Pick<
  RelayDeps,
  'baseUrl' | 'door' | 'genesisHash' | 'engine' | 'isBusy' | 'keyUse' | 'limits' | 'readKeyDirectory' | 'streams'
> & {
  accounts: ReturnType<typeof createChainAccounts>;
  money: Pick<RelayDeps['operator'], 'runway' | 'swept'>;
};

/** Builds the dependencies of the API. */
function assembleDeps({ config, log }: RelayOptions, parts: EngineParts, more: MoreDeps): RelayDeps {
  const { files, chain, metrics, payers } = parts;
  return {
    config,
    dashboardFolder: DASHBOARD,
    baseUrl: more.baseUrl,
    explorerQuery: explorerQuery(more.genesisHash, config.publicRpcUrl),
    ledger: files.ledger.db,
    views: files.views.db,
    readText: parts.readText,
    documents: parts.documents,
    findKey: createKeyReader(files.views),
    payers,
    isBusy: more.isBusy,
    lostCalls: createLostCalls({
      ledger: files.ledger.db,
      views: files.views.db,
      clock: more.accounts.clock,
      now: () => Date.now(),
      log,
    }),
    undocumented: parts.undocumented,
    keyUse: more.keyUse,
    genesisHash: more.genesisHash,
    limits: more.limits,
    sessions: createSessions({ ledger: files.ledger.db, genesisHash: more.genesisHash, payers, now: () => Date.now() }),
    accounts: more.accounts,
    engine: more.engine,
    door: more.door,
    noDoor: config.x402 && !chain.finality.isFast ? X402_OFF : 'This service does not accept x402 payments',
    gate: parts.gate,
    metrics,
    operator: {
      ...more.money,
      authority: chain.authority.toBase58(),
      readBalances: more.accounts.readBalances,
      nodes: chain.nodes,
      lending: parts.lending,
      clock: () => chain.clock(),
      x402: () =>
        config.x402 && {
          feePayer: config.x402.feePayer.publicKey.toBase58(),
          lamports: parts.x402Runway?.status().lamports ?? null,
          minLamports: config.x402.minLamports,
        },
      lamportsPerCall: metrics.lamportsPerCall,
    },
    readKeyDirectory: more.readKeyDirectory,
    streams: more.streams,
    agentHealth: parts.agentHealth,
    callCreator: (call) => callCreator(parts.creators, { ...call, once: true }),
    testTools: { sign: parts.creators.sign, post: createPost(parts.creators) },
    now: () => Date.now(),
    log,
  };
}

function watchAuthority(
  config: RelayConfig,
  { files, chain, gate }: Pick<EngineParts, 'files' | 'chain' | 'gate'>,
  log: Logger,
): AuthorityWatch {
  return createAuthorityWatch({
    chain,
    isInLedger: ({ executionId, signature }) => hasSigned(files.ledger.db, executionId, signature),
    silenceSeconds: config.authoritySilenceSeconds,
    onChange: (isShared) => gate.set('authority_shared', isShared),
    log,
  });
}

/** Watches the cluster. The leader compares the ledger after a restart. */
function watchChain(
  {
    files,
    chain,
    clock,
    gate,
    journal,
    leadership,
  }: Pick<EngineParts, 'files' | 'chain' | 'clock' | 'gate'> & { journal: Journal; leadership: Leadership },
  log: Logger,
): ChainWatch {
  const views = files.views.db;
  return createChainWatch({
    chain,
    ledger: files.ledger.db,
    gate,
    readIndexRestart: () => readRestartSlot(attachedIndex(views)),
    async compare() {
      if (!(await leadership.leads('restart'))) return false;
      // Another relay's node may answer.
      return compareEnds({ chain, journal, views }, log).catch(async (error) => {
        await leadership.leave('restart');
        throw error;
      });
    },
    now: () => Date.now(),
    aheadMs: clock.aheadMs,
    log,
  });
}

/** Builds the engine with its journal, and closes the gate when the chain refuses its opens. */
function assembleEngine({ config, log, wrapChain, wrapJournal }: RelayOptions, parts: EngineParts) {
  const { files, chain, gate, documents } = parts;
  const { ledger, writes } = files;
  const owner = randomUUID();
  const journal = createJournal(parts.storage.listenTo(writes), ledger.db, owner);
  const leases = files.leasesOf(owner);
  const standing = watchStanding(chain, parts.config, log, ({ isOurs, opensPaused }) => {
    gate.set('authority_changed', !isOurs);
    gate.set('opens_paused', opensPaused);
    parts.lending.keeps(standing.config().recordSeconds);
  });
  gate.set('opens_paused', areOpensPaused(parts.config));
  const exposure = createExposure();
  const engine = createEngine({
    chain: wrapChain ? wrapChain(chain) : chain,
    leases,
    journal: parts.metrics.listenTo(wrapJournal ? wrapJournal(journal) : journal),
    creators: parts.creators,
    usdcMint: parseAddress(parts.config.usdcMint.toBase58()),
    lending: parts.lending,
    isAlone: parts.watch.isAlone,
    authorities: standing,
    hasPaid: parts.payers.hasPaid,
    keepLate: createKeepLate(journal, ledger.db, log),
    async requireServing(listing) {
      exposure.requireRoom(listing);
      await parts.agentHealth.requireServing(listing);
    },
    openFailed(error, listing) {
      if (error === 'ExposureLimitReached') exposure.reached(listing);
      // The chain's refusal counts until Config shows otherwise.
      if (error === 'OpensPaused') gate.set('opens_paused', true);
      if (error === 'OpensPaused' || error === 'NotRelayAuthority') void standing.look();
      // An error without a program name may be the system's: too few lamports.
      if (error === null) parts.runway.look().catch(() => undefined);
    },
    claimed: createWarnings({ ledger: ledger.db, writes, now: () => Date.now(), log }),
    readText: parts.readText,
    resultBytesPerCent: config.results.bytesPerCent,
    closedEnd: (executionId) => readClosedEnd(files.views.db, executionId),
    isReturned: (deposit) => isReturned(files.views.db, deposit),
    endpointOf: async (hash) => (await documents.get(hash))?.metadata.endpoint ?? null,
    log,
    observe: parts.observe,
  });
  const sweepTransactions = createSweepTransactions(writes, ledger.db, owner);
  const leadership = createLeadership(ledger.db, owner);
  const chainWatch = watchChain({ ...parts, journal, leadership }, log);
  return { engine, leases, leadership, sweepTransactions, commits: writes.commits, standing, chainWatch };
}

/** Builds all that reports events. `limits` returns the marketplace's current Config. */
function assembleEvents(
  { ledger, views, writes }: OpenLedger,
  calls: WebhookCalls,
  limits: () => Config,
  log: Logger,
): RunningEvents {
  return createEvents({ ledger: ledger.db, views: views.db, writes, calls, limits, now: () => Date.now(), log });
}

async function startRunway(
  config: RelayConfig,
  chain: RelayChain,
  gate: Gate,
  lending: WatchedLending,
  log: Logger,
): Promise<Runway> {
  const runway = createRunway({
    async readBalance() {
      const balance = await chain.connection.getBalance(chain.authority);
      await lending.look(balance);
      return balance;
    },
    whose: 'relay authority',
    refuses: 'new executions',
    limits: config.runway,
    onChange: (missing) => gate.set('fees_low', missing > 0, adviceOn(missing, chain.authority)),
    log,
    now: () => Date.now(),
  });
  await runway.look();
  runway.start();
  return runway;
}

/** Watches the SOL of the fee payer of x402 payments; null without one. Throws with a message for an operator. */
async function startX402Runway(config: RelayConfig, chain: RelayChain, marketplace: Config, log: Logger) {
  const { x402 } = config;
  const { feePayer } = chain;
  if (!x402 || !feePayer) return null;
  if (relayAuthoritiesOf(marketplace).some((authority) => authority.equals(feePayer))) {
    throw new Error(
      `X402_FEE_PAYER_KEYPAIR is the key of a relay authority, ${feePayer}. Create a separate key for it.`,
    );
  }
  const runway = createRunway({
    readBalance: () => chain.connection.getBalance(feePayer),
    whose: 'fee payer of x402 payments',
    refuses: 'quotes and payments of x402 clients',
    limits: { ...config.runway, minHours: 0, minLamports: x402.minLamports },
    onChange: () => undefined,
    log,
    now: () => Date.now(),
  });
  await runway.look();
  runway.start();
  return runway;
}

/** The dependencies of sales to x402 clients; null without a fee payer, and on a slow cluster. */
function assembleDoor(
  { x402, runway, edgeRpcPerSecond }: RelayConfig,
  { chain, config, x402Runway }: EngineParts,
  genesisHash: string,
  limits: RelayDeps['limits'],
): RelayDeps['door'] {
  if (!x402 || !chain.feePayer || !chain.finality.isFast) return null;
  // Apart from other strangers' requests: those without a payment cannot use it up.
  const take = createBudget(edgeRpcPerSecond);
  return {
    feePayer: chain.feePayer,
    usdcMint: parseAddress(config.usdcMint.toBase58()),
    network: networkOf(genesisHash),
    serviceFee: () => serviceFeeAt(x402.serviceFee, chain.quote()) ?? constants.maxServiceFee,
    secret: secretOf(x402.feePayer),
    ownKeys: [chain.feePayer, ...relayAuthoritiesOf(config)].map(String),
    lastHeightOf: chain.lastHeightOf,
    takeReading: async () => take(),
    unpaid: createUnpaidLimit(limits),
    requireFees() {
      if (serviceFeeAt(x402.serviceFee, chain.quote()) === null) throw feesTooHigh(runway.lookSeconds);
      if ((x402Runway?.status().lamports ?? 0) >= x402.minLamports) return;
      const message = 'The service has too little SOL for payments of x402 clients. The operator must fund it.';
      throw new ApiError('service_unavailable', message, { retryAfterSeconds: runway.lookSeconds });
    },
  };
}

function feesTooHigh(retryAfterSeconds: number): ApiError {
  const message = 'The network fees are too high for calls by x402 clients now. Use an API key, or retry later.';
  return new ApiError('service_unavailable', message, { retryAfterSeconds });
}

const adviceOn = (missing: number, authority: PublicKey): string =>
  `Send at least ${formatSol(BigInt(missing))} SOL to the relay authority ${authority}. New executions are accepted again when it has arrived.`;

async function startStorage(config: RelayConfig, gate: Gate, log: Logger): Promise<Storage> {
  const storage = createStorage({
    // The disk of a PostgreSQL server cannot be read here.
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

/** The listening address as a URL, without a trailing slash. */
async function listen(server: Server, config: RelayConfig): Promise<string> {
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return config.baseUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}
