/** Builds the ledger, the connection to the chain, and the parts between them and the engine. */
import type { Logger } from 'pino';
import { freeBytes } from '../../process/disk.ts';
import { type Config, findTreasury, PROGRAM_ID, relayAuthoritiesOf } from '../../sdk/program/program.ts';
import { type Clock, createClock } from '../../solana/clock.ts';
import { watchRpc } from '../../solana/failure.ts';
import { type Finality, readFinality } from '../../solana/finality.ts';
import { heliusPrice } from '../../solana/helius.ts';
import { createRpcFetch } from '../../solana/rpc.ts';
import { createAgentHealth } from '../agents/agentHealth.ts';
import { createDocuments } from '../agents/documents.ts';
import { createUndocumented } from '../agents/undocumented.ts';
import { readMarketplace } from '../chain/cluster.ts';
import { createFees, recentPrice } from '../chain/fees.ts';
import { createRelayChain, type RelayChain } from '../chain/relayChain.ts';
import type { Observe } from '../chain/stages.ts';
import type { RelayConfig } from '../config.ts';
import { type AuthorityWatch, createAuthorityWatch } from '../execution/recovery/authorityWatch.ts';
import type { RelayDeps } from '../http/deps.ts';
import { listBackups } from '../ledger/backup.ts';
import { shareCallKeys } from '../ledger/callKeys.ts';
import type { Journal } from '../ledger/journal.ts';
import { noteLender } from '../ledger/lenders.ts';
import { type OpenLedger, openLedger } from '../ledger/open.ts';
import { createPayers } from '../ledger/payers.ts';
import { hasSigned } from '../ledger/transactions.ts';
import { createGate, type Gate } from '../operation/gate.ts';
import { createLending } from '../operation/lending.ts';
import { createMetrics, type Metrics } from '../operation/metrics.ts';
import { loadCallKeys } from '../outbound/callKeys.ts';
import { createCreatorPool } from '../outbound/dispatch.ts';
import { createReadText, createResultObjects } from '../outbound/resultObjects.ts';
import { startRunway, startStorage, startX402Runway } from './reserves.ts';

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

/** Three final blocks, one after another, would take 42 s there, and the payment's blockhash expires before. */
export const X402_OFF = 'Payments by x402 are off: this cluster has no Alpenglow and takes 14 s to finalize a block';

export type EngineParts = Awaited<ReturnType<typeof assembleParts>>['parts'];

/** Figures of parts that are built later, read on request. */
interface Later {
  inFlight(): number;
  swept(): ReturnType<RelayDeps['operator']['swept']>;
}

/** Builds the ledger, the chain and the parts between them and the engine. Throws with a message for an operator. */
export async function assembleParts(options: RelayOptions, more: Later) {
  const { config, log } = options;
  const files = await openLedger(config);
  const undocumented = createUndocumented(files.views.db);
  const money = { runway: () => runway.status(), swept: more.swept };
  const x402FeePayer = config.x402 && (() => x402Runway?.status().lamports ?? Number.NaN);
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
  await chain.poll();
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
  const x402Runway = await startX402Runway(config, chain, marketplace.config, log);
  const parts = {
    storage,
    runway,
    lending,
    /** Of the fee payer of x402 payments; null without one. */
    x402Runway,
    readText: createReadText(objects, log),
    files,
    payers: createPayers(files.views.db),
    undocumented,
    clock,
    chain,
    /** The marketplace's Config at the start of the relay. */
    config: marketplace.config,
    creators: createCreatorPool({ allowPrivate: config.allowPrivateEndpoints, sign: callKeys.sign }),
    documents: createDocuments(files.views.db),
    agentHealth: createAgentHealth(files.ledger),
    gate,
    watch: watchForAnotherDeployment(config, { files, chain, gate }, log),
    metrics,
    observe,
  };
  return { parts, marketplace, keyDirectory, objects, money };
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

function watchForAnotherDeployment(
  config: RelayConfig,
  { files, chain, gate }: { files: OpenLedger; chain: RelayChain; gate: Gate },
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
