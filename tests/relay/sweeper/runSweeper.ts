/** A sweeper on a test's ledger, index and node, as the relay runs it. */
import { randomUUID } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import pino from 'pino';
import { createRelayChain, type RelayChain } from '../../../app/relay/chain/relayChain.ts';
import { readKeypair } from '../../../app/relay/config.ts';
import { createArchiveNodes } from '../../../app/relay/ledger/archiveNodes.ts';
import { createLeadership } from '../../../app/relay/ledger/leadership.ts';
import { openLedger } from '../../../app/relay/ledger/open.ts';
import { createSweepTransactions } from '../../../app/relay/ledger/sweepTransactions.ts';
import { type SweepSettings, startSweeper } from '../../../app/relay/sweeper/sweeper.ts';

/**
 * Steps of a sweeper's first transaction: signed but not stored; stored but not sent; sent with unknown outcome; outcome
 * known but not stored; nodes not written.
 */
export type Step = 'signed' | 'stored' | 'sent' | 'landed' | 'nodes';

export interface SweeperOptions {
  dataDir: string;
  databaseUrl: string | null;
  rpcUrl: string;
  wsUrl: string;
  /** Path of the relay authority's key. */
  keypair: string;
  usdcMint: string;
  isOn?: SweepSettings['isOn'];
  patienceMs?: number;
  /** After this step the process kills itself, without any cleanup. */
  dieAt?: Step;
}

export async function runSweeper({ rpcUrl, wsUrl, keypair, usdcMint, ...options }: SweeperOptions) {
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' }, pino.destination(2));
  const owner = randomUUID();
  const { writes, ledger, views, leasesOf, close } = await openLedger(options);
  const chain = createRelayChain({ rpcUrl, wsUrl, authority: readKeypair(keypair), log });
  const nodes = createArchiveNodes(writes, ledger.db);
  const leases = leasesOf(owner);
  const leadership = createLeadership(ledger.db, owner);

  function pass(step: Step): void {
    if (options.dieAt === step) process.kill(process.pid, 'SIGKILL');
  }
  const watched: RelayChain = {
    ...chain,
    async simulate(bytes) {
      const failure = await chain.simulate(bytes);
      pass('signed');
      return failure;
    },
    async submit(signed, hasHappened, stop) {
      pass('stored');
      if (options.dieAt === 'sent') await chain.connection.sendRawTransaction(signed.bytes, { skipPreflight: true });
      pass('sent');
      const outcome = await chain.submit(signed, hasHappened, stop);
      pass('landed');
      return outcome;
    },
  };

  const release = await leases.keep(log);
  // As the recovery of a relay, it notices relays that were killed.
  const watch = setInterval(() => leases.alive(Date.now()), 200);
  const sweeper = startSweeper(
    {
      chain: watched,
      views: views.db,
      nodes: {
        ...nodes,
        async write(...growth) {
          pass('nodes');
          await nodes.write(...growth);
        },
      },
      transactions: createSweepTransactions(writes, ledger.db, owner),
      leadership,
      settings: { isOn: options.isOn ?? true, waitSeconds: 0 },
      minLamports: 0,
      usdcMint: new PublicKey(usdcMint),
      spent: () => undefined,
      log,
    },
    { pauseMs: 50, followMs: 50, ...(options.patienceMs && { patienceMs: options.patienceMs }) },
  );
  return {
    figures: sweeper.figures,
    /** Stops it in an orderly way, as the relay does. */
    async end(): Promise<void> {
      await sweeper.end();
      await leadership.leave();
      clearInterval(watch);
      await release();
      chain.close();
      await close();
    },
  };
}
