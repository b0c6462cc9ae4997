/** Checks that the marketplace is on this cluster, and reads the status of this relay there. */
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { MAINNET_GENESIS, MAINNET_USDC } from '../../sdk/program/clusters.ts';
import {
  areOpensPaused,
  type Config,
  decodeAccount,
  decodeOwn,
  findConfig,
  relayAuthoritiesOf,
} from '../../sdk/program/program.ts';
import type { Environment } from '../../sdk/receipt/apiKey.ts';
import { requireFeatures } from '../../solana/features.ts';
import type { AccountsAt } from './reader.ts';
import type { RelayChain } from './relayChain.ts';

/** Interval of the reads of Config, and the interval while it blocks us or cannot be read. */
const STATUS_MS = 60_000;
const STATUS_SOON_MS = 5_000;

/** Reads Config, and refuses a cluster that cannot run the program or does not fit the environment. */
export async function readMarketplace(
  chain: { connection: RelayChain['connection']; read(keys: PublicKey[]): Promise<Pick<AccountsAt, 'accounts'>> },
  environment: Environment,
): Promise<{ genesis: string; config: Config }> {
  const genesis = await chain.connection.getGenesisHash();
  await requireFeatures(chain.connection);
  const { accounts } = await chain.read([findConfig()]);
  const config = decodeOwn('Config', accounts[0]);
  if (!config)
    throw new Error('The program has no Config account on this cluster. Create it first; see docs/devnet.md.');
  const isMainnet = genesis === MAINNET_GENESIS;
  if (environment === 'live' && !(isMainnet && config.usdcMint.toBase58() === MAINNET_USDC)) {
    throw new Error("ENVIRONMENT=live needs mainnet and Circle's USDC, but this is another cluster or mint");
  }
  if (environment === 'test' && isMainnet) {
    throw new Error('ENVIRONMENT=test must not run on mainnet. Set ENVIRONMENT=live.');
  }
  return { genesis, config };
}

/** Our status by Config: if our key is a relay authority, and if the admin or the guardian has paused opens. */
export interface AuthorityStatus {
  isOurs: boolean;
  opensPaused: boolean;
}

export type WatchedAuthorities = ReturnType<typeof watchAuthorities>;

/** The relay authorities by the last reading. */
export type Authorities = Pick<WatchedAuthorities, 'isOurs' | 'names' | 'poll'>;

/** Reports our status by Config repeatedly, more often while it blocks us. `poll` does so at once. */
export function watchAuthorities(
  chain: RelayChain,
  present: Config,
  log: Logger,
  onRead: (status: AuthorityStatus) => void,
) {
  let config = present;
  let authorities = relayAuthoritiesOf(present).map(String);
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  /** True if Config names our own key. */
  const isOurs = (): boolean => authorities.includes(chain.authority.toBase58());
  const read = async (): Promise<AuthorityStatus> => {
    const { accounts } = await chain.read([findConfig()]);
    config = decodeAccount('Config', accounts[0]!.data);
    authorities = relayAuthoritiesOf(config).map(String);
    if (!isOurs())
      log.error({ named: authorities }, 'Config does not list this relay authority; new executions are refused');
    const status = { isOurs: isOurs(), opensPaused: areOpensPaused(config) };
    onRead(status);
    return status;
  };
  /** Reads Config now. The last state stays if that fails. */
  const poll = async (): Promise<void> => {
    clearTimeout(timer);
    const status = await read().catch((error) => {
      log.warn({ error }, 'cannot read Config');
      return null;
    });
    clearTimeout(timer);
    if (isOver) return;
    timer = setTimeout(poll, status?.isOurs && !status.opensPaused ? STATUS_MS : STATUS_SOON_MS);
    timer.unref();
  };
  timer = setTimeout(poll, STATUS_MS);
  timer.unref();
  return {
    isOurs,
    /** True if Config names this key, base58. Transactions signed by any other key are dead. */
    names: (authority: string): boolean => authorities.includes(authority),
    poll,
    /** Config by the last reading. */
    config: () => config,
    end(): void {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
