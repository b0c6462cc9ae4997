/**
 * Publishing an agent, as creators do it: describe it, have its endpoint tested, deposit the collateral, sign. The
 * local network lists its demo agents through these very functions.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { fundingAdvice } from '../../cli/config.ts';
import { depositFor, type ListingFile } from '../../cli/listingFile.ts';
import { findListing, listAgent, updateListing as updateListingInstruction } from '../program/program.ts';
import { encodeMetadata, hashMetadata } from '../wire/metadata.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { sendTransaction } from './chain.ts';
import {
  ask,
  askOnce,
  type Marketplace,
  openSession,
  type Report,
  readUsdcAccount,
  restClient,
} from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { provePossession, readOwnListing, SIGNING_KEY_FACTS } from './upkeep.ts';

/** How long the service may take to show what is confirmed, and how often it is asked. */
const SHOWN_WITHIN_MS = 10_000;
const LOOK_MS = 100;
/** What is sent where the file has no test of its own. */
const NO_TEST = { task: 'test', parameters: {} };

export interface CreateListingOptions {
  /** The creator's wallet; pays the deposit, rent and fee. */
  wallet: Keypair;
  /** 64-byte secret of the key that will sign this agent's results, and no other's. */
  signingKey: Uint8Array;
  file: ListingFile;
  /** USDC account that settlements pay; default the wallet's associated token account. */
  payout?: PublicKey;
  /** 16 bytes; random by default. The same wallet and id always give the same agent_id. */
  listingId?: Uint8Array;
  report: Report;
}

export interface ListingResult {
  agent_id: string;
  creator: string;
  signing_key: string;
  price_usdc: string;
  metadata_hash: string;
  /** Of the transaction. */
  signature: string;
}

/** Lists an agent. Throws Refusal, before anything is paid, when the endpoint fails its test or money is missing. */
export async function createListing(
  marketplace: Marketplace,
  options: CreateListingOptions,
): Promise<ListingResult & { deposit_usdc: string }> {
  const { wallet, signingKey, file, report, listingId = randomBytes(16) } = options;
  const { config, connection } = marketplace;
  const creator = wallet.publicKey;
  const deposit = depositFor(file.price, config);
  const source = await readUsdcAccount(marketplace, creator);
  if (source.amount < deposit) {
    throw new Refusal(
      `A price of ${formatUsdc(file.price)} USDC takes ${formatUsdc(deposit)} USDC of collateral; ` +
        `${source.address} of wallet ${creator} holds ${formatUsdc(source.amount)} USDC.${fundingAdvice(connection.rpcEndpoint, creator)}`,
    );
  }
  const publicKey = signingKey.subarray(32);
  const metadataHash = await publishMetadata(marketplace, wallet, publicKey, file, report);

  report(
    `Collateral for a price of ${formatUsdc(file.price)} USDC: ${formatUsdc(deposit)} USDC, returned on delisting.`,
  );
  const listing = findListing(creator, listingId);
  const signature = await sendTransaction(
    connection,
    [
      provePossession(listing, signingKey),
      listAgent({
        creator,
        payer: creator,
        listingId,
        signingKey: new PublicKey(publicKey),
        source: source.address,
        payout: options.payout ?? source.address,
        usdcMint: config.usdcMint,
        terms: termsOf(file, metadataHash),
      }),
    ],
    [wallet],
    SIGNING_KEY_FACTS,
  );
  report(`Listed ${file.metadata.name}.`);
  return { ...resultOf(listing, creator, publicKey, file, metadataHash, signature), deposit_usdc: formatUsdc(deposit) };
}

/** Whether the service, which follows the chain by a moment, shows the agent within ten seconds. */
export async function untilShown(marketplace: Marketplace, agentId: string): Promise<boolean> {
  const end = performance.now() + SHOWN_WITHIN_MS;
  while (performance.now() < end) {
    const agent = restClient(marketplace).getAgent(agentId);
    // Whatever goes wrong here, the listing is made.
    if (await agent.then(Boolean, () => false)) return true;
    await sleep(LOOK_MS);
  }
  return false;
}

