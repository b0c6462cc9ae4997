/**
 * Publishes an agent for its creator: describe it, test its endpoint, deposit the collateral, sign. The local network
 * lists its demo agents with the same functions.
 */
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import type { PublicKey } from '@solana/web3.js';
import { findListing, listAgent, updateListing as updateListingInstruction } from '../program/program.ts';
import { hashMetadata } from '../receipt/metadataHash.ts';
import { isUnsent } from '../wire/conformance.ts';
import { encodeMetadata } from '../wire/metadata.ts';
import type { ListingCheck } from '../wire/procedures.ts';
import { formatUsdc } from '../wire/usdc.ts';
import type { Progress } from './format.ts';
import { depositFor, type ListingDraft } from './listingDraft.ts';
import { type Marketplace, readUsdcAccount } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import { ask, askOnce, clientOf, openSession } from './service.ts';
import type { Signer } from './signer.ts';
import { proveSigningKey, readOwnListing, type SigningKey } from './upkeep.ts';

/** How long the service may take to show a confirmed listing, and how often it is asked. */
const SHOWN_WITHIN_MS = 10_000;
const POLL_MS = 100;
/** Sent if the description has no test. */
const NO_TEST = { task: 'test', parameters: {} };
const RAISED = {
  DepositAboveMax: 'The required collateral was raised in the meantime. Check the new amount before you sign.',
};

export interface CreateListingOptions {
  /** The creator's wallet; pays the deposit, rent and fee. */
  wallet: Signer;
  /** The key that signs the results of this agent only. Without its secret half, `listingId` must be given. */
  signingKey: SigningKey;
  draft: ListingDraft;
  /** USDC account that receives settlements; default: the wallet's associated token account. */
  payout?: PublicKey;
  /** 16 bytes; random by default. The same wallet and id always give the same agent_id. */
  listingId?: Uint8Array;
  /** Maximum collateral that the creator agreed to, base units. Default: the requirement of `marketplace.config`. */
  maxDeposit?: bigint;
  onProgress?: Progress;
}

export interface ListingResult {
  agent_id: string;
  creator: string;
  signing_key: string;
  price_usdc: string;
  metadata_hash: string;
  /** Signature of the transaction. */
  signature: string;
}

/** Lists an agent. If the endpoint fails its test or money is missing, throws Refusal before anything is paid. */
export async function createListing(
  marketplace: Marketplace,
  options: CreateListingOptions,
): Promise<ListingResult & { deposit_usdc: string }> {
  const { wallet, signingKey, draft, onProgress = () => {}, listingId = randomBytes(16) } = options;
  const { config, connection } = marketplace;
  const creator = wallet.publicKey;
  const deposit = depositFor(draft.price, config);
  const source = await readUsdcAccount(marketplace, creator);
  if (source.amount < deposit) {
    throw new Refusal(
      `A price of ${formatUsdc(draft.price)} USDC needs ${formatUsdc(deposit)} USDC of collateral; ` +
        `${source.address} of wallet ${creator} holds ${formatUsdc(source.amount)} USDC.`,
      { code: 'funds_missing', wallet: creator.toBase58(), rpcUrl: connection.rpcEndpoint },
    );
  }
  const listing = findListing(creator, listingId);
  const { publicKey, possession } = proveSigningKey(listing, signingKey);
  const metadataHash = await publishMetadata(marketplace, wallet, publicKey, draft, onProgress);

  onProgress(
    `Collateral for a price of ${formatUsdc(draft.price)} USDC: ${formatUsdc(deposit)} USDC, returned on delisting.`,
  );
  const signature = await sendTransaction(
    connection,
    [
      listAgent({
        creator,
        payer: creator,
        listingId,
        signingKey: publicKey,
        possession,
        source: source.address,
        payout: options.payout ?? source.address,
        usdcMint: config.usdcMint,
        maxDeposit: options.maxDeposit ?? deposit,
        terms: termsOf(draft, metadataHash),
      }),
    ],
    wallet,
    RAISED,
  );
  onProgress(`Listed ${draft.metadata.name}.`);
  return {
    ...resultOf(listing, creator, publicKey, draft, metadataHash, signature),
    deposit_usdc: formatUsdc(deposit),
  };
}

