/** Reads the marketplace's accounts for the modules above, and changes one of them: a key's grant. */
import { PublicKey } from '@solana/web3.js';
import {
  type Config,
  decodeAccount,
  decodeOwn,
  type ExecutionRecord,
  findConfig,
  findExecution,
  findGrant,
  findSpender,
  findTokenAccount,
  type KeyGrant,
  revokeGrant,
} from '../../sdk/program/program.ts';
import { findAccounts } from '../../sdk/wallet/connection.ts';
import type { FoundChange } from '../../sdk/wallet/pending.ts';
import type { TakeReading } from './edgeBudget.ts';
import { costOf } from './fees.ts';
import { type ChainHeld, readChainHeld } from './held.ts';
import { type AccountsAt, COMMITMENT } from './reader.ts';
import type { RelayChain } from './relayChain.ts';
import { decodeRents, RENT_ADDRESS } from './rent.ts';
import { readToken } from './tokenAccounts.ts';

/** A key's grant and its wallet's money at one moment: USDC in base units, gas in lamports. */
export interface KeyMoney {
  grant: KeyGrant | null;
  /** The chain's clock, unix seconds. */
  now: bigint;
  balance: bigint;
  /** The most that all keys of the wallet together may still spend. */
  allowance: bigint;
  gasBalance: bigint;
  /** Minimum of a gas balance that is not empty. */
  leastGasBalance: bigint;
  /** Network fees of a call at the current priority, and the escrow's rent that it lends until it ends. */
  fees: bigint;
  escrowRent: bigint;
}

export type ChainAccounts = ReturnType<typeof createChainAccounts>;

/**
 * The chain as the HTTP layer sees it; ids are base58 and hex. Methods reject if the node does not answer. `holder` is
 * the wallet whose registered key authenticates the request; without it, a reading is a stranger's. Each reading except
 * `isReachable` and `readTime` calls `take` first, which may refuse. `stop` ends the waiting for a revocation.
 */
export function createChainAccounts(chain: RelayChain, take: TakeReading, stop: AbortSignal) {
  // Cached, because it never changes.
  let mint: PublicKey | undefined;

  async function read(keys: PublicKey[], holder?: string): Promise<AccountsAt> {
    await take(holder);
    return chain.read(keys);
  }

  return {
    /** The account, and the chain's clock in unix seconds at that moment. */
    async readGrant(wallet: string, keyId: string, holder?: string) {
      return toGrant(await read([findGrant(new PublicKey(wallet), Buffer.from(keyId, 'hex'))], holder));
    },
    /** Only for the holder of the key. */
    async readKeyMoney(wallet: string, keyId: string): Promise<KeyMoney> {
      const owner = new PublicKey(wallet);
      mint ??= decodeAccount('Config', (await read([findConfig()], wallet)).accounts[0]!.data).usdcMint;
      const spender = findSpender(owner);
      const grant = findGrant(owner, Buffer.from(keyId, 'hex'));
      const { accounts, now } = await read([grant, findTokenAccount(owner, mint), spender, RENT_ADDRESS], wallet);
      const [, source, gasBalance, rent] = accounts;
      const token = readToken(source);
      const { fee, gas } = costOf(chain.quote());
      const rents = decodeRents(rent!.data);
      return {
        ...toGrant({ accounts, now }),
        balance: token?.amount ?? 0n,
        allowance: token?.delegateOption && token.delegate.equals(spender) ? token.delegatedAmount : 0n,
        gasBalance: BigInt(gasBalance?.lamports ?? 0),
        leastGasBalance: rents.empty,
        fees: fee + gas,
        escrowRent: rents.escrow,
      };
    },
    /** The record, and the chain's clock at that moment. */
    async readExecution(executionId: Uint8Array, holder?: string) {
      const { accounts, now } = await read([findExecution(executionId)], holder);
      return { record: decodeOwn('ExecutionRecord', accounts[0]), now };
    },
    /** The records of these executions that exist. */
    async readRecords(executionIds: readonly Uint8Array[], holder?: string): Promise<ExecutionRecord[]> {
      const { accounts } = await read(
        executionIds.map((id) => findExecution(id)),
        holder,
      );
      return accounts.flatMap((account) => decodeOwn('ExecutionRecord', account) ?? []);
    },
    async readConfig(): Promise<Config> {
      const { accounts } = await read([findConfig()]);
      return decodeAccount('Config', accounts[0]!.data);
    },
    /** All pending changes of Config. The node scans the program's accounts for them. */
    async readChanges(): Promise<FoundChange[]> {
      await take();
      return findAccounts(chain.scanning, 'PendingChange');
    },
    /** The slot's time, unix seconds; null if the node does not know it any more. Only the admin's requests ask for it. */
    readTime: (slot: number): Promise<number | null> => chain.connection.getBlockTime(slot),
    /** Lamports of each address; 0 if there is no account. */
    async readBalances(addresses: string[]): Promise<number[]> {
      const { accounts } = await read(addresses.map((address) => new PublicKey(address)));
      return addresses.map((_, index) => accounts[index]?.lamports ?? 0);
    },
    /** What the program holds for others, in total. The node scans its accounts. */
    async readHeld(whose: { lenders: readonly string[]; wallets: readonly string[] }): Promise<ChainHeld> {
      const config = await this.readConfig();
      return readChainHeld(chain.scanning, { ...whose, usdcMint: config.usdcMint });
    },
    /** Revokes with the relay authority and waits until that is final; returns the signature. */
    async revokeGrant(wallet: string, keyId: string): Promise<string> {
      const instruction = revokeGrant({
        authority: chain.authority,
        wallet: new PublicKey(wallet),
        keyId: Buffer.from(keyId, 'hex'),
      });
      const signed = await chain.sign([instruction], 0n);
      const address = findGrant(new PublicKey(wallet), Buffer.from(keyId, 'hex'));
      const isRevoked = async () => toGrant(await chain.read([address])).grant?.revoked ?? false;
      const outcome = await chain.submit(signed, isRevoked, stop);
      if (outcome.kind !== 'confirmed') throw new Error(`the revocation was not confirmed: ${outcome.kind}`);
      return signed.signature;
    },
    /** The chain's clock now, unix seconds, derived from the latest reading. */
    clock: chain.clock,
    async isReachable(): Promise<boolean> {
      return chain.connection.getSlot(COMMITMENT).then(
        () => true,
        () => false,
      );
    },
  };
}

function toGrant({ accounts: [account], now }: Pick<AccountsAt, 'accounts' | 'now'>): {
  grant: KeyGrant | null;
  now: bigint;
} {
  return { grant: decodeOwn('KeyGrant', account), now };
}