export interface UpdateListingOptions {
  wallet: Keypair;
  agentId: PublicKey;
  file: ListingFile;
  payout?: PublicKey;
  report: Report;
}

/** Replaces an agent's description, terms and payout account; its key stays. Running executions are not affected. */
export async function updateListing(marketplace: Marketplace, options: UpdateListingOptions): Promise<ListingResult> {
  const { wallet, agentId, file, report } = options;
  const present = await readOwnListing(marketplace, agentId, wallet);
  depositFor(file.price, marketplace.config);
  const signingKey = present.signingKey.toBytes();
  const metadataHash = await publishMetadata(marketplace, wallet, signingKey, file, report);
  const payout = options.payout ?? present.payout;
  const terms = termsOf(file, metadataHash);
  const instruction = updateListingInstruction({ creator: wallet.publicKey, listing: agentId, payout, terms });
  const signature = await sendTransaction(marketplace.connection, [instruction], [wallet]);
  report(`Updated ${file.metadata.name}.`);
  return resultOf(agentId, wallet.publicKey, signingKey, file, metadataHash, signature);
}

/** Hands the document to the marketplace and has it send the test request. Returns the document's hash. */
async function publishMetadata(
  marketplace: Marketplace,
  wallet: Keypair,
  signingKey: Uint8Array,
  file: ListingFile,
  report: Report,
): Promise<Uint8Array> {
  const bytes = encodeMetadata(file.metadata);
  const metadataHash = hashMetadata(bytes);
  const { maxTimeoutSeconds } = marketplace.config;
  if (file.timeoutSeconds > maxTimeoutSeconds || file.minTimeoutSeconds > file.timeoutSeconds) {
    throw new Refusal(
      `Timeouts must satisfy 1 <= min_timeout_seconds <= timeout_seconds <= ${maxTimeoutSeconds}; ` +
        `they are ${file.minTimeoutSeconds} and ${file.timeoutSeconds}.`,
    );
  }
  const session = await openSession(marketplace, wallet);
  await ask(marketplace.baseUrl, () => restClient(marketplace).postMetadata(bytes, session.token));
  report(`Metadata stored: ${bytes.length} bytes, hash ${metadataHash}.`);
  report(`Testing ${file.metadata.endpoint} ...`);
  // Not repeated: it has the endpoint work.
  const { ok, checks } = await askOnce(marketplace.baseUrl, () =>
    session.call('listings.test', {
      metadata_hash: metadataHash,
      signing_key: new PublicKey(signingKey).toBase58(),
      ...(file.test ?? NO_TEST),
      timeout_seconds: file.timeoutSeconds,
    }),
  );
  for (const check of checks) report(`  ${check.ok ? 'ok    ' : 'failed'} ${check.name}: ${check.detail}`);
  if (!ok) {
    const failed = checks.filter((check) => !check.ok).map(({ name, detail }) => `${name}: ${detail}`);
    const isUnfit = file.test === null && failed[0]?.startsWith('metadata: parameters');
    const hint = isUnfit
      ? ' Give the file `"test": {"task": ..., "parameters": {...}}` that fits its input_schema.'
      : '';
    throw new Refusal(`The endpoint did not pass its test, so nothing was signed. ${failed.join('; ')}.${hint}`);
  }
  return Buffer.from(metadataHash, 'hex');
}

function termsOf(file: ListingFile, metadataHash: Uint8Array) {
  const { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataUri } = file;
  return { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataHash, metadataUri };
}

function resultOf(
  listing: PublicKey,
  creator: PublicKey,
  signingKey: Uint8Array,
  file: ListingFile,
  metadataHash: Uint8Array,
  signature: string,
): ListingResult {
  return {
    agent_id: listing.toBase58(),
    creator: creator.toBase58(),
    signing_key: new PublicKey(signingKey).toBase58(),
    price_usdc: formatUsdc(file.price),
    metadata_hash: Buffer.from(metadataHash).toString('hex'),
    signature,
  };
}
