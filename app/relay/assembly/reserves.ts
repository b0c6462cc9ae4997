/** Watches what the relay must have to accept new executions: SOL of its two payers, and free space. */
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { freeBytes } from '../../process/disk.ts';
import { type Config, relayAuthoritiesOf } from '../../sdk/program/program.ts';
import { formatSol } from '../../sdk/wire/sol.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { RelayConfig } from '../config.ts';
import type { Gate } from '../operation/gate.ts';
import type { WatchedLending } from '../operation/lending.ts';
import { createRunway, type Runway } from '../operation/runway.ts';
import { createStorage, type Storage } from '../operation/storage.ts';

export async function startRunway(
  config: RelayConfig,
  chain: RelayChain,
  gate: Gate,
  lending: WatchedLending,
  log: Logger,
): Promise<Runway> {
  const runway = createRunway({
    async readBalance() {
      const balance = await chain.connection.getBalance(chain.authority);
      await lending.poll(balance);
      return balance;
    },
    whose: 'relay authority',
    refuses: 'new executions',
    limits: config.runway,
    onChange: (missing) => gate.set('fees_low', missing > 0, adviceOn(missing, chain.authority)),
    log,
    now: () => Date.now(),
  });
  await runway.poll();
  runway.start();
  return runway;
}

/** Watches the SOL of the fee payer of x402 payments; null without one. Throws with a message for an operator. */
export async function startX402Runway(config: RelayConfig, chain: RelayChain, marketplace: Config, log: Logger) {
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
  await runway.poll();
  runway.start();
  return runway;
}

export async function startStorage(config: RelayConfig, gate: Gate, log: Logger): Promise<Storage> {
  const storage = createStorage({
    // The disk of a PostgreSQL server cannot be read here.
    readFree: config.databaseUrl === null ? () => freeBytes(config.dataDir) : null,
    minFree: config.minFreeBytes,
    onChange: (isLow) => gate.set('storage_low', isLow),
    log,
    now: () => Date.now(),
  });
  await storage.poll();
  storage.start();
  return storage;
}

const adviceOn = (missing: number, authority: PublicKey): string =>
  `Send at least ${formatSol(BigInt(missing))} SOL to the relay authority ${authority}. New executions are accepted again when it has arrived.`;
