/** Builds the engine with its journal, and what watches the cluster for it. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { attachedIndex, readRestartSlot } from '../../../indexer/queries/read.ts';
import { areOpensPaused, parseAddress } from '../../sdk/program/program.ts';
import { watchAuthorities } from '../chain/cluster.ts';
import { createWarnings } from '../events/warnings.ts';
import { createExposure } from '../execution/begin/exposure.ts';
import { createEngine } from '../execution/engine.ts';
import { compareEnds } from '../execution/recovery/restarted.ts';
import { isReturned, readClosedEnd } from '../ledger/indexed.ts';
import { createJournal, type Journal } from '../ledger/journal.ts';
import { createLeadership, type Leadership } from '../ledger/leadership.ts';
import { createSweepTransactions } from '../ledger/sweepTransactions.ts';
import { type ChainWatch, createChainWatch } from '../operation/chainWatch.ts';
import type { EngineParts, RelayOptions } from './parts.ts';

/** Builds the engine with its journal, and closes the gate when the chain refuses its opens. */
export function assembleEngine({ log, wrapChain, wrapJournal }: RelayOptions, parts: EngineParts) {
  const { files, chain, gate, documents } = parts;
  const { ledger, writes } = files;
  const owner = randomUUID();
  const journal = createJournal(parts.storage.listenTo(writes), ledger.db, owner);
  const leases = files.leasesOf(owner);
  const authorities = watchAuthorities(chain, parts.config, log, ({ isOurs, opensPaused }) => {
    gate.set('authority_changed', !isOurs);
    gate.set('opens_paused', opensPaused);
    parts.lending.keeps(authorities.config().recordSeconds);
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
    authorities,
    hasPaid: parts.payers.hasPaid,
    requireExposure: exposure.requireRoom,
    openFailed(error, listing) {
      if (error === 'ExposureLimitReached') exposure.reached(listing);
      // The chain's refusal counts until Config shows otherwise.
      if (error === 'OpensPaused') gate.set('opens_paused', true);
      if (error === 'OpensPaused' || error === 'NotRelayAuthority') void authorities.poll();
      // An error without a program name may be the system's: too few lamports.
      if (error === null) parts.runway.poll().catch(() => undefined);
    },
    claimed: createWarnings({ ledger: ledger.db, writes, now: () => Date.now(), log }),
    readText: parts.readText,
    closedEnd: (executionId) => readClosedEnd(files.views.db, executionId),
    isReturned: (deposit) => isReturned(files.views.db, deposit),
    endpointOf: async (hash) => (await documents.get(hash))?.metadata.endpoint ?? null,
    log,
    observe: parts.observe,
  });
  const sweepTransactions = createSweepTransactions(writes, ledger.db, owner);
  const leadership = createLeadership(ledger.db, owner);
  const chainWatch = watchChain({ ...parts, journal, leadership }, log);
  return { engine, leases, leadership, sweepTransactions, commits: writes.commits, authorities, chainWatch };
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
