/**
 * Creates the marketplace on a cluster where the program is deployed: its config and its treasury. `anchor migrate` runs
 * the default export; the local network calls `ensureMarketplace` itself. Running it again changes nothing.
 */
import type { AnchorProvider } from '@coral-xyz/anchor';
import {
  type Connection,
  PublicKey,
  type SendOptions,
  SendTransactionError,
  type Signer,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { DEVNET_GENESIS, DEVNET_USDC, MAINNET_GENESIS, MAINNET_USDC } from '../app/sdk/program/clusters.ts';
import {
  type Config,
  decodeAccount,
  findConfig,
  type InitializeConfigInput,
  initializeConfig,
  relayAuthoritiesOf,
} from '../app/sdk/program/program.ts';

/** The first settings; the admin can change each within the program's bounds. The collateral grows with the price. */
export const FIRST_SETTINGS = {
  feeBps: 100,
  minPrice: 10_000n,
  disputeBondLamports: 10_000_000n,
  disputeWindowSeconds: 259_200,
  refundGraceSeconds: 600,
  maxTimeoutSeconds: 3_600,
  recordSeconds: 3_600,
  exposureMultiple: 10,
  guardian: PublicKey.default,
  adminDelaySeconds: 0,
  tiers: [
    { maxPrice: 100_000n, deposit: 1_000_000n },
    { maxPrice: 1_000_000n, deposit: 5_000_000n },
    { maxPrice: 10_000_000n, deposit: 25_000_000n },
    { maxPrice: 100_000_000n, deposit: 100_000_000n },
  ],
} satisfies Partial<InitializeConfigInput>;

/** How long changes wait on mainnet at least: 24 hours. */
const MAINNET_DELAY_SECONDS = 86_400;

/** Circle's USDC, by the genesis hash of mainnet and of devnet. */
const USDC_MINTS: Record<string, string> = {
  [MAINNET_GENESIS]: MAINNET_USDC,
  [DEVNET_GENESIS]: DEVNET_USDC,
};

/**
 * Interval of status queries for a sent transaction, and the number of queries before it is sent again: nodes lose
 * some.
 */
const POLL_MS = 250;
const RESEND_POLLS = 16;

export type MarketplaceInput = Pick<
  InitializeConfigInput,
  'authority' | 'payer' | 'admin' | 'relayAuthorities' | 'usdcMint'
> &
  Partial<InitializeConfigInput>;

/** The marketplace's config, or null if there is none yet. */
export async function readConfig(connection: Connection): Promise<Config | null> {
  const account = await connection.getAccountInfo(findConfig(), 'finalized');
  return account && decodeAccount('Config', account.data);
}

/**
 * Returns the config, and creates it first if missing. `send` must sign for authority and payer, and return when the
 * transaction is confirmed.
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

/**
 * The guardian and the delay of changes, from the environment. Throws where mainnet would start with an admin whom
 * nobody can stop: there the delay is at least 24 hours, and the guardian is another than the admin.
 */
export function readGuards(
  genesis: string,
  admin: PublicKey,
  { GUARDIAN, ADMIN_DELAY_SECONDS }: { GUARDIAN?: string | undefined; ADMIN_DELAY_SECONDS?: string | undefined },
): Pick<InitializeConfigInput, 'guardian' | 'adminDelaySeconds'> {
  const isMainnet = genesis === MAINNET_GENESIS;
  const least = isMainnet ? MAINNET_DELAY_SECONDS : 0;
  const adminDelaySeconds = Number(ADMIN_DELAY_SECONDS || least);
  if (!Number.isSafeInteger(adminDelaySeconds) || adminDelaySeconds < least)
    throw new Error(`ADMIN_DELAY_SECONDS must be a whole number of at least ${least}, got ${ADMIN_DELAY_SECONDS}.`);
  const guardian = GUARDIAN ? new PublicKey(GUARDIAN) : PublicKey.default;
  if (isMainnet && guardian.equals(PublicKey.default))
    throw new Error('Set GUARDIAN to the address that can pause new executions and cancel changes; mainnet needs one.');
  if (isMainnet && guardian.equals(admin))
    throw new Error(`GUARDIAN must be another address than the admin's, ${admin}: it stops a stolen admin key.`);
  return { guardian, adminDelaySeconds };
}

/** Called by `anchor migrate`. The provider's wallet, which must be the upgrade authority, becomes the admin. */
export default async function deploy(provider: AnchorProvider): Promise<void> {
  const { RELAY_AUTHORITIES: relayAuthorities, USDC_MINT: chosenMint } = process.env;
  if (!relayAuthorities)
    throw new Error('Set RELAY_AUTHORITIES to the addresses that relays sign with, separated by commas.');
  const genesis = await provider.connection.getGenesisHash();
  const mint = chosenMint ?? USDC_MINTS[genesis];
  if (!mint) throw new Error('This is neither mainnet nor devnet. Set USDC_MINT to the mint that prices are paid in.');
  const wallet = provider.wallet.publicKey;
  const guards = readGuards(genesis, wallet, process.env);
  const input = { authority: wallet, payer: wallet, admin: wallet, ...guards };
  const named = relayAuthorities.split(',').map((address) => new PublicKey(address.trim()));
  const keys = { relayAuthorities: named, usdcMint: new PublicKey(mint) };
  const config = await ensureMarketplace(provider.connection, { ...input, ...keys }, (instruction) =>
    sendAndPoll(provider.connection, provider.wallet, [instruction]),
  );
  console.log(`Marketplace ${findConfig()}: admin ${config.admin}, relays ${relayAuthoritiesOf(config).join(', ')}`);
}

/** Pays and signs: the part of an Anchor wallet that is used here. */
export interface SendingWallet {
  publicKey: PublicKey;
  signTransaction(transaction: Transaction): Promise<Transaction>;
}

/**
 * Sends one transaction and returns its signature with its slot. Polls instead of using a WebSocket: the provider
 * guesses the WebSocket's URL, which is wrong on many nodes. Throws with the program's logs if it fails.
 */
export async function sendAndPoll(
  connection: Connection,
  wallet: SendingWallet,
  instructions: TransactionInstruction[],
  signers: Signer[] = [],
  pollMs = POLL_MS,
): Promise<{ signature: string; slot: number }> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('finalized');
  const transaction = new Transaction({ feePayer: wallet.publicKey, blockhash, lastValidBlockHeight });
  transaction.add(...instructions);
  if (signers.length > 0) transaction.partialSign(...signers);
  const signed = await wallet.signTransaction(transaction);
  const bytes = signed.serialize();
  const signature = bs58.encode(signed.signature!);
  let trouble = '';
  const send = async (options: SendOptions) => {
    try {
      await connection.sendRawTransaction(bytes, options);
    } catch (error) {
      if (isRefused(error as Error)) throw error;
      trouble = `; sending it ended with: ${(error as Error).message}`;
    }
  };
  await send({ preflightCommitment: 'finalized' });
  for (let polls = 1; ; polls += 1) {
    // Read the height before the status: the status then includes everything that landed by this height.
    const isExpired = (await connection.getBlockHeight('finalized')) > lastValidBlockHeight;
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.confirmationStatus === 'finalized') {
      if (value.err) throw new Error(`transaction ${signature} failed: ${JSON.stringify(value.err)}`);
      return { signature, slot: value.slot };
    }
    if (isExpired) throw new Error(`transaction ${signature} did not land before its blockhash expired${trouble}`);
    if (polls % RESEND_POLLS === 0) await send({ skipPreflight: true });
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** A send without an answer may have arrived, and a repeated one may have landed before. */
function isRefused(error: Error): boolean {
  return error instanceof SendTransactionError && !error.message.includes('already been processed');
}
