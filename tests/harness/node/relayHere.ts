/** Runs a relay on a marketplace's ledger inside the test's process. It starts fast, but cannot be killed. */
import type { DestinationStream } from 'pino';
import { readConfig } from '../../../app/relay/config.ts';
import { createLog } from '../../../app/relay/log.ts';
import { type RunningRelay, startRelay } from '../../../app/relay/start.ts';
import { relayEnvironment, type TestMarketplace, untilCompared } from './marketplace.ts';

/** `settings` are environment variables as an operator sets them. */
export async function startRelayHere(
  market: TestMarketplace,
  settings: NodeJS.ProcessEnv = {},
  destination?: DestinationStream,
): Promise<RunningRelay> {
  const config = readConfig({
    ...relayEnvironment(market),
    PUBLIC_RATE_PER_SECOND: '0',
    // Test machines may have small disks.
    MIN_FREE_BYTES: '0',
    SHUTDOWN_SECONDS: '1',
    LOG_LEVEL: process.env.TEST_LOG ?? 'error',
    ...settings,
  });
  const relay = await startRelay({ config, log: createLog(config.logLevel, destination) });
  await untilCompared(relay.url);
  return relay;
}

/** Starts relays here that end with their test. */
export function useRelaysHere(market: TestMarketplace) {
  const relays: RunningRelay[] = [];
  afterEach(async () => {
    for (const relay of relays.splice(0)) await relay.stop();
  });
  return async (settings: NodeJS.ProcessEnv): Promise<RunningRelay> => {
    const relay = await startRelayHere(market, settings);
    relays.push(relay);
    return relay;
  };
}