/** True if the service shows the agent within ten seconds. It follows the chain with a short delay. */
export async function untilShown(marketplace: Marketplace, agentId: string): Promise<boolean> {
  const end = performance.now() + SHOWN_WITHIN_MS;
  while (performance.now() < end) {
    const agent = clientOf(marketplace).request('getAgent', { agent_id: agentId });
    // A failed read does not matter here, because the listing exists.
    if (await agent.then(Boolean, () => false)) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

export interface UpdateListingOptions {
  wallet: Signer;
  agentId: PublicKey;
  draft: ListingDraft;
  payout?: PublicKey;
  /** As in `createListing`. The program checks it only if the price rises. */
  maxDeposit?: bigint;
  onProgress?: Progress;
}

/** Replaces an agent's description, terms and payout account; its key stays. Running executions are not affected. */
export async function updateListing(marketplace: Marketplace, options: UpdateListingOptions): Promise<ListingResult> {
  const { wallet, agentId, draft, onProgress = () => {} } = options;
  const present = await readOwnListing(marketplace, agentId, wallet);
  const needed = depositFor(draft.price, marketplace.config);
  const { signingKey } = present;
  const metadataHash = await publishMetadata(marketplace, wallet, signingKey, draft, onProgress);
  const payout = options.payout ?? present.payout;
  const terms = termsOf(draft, metadataHash);
  const instruction = updateListingInstruction({
    creator: wallet.publicKey,
    listing: agentId,
    payout,
    maxDeposit: options.maxDeposit ?? needed,
    terms,
  });
  const signature = await sendTransaction(marketplace.connection, [instruction], wallet, RAISED);
  onProgress(`Updated ${draft.metadata.name}.`);
  return resultOf(agentId, wallet.publicKey, signingKey, draft, metadataHash, signature);
}

export interface TestEndpointOptions {
  wallet: Signer;
  /** The key that signs the results. */
  signingKey: PublicKey;
  draft: ListingDraft;
  /** True to also make the checks that paid calls do not depend on. */
  full?: boolean;
  onProgress?: Progress;
}

/** Posts the document to the marketplace, and lets it test the endpoint. Nothing is signed on the chain. */
export async function testEndpoint(
  marketplace: Marketplace,
  { wallet, signingKey, draft, full = false, onProgress = () => {} }: TestEndpointOptions,
): Promise<{ ok: boolean; checks: ListingCheck[] }> {
  const bytes = encodeMetadata(draft.metadata);
  const metadataHash = hashMetadata(bytes);
  const session = await openSession(marketplace, wallet);
  await ask(marketplace, () => session.request('postMetadata', { body: bytes }));
  onProgress(`Metadata stored: ${bytes.length} bytes, hash ${metadataHash}.`);
  onProgress(`Testing ${draft.metadata.endpoint} ...`);
  // Not retried: a test makes the endpoint work.
  return askOnce(marketplace, () =>
    session.call('listings.test', {
      metadata_hash: metadataHash,
      signing_key: signingKey.toBase58(),
      ...(draft.test ?? NO_TEST),
      timeout_seconds: draft.timeoutSeconds,
      full,
    }),
  );
}

/** Posts the document to the marketplace and lets it send the test request. Returns the document's hash. */
async function publishMetadata(
  marketplace: Marketplace,
  wallet: Signer,
  signingKey: PublicKey,
  draft: ListingDraft,
  onProgress: Progress,
): Promise<Uint8Array> {
  const metadataHash = hashMetadata(encodeMetadata(draft.metadata));
  const { maxTimeoutSeconds } = marketplace.config;
  if (draft.timeoutSeconds > maxTimeoutSeconds || draft.minTimeoutSeconds > draft.timeoutSeconds) {
    throw new Refusal(
      `Timeouts must satisfy 1 <= min_timeout_seconds <= timeout_seconds <= ${maxTimeoutSeconds}; ` +
        `they are ${draft.minTimeoutSeconds} and ${draft.timeoutSeconds}.`,
    );
  }
  const { ok, checks } = await testEndpoint(marketplace, { wallet, signingKey, draft, onProgress });
  for (const check of checks) onProgress(`  ${check.ok ? 'ok    ' : 'failed'} ${check.name}: ${check.detail}`);
  if (!ok) {
    const failed = checks.filter((check) => !check.ok).map(({ name, detail }) => `${name}: ${detail}`);
    const isUnfit = draft.test === null && failed[0]?.startsWith('metadata: parameters');
    const hint = isUnfit
      ? ' Add `"test": {"task": ..., "parameters": {...}}` to the description, with parameters that fit its input_schema.'
      : '';
    const what = isUnsent(checks)
      ? 'The request of the test is wrong, so it was not sent, and nothing was signed.'
      : 'The endpoint failed its test, so nothing was signed.';
    throw new Refusal(`${what} ${failed.join('; ')}.${hint}`);
  }
  return hexToBytes(metadataHash);
}

function termsOf(draft: ListingDraft, metadataHash: Uint8Array) {
  const { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataUri } = draft;
  return { price, timeoutSeconds, minTimeoutSeconds, tagMask, metadataHash, metadataUri };
}

function resultOf(
  listing: PublicKey,
  creator: PublicKey,
  signingKey: PublicKey,
  draft: ListingDraft,
  metadataHash: Uint8Array,
  signature: string,
): ListingResult {
  return {
    agent_id: listing.toBase58(),
    creator: creator.toBase58(),
    signing_key: signingKey.toBase58(),
    price_usdc: formatUsdc(draft.price),
    metadata_hash: bytesToHex(metadataHash),
    signature,
  };
}
