/**
 * The chain for the web page. web3.js and the modules based on it are large, so they are loaded only to sign, and to
 * read events, proofs, disputes and settings. accounts.ts reads balances, limits and times without them.
 */
import { BASE_URL } from '../service.ts';
import type { Connected } from './wallets.ts';

export type ChainModules = typeof import('./chainModules.ts');

const breathe = () => new Promise((resolve) => setTimeout(resolve));

let modules: Promise<ChainModules> | null = null;

/** The library's wallet and program modules, and web3.js. */
export function loadChainModules(): Promise<ChainModules> {
  // One after the other: running everything at once would block a slow phone.
  modules ??= import('./web3.ts')
    .then(breathe)
    .then(() => import('./chainModules.ts'))
    .then(async (loaded) => {
      await breathe();
      return loaded;
    })
    .catch((error: unknown) => {
      modules = null;
      throw error;
    });
  return modules;
}

/** Opens chain and service together. Reads the config each time, because it may have changed. */
export async function openChain(signedInAs?: string) {
  const chain = await loadChainModules();
  const marketplace = await chain.openMarketplace({ baseUrl: BASE_URL, ...(signedInAs && { signedInAs }) });
  return { ...chain, marketplace };
}

export type OpenedChain = Awaited<ReturnType<typeof openChain>>;

/** A signer for a connected wallet. */
export async function signerOf({ wallet, account }: Connected) {
  const { PublicKey, Transaction, VersionedTransaction } = await loadChainModules();
  type AnyTransaction = InstanceType<typeof Transaction> | InstanceType<typeof VersionedTransaction>;
  return {
    publicKey: new PublicKey(account.address),
    async signTransaction<T extends AnyTransaction>(transaction: T): Promise<T> {
      const isVersioned = 'version' in transaction;
      const bytes = isVersioned ? transaction.serialize() : transaction.serialize({ requireAllSignatures: false });
      const [output] = await wallet.features['solana:signTransaction'].signTransaction({
        account,
        transaction: Uint8Array.from(bytes),
      });
      if (!output) throw new Error(`${wallet.name} returned no transaction`);
      const signed = isVersioned
        ? VersionedTransaction.deserialize(output.signedTransaction)
        : Transaction.from(output.signedTransaction);
      return signed as T;
    },
    async signMessage(message: Uint8Array): Promise<Uint8Array> {
      const [output] = await wallet.features['solana:signMessage'].signMessage({ account, message });
      if (!output) throw new Error(`${wallet.name} returned no signature`);
      return output.signature;
    },
  };
}
