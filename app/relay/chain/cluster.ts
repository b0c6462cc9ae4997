/** The marketplace on the cluster at hand: that it is there and the right one, and the accounts that the edge reads. */
import { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { MAINNET_GENESIS, MAINNET_USDC } from '../../sdk/program/clusters.ts';
import {
  type Config,
  decodeAccount,
  type ExecutionRecord,
  findConfig,
  findExecution,
  findGrant,
  type KeyGrant,
  revokeGrant,
} from '../../sdk/program/program.ts';
import type { Chain } from './chain.ts';

/** How often Config is read, and how often while it keeps us from serving or cannot be read. */
const STANDING_MS = 60_000;
const STANDING_SOON_MS = 5_000;

/** Reads Config, and refuses a cluster that does not fit the environment. */
export async function readMarketplace(
  chain: Chain,
  environment: 'live' | 'test',
): Promise<{ genesis: string; config: Config }> {
  const genesis = await chain.connection.getGenesisHash();
  const { accounts } = await chain.read([findConfig()]);
  const account = accounts[0];
  if (!account) throw new Error('The program has no Config on this cluster; create it first (see README, "Devnet")');
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

/** The chain as the edge sees it; ids are base58 and hex. Methods reject where the node does not answer. */
export interface ChainAccounts {
  /** The account, and the chain's clock in unix seconds at that moment. */
  readGrant(wallet: string, keyId: string): Promise<{ grant: KeyGrant | null; now: bigint }>;
  /** The record, and the chain's clock at that moment. */
  readExecution(executionId: Uint8Array): Promise<{ record: ExecutionRecord | null; now: bigint }>;
  readConfig(): Promise<Config>;
  /** Revokes by the relay authority and waits for the confirmation; returns the signature. */
  revokeGrant(wallet: string, keyId: string): Promise<string>;
  isReachable(): Promise<boolean>;
}

/** `stop` ends the waiting for a revocation. */
export function createChainAccounts(chain: Chain, stop: AbortSignal): ChainAccounts {
  return {
    async readGrant(wallet, keyId) {
      const read = await chain.read([findGrant(new PublicKey(wallet), Buffer.from(keyId, 'hex'))]);
      const account = read.accounts[0];
      return { grant: account ? decodeAccount('KeyGrant', account.data) : null, now: read.now };
    },
    async readExecution(executionId) {
      const read = await chain.read([findExecution(executionId)]);
      const account = read.accounts[0];
      return { record: account ? decodeAccount('ExecutionRecord', account.data) : null, now: read.now };
    },
    async readConfig() {
      const { accounts } = await chain.read([findConfig()]);
      return decodeAccount('Config', accounts[0]!.data);
    },
    async revokeGrant(wallet, keyId) {
      const instruction = revokeGrant({
        authority: chain.authority,
        wallet: new PublicKey(wallet),
        keyId: Buffer.from(keyId, 'hex'),
      });
      const signed = await chain.sign([instruction]);
      const isRevoked = async () => (await this.readGrant(wallet, keyId)).grant?.revoked ?? false;
      const fate = await chain.submit(signed, isRevoked, stop);
      if (fate.kind !== 'confirmed') throw new Error(`the revocation was not confirmed: ${fate.kind}`);
      return signed.signature;
    },
    async isReachable() {
      return chain.connection.getSlot('confirmed').then(
        () => true,
        () => false,
      );
    },
  };
}

/** What Config says of us: whether our key is the relay authority, and whether opens are paused. */
export interface Standing {
  isOurs: boolean;
  opensPaused: boolean;
}

/** Tells again and again what Config says of us, sooner while it keeps us from serving; `look` does so at once. */
export function watchStanding(chain: Chain, log: Logger, onRead: (standing: Standing) => void) {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const read = async (): Promise<Standing> => {
    const { accounts } = await chain.read([findConfig()]);
    const { relayAuthority, opensPaused } = decodeAccount('Config', accounts[0]!.data);
    const isOurs = relayAuthority.equals(chain.authority);
    if (!isOurs)
      log.error({ named: relayAuthority.toBase58() }, 'Config names another relay authority; nothing new is accepted');
    onRead({ isOurs, opensPaused });
    return { isOurs, opensPaused };
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
    look,
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
