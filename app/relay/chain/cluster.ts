/** The marketplace on the cluster at hand: that it is there and the right one, and what it says of this relay. */
import type { Logger } from 'pino';
import { MAINNET_GENESIS, MAINNET_USDC } from '../../sdk/program/clusters.ts';
import { type Config, decodeAccount, findConfig, relayAuthoritiesOf } from '../../sdk/program/program.ts';
import type { Environment } from '../../sdk/receipt/apiKey.ts';
import type { RelayChain } from './relayChain.ts';

/** How often Config is read, and how often while it keeps us from serving or cannot be read. */
const STANDING_MS = 60_000;
const STANDING_SOON_MS = 5_000;

/** Reads Config, and refuses a cluster that does not fit the environment. */
export async function readMarketplace(
  chain: RelayChain,
  environment: Environment,
): Promise<{ genesis: string; config: Config }> {
  const genesis = await chain.connection.getGenesisHash();
  const { accounts } = await chain.read([findConfig()]);
  const account = accounts[0];
  if (!account) throw new Error('The program has no Config on this cluster; create it first (see docs/devnet.md)');
  const config = decodeAccount('Config', account.data);
  const isMainnet = genesis === MAINNET_GENESIS;
  if (environment === 'live' && !(isMainnet && config.usdcMint.toBase58() === MAINNET_USDC)) {
    throw new Error("ENVIRONMENT=live needs mainnet and Circle's USDC; this cluster is another");
  }
  if (environment === 'test' && isMainnet) {
    throw new Error('ENVIRONMENT=test must not run on mainnet; set ENVIRONMENT=live');
  }
  return { genesis, config };
}

/** What Config says of us: whether our key is a relay authority, and whether opens are paused. */
export interface AuthorityStanding {
  isOurs: boolean;
  opensPaused: boolean;
}

/** The relay authorities as they were last read. */
export interface Authorities {
  /** Whether Config names our own key. */
  isOurs(): boolean;
  /** Whether it names this one, base58: what others have signed is dead. */
  names(authority: string): boolean;
  /** Reads Config now; what cannot be read stays as it was. */
  look(): Promise<void>;
}

/** Tells again and again what Config says of us, sooner while it keeps us from serving; `look` does so at once. */
export function watchStanding(
  chain: RelayChain,
  present: Config,
  log: Logger,
  onRead: (standing: AuthorityStanding) => void,
): Authorities & { end(): void } {
  let authorities = relayAuthoritiesOf(present).map(String);
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const isOurs = () => authorities.includes(chain.authority.toBase58());
  const read = async (): Promise<AuthorityStanding> => {
    const { accounts } = await chain.read([findConfig()]);
    const config = decodeAccount('Config', accounts[0]!.data);
    authorities = relayAuthoritiesOf(config).map(String);
    if (!isOurs())
      log.error({ named: authorities }, 'Config does not name this relay authority; nothing new is accepted');
    const standing = { isOurs: isOurs(), opensPaused: config.opensPaused };
    onRead(standing);
    return standing;
  };
  const look = async (): Promise<void> => {
    clearTimeout(timer);
    const standing = await read().catch((error) => {
      log.warn({ error: String(error) }, 'Config could not be read');
      return null;
    });
    clearTimeout(timer);
    if (isOver) return;
    timer = setTimeout(look, standing?.isOurs && !standing.opensPaused ? STANDING_MS : STANDING_SOON_MS);
    timer.unref();
  };
  timer = setTimeout(look, STANDING_MS);
  timer.unref();
  return {
    isOurs,
    names: (authority) => authorities.includes(authority),
    look,
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
