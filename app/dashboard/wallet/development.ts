/**
 * Test wallets without an extension: the demo identities of a network on this computer. The relay gives their keypairs
 * only to this computer. To the page they are normal wallets of the Wallet Standard. They sign everything without
 * asking, because they hold nothing of value.
 */
import type { SolanaSignInInput } from '@solana/wallet-standard-features';
import { createSignInMessageText } from '@solana/wallet-standard-util';
import type { Wallet } from '@wallet-standard/base';
import { registerWallet } from '@wallet-standard/wallet';
import bs58 from 'bs58';
import nacl from 'tweetnacl';

/** The relay's answer. */
interface DevelopmentKey {
  name: string;
  /** Base58, 64 bytes. */
  secret_key: string;
}

const ICON =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHJlY3Qgd2lkdGg9IjE2IiBoZWlnaHQ9IjE2IiByeD0iNCIgZmlsbD0iIzQzMzhjYSIvPjxwYXRoIGQ9Ik00IDEwbDQtNiA0IDZ6IiBmaWxsPSIjZmZmIi8+PC9zdmc+';
const CHAINS = ['solana:localnet', 'solana:devnet', 'solana:mainnet'] as const;
const FEATURES = ['solana:signTransaction', 'solana:signMessage', 'solana:signIn'] as const;

/** Fetches the wallets and registers them with this page. */
export async function offerDevelopmentWallets(path: string): Promise<void> {
  const response = await fetch(path);
  if (!response.ok) return;
  const { wallets } = (await response.json()) as { wallets: DevelopmentKey[] };
  for (const { name, secret_key } of wallets) registerWallet(createWallet(name, bs58.decode(secret_key)));
}

function createWallet(name: string, secretKey: Uint8Array): Wallet {
  const publicKey = secretKey.slice(32);
  const address = bs58.encode(publicKey);
  const account = { address, publicKey, chains: CHAINS, features: FEATURES, label: name };
  const sign = (message: Uint8Array) => nacl.sign.detached(message, secretKey);
  return {
    version: '1.0.0',
    name,
    icon: ICON,
    chains: CHAINS,
    accounts: [account],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
      'standard:disconnect': { version: '1.0.0', disconnect: async () => undefined },
      'standard:events': { version: '1.0.0', on: () => () => undefined },
      'solana:signTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        async signTransaction(...inputs: { transaction: Uint8Array }[]) {
          // Loaded already: nothing asks for a signature without it.
          const { PublicKey, VersionedTransaction } = await import('./web3.ts');
          return inputs.map(({ transaction }) => {
            const signed = VersionedTransaction.deserialize(transaction);
            signed.addSignature(new PublicKey(publicKey), sign(signed.message.serialize()));
            return { signedTransaction: signed.serialize() };
          });
        },
      },
      'solana:signMessage': {
        version: '1.1.0',
        signMessage: async (...inputs: { message: Uint8Array }[]) =>
          inputs.map(({ message }) => ({ signedMessage: message, signature: sign(message) })),
      },
      'solana:signIn': {
        version: '1.0.0',
        signIn: async (...inputs: SolanaSignInInput[]) =>
          inputs.map((input) => {
            const text = createSignInMessageText({ ...input, domain: input.domain ?? location.host, address });
            const signedMessage = new TextEncoder().encode(text);
            return { account, signedMessage, signature: sign(signedMessage) };
          }),
      },
    },
  };
}
