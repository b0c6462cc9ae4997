/** The browser's wallets, by the Wallet Standard, and the connected one. */
import type {
  SolanaSignInFeature,
  SolanaSignMessageFeature,
  SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import type {
  StandardConnectFeature,
  StandardDisconnectFeature,
  StandardEventsFeature,
} from '@wallet-standard/features';
import { useSyncExternalStore } from 'react';

type Features = StandardConnectFeature &
  SolanaSignTransactionFeature &
  SolanaSignMessageFeature &
  Partial<SolanaSignInFeature & StandardDisconnectFeature & StandardEventsFeature>;

/** A wallet with the features that this page needs: connect, and sign transactions and messages. */
export type SolanaWallet = Wallet & { readonly features: Features };

export interface Connected {
  wallet: SolanaWallet;
  account: WalletAccount;
}

/** True for a test wallet that everybody on its network may use. It signs without asking. */
export const isShared = ({ name }: Pick<Wallet, 'name'>): boolean => name.startsWith('Demo caller');

const NEEDED = ['standard:connect', 'solana:signTransaction', 'solana:signMessage'];
/** Storage key of the last wallet's name, so that a reload finds it again. It is not secret. */
const LAST_WALLET = 'wallet';

const isUsable = (wallet: Wallet): wallet is SolanaWallet => NEEDED.every((feature) => feature in wallet.features);

const registry = getWallets();
let usable = registry.get().filter(isUsable);
let connected: Connected | null = null;
const listeners = new Set<() => void>();

function report(): void {
  for (const listener of listeners) listener();
}

function renew(): void {
  usable = registry.get().filter(isUsable);
  report();
}
registry.on('register', renew);
registry.on('unregister', renew);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const useStore = <T>(read: () => T): T => useSyncExternalStore(subscribe, read, read);

export const useWallets = (): readonly SolanaWallet[] => useStore(() => usable);
export const useConnected = (): Connected | null => useStore(() => connected);

/** True while a shared test wallet is connected. */
export function useShared(): boolean {
  const connected = useConnected();
  return connected !== null && isShared(connected.wallet);
}

/** The same of the last wallet: known at once after a reload, when none is connected yet. */
export const wasShared = (): boolean => isShared({ name: localStorage.getItem(LAST_WALLET) ?? '' });

/** The test wallet for a first try; undefined while none is known. */
export const useTestWallet = (): SolanaWallet | undefined => useWallets().find(isShared);

let stopWatching: () => void = () => undefined;

function set(next: Connected | null): void {
  stopWatching();
  stopWatching = () => undefined;
  connected = next;
  // If the wallet switches to another account, that is another user.
  const events = next?.wallet.features['standard:events'];
  if (next && events) {
    stopWatching = events.on('change', ({ accounts }) => {
      if (accounts && !accounts.some(({ address }) => address === next.account.address)) set(null);
    });
  }
  report();
}

/** Asks the wallet for its account; `silent` never opens a window. Throws if the user refuses. */
export async function connect(wallet: SolanaWallet, silent = false): Promise<Connected> {
  const { accounts } = await wallet.features['standard:connect'].connect(silent ? { silent } : {});
  const account = accounts.find(({ chains }) => chains.some((chain) => chain.startsWith('solana:')));
  if (!account) throw new Error(`${wallet.name} offers no Solana account.`);
  const next = { wallet, account };
  set(next);
  localStorage.setItem(LAST_WALLET, wallet.name);
  return next;
}

/** Reconnects the wallet from before a reload, if it returns this address without asking. */
export async function reconnect(address: string): Promise<void> {
  const name = localStorage.getItem(LAST_WALLET);
  const wallet = usable.find((candidate) => candidate.name === name);
  if (!wallet || connected) return;
  const next = await connect(wallet, true).catch(() => null);
  if (next && next.account.address !== address) set(null);
}

export async function disconnect(): Promise<void> {
  const wallet = connected?.wallet;
  set(null);
  localStorage.removeItem(LAST_WALLET);
  await wallet?.features['standard:disconnect']?.disconnect();
}
