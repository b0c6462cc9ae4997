/**
 * What is promised to opens whose fate is not known yet: reserved in memory until it is, so that calls racing for the
 * last USDC are refused here and not by a transaction that costs a fee.
 */
import type { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import type { AccountsAt } from '../chain/reader.ts';

/** Who pays: a wallet, through one of its keys, 32 hex digits. */
export interface Payer {
  wallet: string;
  keyId: string;
}

/**
 * A payer's token account, its grant, its tank, the Rent sysvar, and where it was asked for the record of the call, with
 * the chain's clock.
 */
export interface PayerAccounts extends AccountsAt {
  wallet: PublicKey;
}

/** Amounts are base units, by wallet and by key; those of tanks are lamports. */
export interface Reservations {
  /** Take `amount` now; the returned function gives it back, once. */
  reserve(payer: Payer, amount: bigint): () => void;
  /** The same of lamports in the wallet's tank. */
  reserveTank(payer: Payer, lamports: bigint): () => void;
  ofTank(payer: Payer): bigint;
  ofWallet(payer: Payer): bigint;
  ofKey(payer: Payer): bigint;
  /** Moves with every give-back of the wallet: accounts read before it may show money that has been spent since. */
  generation(payer: Payer): number;
  /** Resolves at the wallet's next give-back, or after so many ms. */
  nextGiveBack(payer: Payer, ms: number): Promise<void>;
  /** The payer's accounts as read by all together that wait for the same give-back. */
  readTogether(payer: Payer, read: () => Promise<PayerAccounts>): Promise<PayerAccounts>;
}

/** Wallets whose give-backs are remembered; by the time that one is forgotten nobody reads its accounts any more. */
const MAX_WALLETS = 10_000;

/** All reservations of this process. */
export function createReservations(): Reservations {
  const amounts = new Map<string, bigint>();
  const generations = new LRUCache<string, number>({ max: MAX_WALLETS });
  const waiting = new Map<string, Set<() => void>>();
  const readings = new Map<string, Promise<PayerAccounts>>();
  let givenBack = 0;
  const add = (name: string, amount: bigint) => {
    const next = (amounts.get(name) ?? 0n) + amount;
    if (next === 0n) amounts.delete(name);
    else amounts.set(name, next);
  };
  const walletName = (payer: Payer) => `wallet:${payer.wallet}`;
  const keyName = (payer: Payer) => `key:${payer.wallet}:${payer.keyId}`;
  const tankName = (payer: Payer) => `tank:${payer.wallet}`;
  function hold(payer: Payer, names: string[], amount: bigint): () => void {
    for (const name of names) add(name, amount);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      givenBack += 1;
      generations.set(payer.wallet, givenBack);
      for (const name of names) add(name, -amount);
      for (const wake of waiting.get(payer.wallet) ?? []) wake();
    };
  }
  return {
    reserve: (payer, amount) => hold(payer, [walletName(payer), keyName(payer)], amount),
    reserveTank: (payer, lamports) => hold(payer, [tankName(payer)], lamports),
    ofTank: (payer) => amounts.get(tankName(payer)) ?? 0n,
    ofWallet: (payer) => amounts.get(walletName(payer)) ?? 0n,
    ofKey: (payer) => amounts.get(keyName(payer)) ?? 0n,
    generation: (payer) => generations.get(payer.wallet) ?? 0,
    nextGiveBack({ wallet }, ms) {
      const present = waiting.get(wallet) ?? new Set();
      waiting.set(wallet, present);
      return new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          present.delete(wake);
          if (present.size === 0) waiting.delete(wallet);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        timer.unref();
        present.add(wake);
      });
    },
    readTogether(payer, read) {
      const name = keyName(payer);
      const underWay = readings.get(name) ?? read().finally(() => readings.delete(name));
      readings.set(name, underWay);
      return underWay;
    },
  };
}
