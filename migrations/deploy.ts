/**
 * Creates the marketplace on a cluster where the program is deployed: its config and its treasury. `anchor migrate` runs
 * the default export; the local network calls `ensureMarketplace` itself. Running it again changes nothing.
 */
import type { AnchorProvider } from '@coral-xyz/anchor';
import { type Connection, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { DEVNET_GENESIS, DEVNET_USDC, MAINNET_GENESIS, MAINNET_USDC } from '../app/sdk/program/clusters.ts';
import {
  type Config,
  decodeAccount,
  findConfig,
  type InitializeConfigInput,
  initializeConfig,
  relayAuthoritiesOf,
} from '../app/sdk/program/program.ts';

/** The first settings; the admin can change each within the program's bounds. Collateral grows with the price. */
export const FIRST_SETTINGS = {
  feeBps: 100,
  minPrice: 10_000n,
  disputeBondLamports: 10_000_000n,
  disputeWindowSeconds: 259_200,
  refundGraceSeconds: 600,
  maxTimeoutSeconds: 3_600,
  exposureMultiple: 10,
  tiers: [
    { maxPrice: 100_000n, deposit: 1_000_000n },
    { maxPrice: 1_000_000n, deposit: 5_000_000n },
    { maxPrice: 10_000_000n, deposit: 25_000_000n },
    { maxPrice: 100_000_000n, deposit: 100_000_000n },
  ],
} satisfies Partial<InitializeConfigInput>;

/** Circle's USDC, by the genesis hash of mainnet and of devnet. */
const USDC_MINTS: Record<string, string> = {
  [MAINNET_GENESIS]: MAINNET_USDC,
  [DEVNET_GENESIS]: DEVNET_USDC,
};

/** How often a sent transaction is asked about. */
const POLL_MS = 250;

export type MarketplaceInput = Pick<
  InitializeConfigInput,
  'authority' | 'payer' | 'admin' | 'relayAuthorities' | 'usdcMint'
> &
  Partial<InitializeConfigInput>;

/** The marketplace's config, or null where there is none yet. */
export async function readConfig(connection: Connection): Promise<Config | null> {
  const account = await connection.getAccountInfo(findConfig(), 'confirmed');
  return account && decodeAccount('Config', account.data);
}

/**
 * Returns the config, and creates it first where it is missing: `send` must sign for authority and payer, and return
 * when the transaction is confirmed.
 */
export async function ensureMarketplace(
  connection: Connection,
  input: MarketplaceInput,
  send: (instruction: TransactionInstruction) => Promise<unknown>,
): Promise<Config> {
  const existing = await readConfig(connection);
  if (existing) return existing;
  await send(initializeConfig({ ...FIRST_SETTINGS, ...input }));
  const created = await readConfig(connection);
  if (!created) throw new Error('the marketplace was created, but the node does not show its config yet');
  return created;
}

/** What `anchor migrate` calls: the provider's wallet, which must be the upgrade authority, becomes the admin. */
export default async function deploy(provider: AnchorProvider): Promise<void> {
  const { RELAY_AUTHORITIES: relayAuthorities, USDC_MINT: chosenMint } = process.env;
  if (!relayAuthorities)
    throw new Error('Set RELAY_AUTHORITIES to the addresses that relays sign with, comma between.');
  const mint = chosenMint ?? USDC_MINTS[await provider.connection.getGenesisHash()];
  if (!mint) throw new Error('This is neither mainnet nor devnet: set USDC_MINT to the mint to settle in.');
  const wallet = provider.wallet.publicKey;
  const input = { authority: wallet, payer: wallet, admin: wallet };
  const named = relayAuthorities.split(',').map((address) => new PublicKey(address.trim()));
  const keys = { relayAuthorities: named, usdcMint: new PublicKey(mint) };
  const config = await ensureMarketplace(provider.connection, { ...input, ...keys }, (instruction) =>
    sendAndPoll(provider, instruction),
  );
  console.log(`Marketplace ${findConfig()}: admin ${config.admin}, relays ${relayAuthoritiesOf(config).join(', ')}`);
}

/** Waits by asking, not by a WebSocket: the provider guesses its address, which is wrong on many nodes. */
async function sendAndPoll(provider: AnchorProvider, instruction: TransactionInstruction): Promise<void> {
  const { connection, wallet } = provider;
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed');
  const transaction = new Transaction({ feePayer: wallet.publicKey, blockhash, lastValidBlockHeight });
  const signed = await wallet.signTransaction(transaction.add(instruction));
  const signature = await connection.sendRawTransaction(signed.serialize(), { preflightCommitment: 'confirmed' });
  for (;;) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`transaction ${signature} failed: ${JSON.stringify(value.err)}`);
    if (value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized') return;
    if ((await connection.getBlockHeight('confirmed')) > lastValidBlockHeight) {
      throw new Error(`transaction ${signature} did not land before its blockhash expired`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
