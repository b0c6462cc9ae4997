/**
 * A sweeper as a separate process on a test's ledger, index and node, as the relay runs it. DIE_AT names the step of
 * its first transaction after which the process kills itself, without any cleanup.
 */
import { randomUUID } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import pino from 'pino';
import { createRelayChain, type RelayChain } from '../../../app/relay/chain/relayChain.ts';
import { readKeypair } from '../../../app/relay/config.ts';
import { createArchiveNodes } from '../../../app/relay/ledger/archiveNodes.ts';
import { createLeadership } from '../../../app/relay/ledger/leadership.ts';
import { openLedger } from '../../../app/relay/ledger/open.ts';
import { createSweepTransactions } from '../../../app/relay/ledger/sweepTransactions.ts';
import type { SweepSettings } from '../../../app/relay/sweeper/sweeper.ts';
import { startSweeper } from '../../../app/relay/sweeper/sweeper.ts';

/**
 * Signed but not stored; stored but not sent; sent with unknown outcome; outcome known but not stored; nodes not
 * written.
 */
export const STEPS = ['signed', 'stored', 'sent', 'landed', 'nodes'] as const;
export type Step = (typeof STEPS)[number];

const { DATA_DIR = '', DATABASE_URL, SOLANA_RPC_URL = '', SOLANA_WS_URL = '', RELAY_KEYPAIR = '' } = process.env;
const { DIE_AT, MODE = 'on', PATIENCE_MS, USDC_MINT = '' } = process.env;
const log = pino({ level: process.env.TEST_LOG ?? 'silent' }, pino.destination(2));
const owner = randomUUID();
const { writes, ledger, views, leasesOf } = await openLedger({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL ?? null });
const authority = readKeypair(RELAY_KEYPAIR);
const chain = createRelayChain({ rpcUrl: SOLANA_RPC_URL, wsUrl: SOLANA_WS_URL, authority, log });
const nodes = createArchiveNodes(writes, ledger.db);
const leases = leasesOf(owner);
const leadership = createLeadership(ledger.db, owner);

function die(step: Step): void {
  if (DIE_AT === step) process.kill(process.pid, 'SIGKILL');
}

const deadly: RelayChain = {
  ...chain,
  async simulate(bytes) {
    const failure = await chain.simulate(bytes);
    die('signed');
    return failure;
  },
  async submit(signed, hasHappened, stop) {
    die('stored');
    if (DIE_AT === 'sent') await chain.connection.sendRawTransaction(signed.bytes, { skipPreflight: true });
    die('sent');
    const outcome = await chain.submit(signed, hasHappened, stop);
    die('landed');
    return outcome;
  },
};

await leases.keep(log);
// As the recovery of a relay, it notices relays that were killed.
setInterval(() => leases.alive(Date.now()), 200);
const sweeper = startSweeper(
  {
    chain: deadly,
    views: views.db,
    nodes: {
      ...nodes,
      async write(...growth) {
        die('nodes');
        await nodes.write(...growth);
      },
    },
    transactions: createSweepTransactions(writes, ledger.db, owner),
    leadership,
    settings: { mode: MODE as SweepSettings['mode'], waitSeconds: 0 },
    minLamports: 0,
    usdcMint: new PublicKey(USDC_MINT),
    spent: () => undefined,
    log,
  },
  { pauseMs: 50, followMs: 50, ...(PATIENCE_MS && { patienceMs: Number(PATIENCE_MS) }) },
);
process.on('message', async (message) => {
  if (message === 'figures') process.send?.(await sweeper.figures());
  if (message === 'end') {
    await sweeper.end();
    await leadership.leave();
    chain.close();
    process.exit(0);
  }
});
process.send?.('ready');
