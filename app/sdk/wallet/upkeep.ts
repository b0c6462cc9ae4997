/**
 * Manages a listed agent with its creator's signature alone, from pausing to the return of the collateral. Nothing here
 * needs the service.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Connection } from '@solana/web3.js';
import { PublicKey } from '@solana/web3.js';
import nacl from 'tweetnacl';
import {
  type AgentListing,
  type CreatorCollateral,
  delistAgent,
  findCollateral,
  findCollateralVault,
  findTokenAccount,
  findTreasury,
  registerMessage,
  returnCollateral,
  rotateSigningKey,
  setListingStatus,
  sweepForfeits,
  topUpCollateral,
} from '../program/program.ts';
import { tagsOfMask } from '../wire/metadata.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { readAccount, readClock, readTokens } from './connection.ts';
import { formatKey, formatTime } from './format.ts';
import { type MarketplaceChain, readUsdcAccount } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import type { Signer } from './signer.ts';

export interface UpkeepOptions {
  /** The creator's wallet; `sendCollateralBack` and `sendForfeits` accept any wallet. Pays fee and rent. */
  wallet: Signer;
  agentId: PublicKey;
}

/** Pauses or resumes an agent. Executions in progress are not affected. Returns the transaction's signature. */
export async function changeStatus(
  chain: MarketplaceChain,
  { wallet, agentId, status }: UpkeepOptions & { status: 'active' | 'paused' },
): Promise<string> {
  const listing = await readOwnListing(chain, agentId, wallet);
  if (listing.status === status) throw new Refusal(`The agent ${agentId} is already ${status}.`);
  const instruction = setListingStatus({ creator: wallet.publicKey, listing: agentId, status });
  const { deposited, slashed } = await readCollateral(chain.connection, agentId);
  return sendTransaction(chain.connection, [instruction], wallet, {
    InvalidListingTransition: `It is ${listing.status}.`,
    CollateralBelowTier: `It holds ${formatUsdc(deposited - slashed)} USDC.`,
  });
}

/** Replaces an agent's signing key for executions opened from then on. */
export async function replaceSigningKey(
  chain: MarketplaceChain,
  { wallet, agentId, signingKey }: UpkeepOptions & { signingKey: SigningKey },
) {
  await readOwnListing(chain, agentId, wallet);
  const creator = wallet.publicKey;
  const { publicKey, possession } = proveSigningKey(agentId, signingKey);
  const rotation = rotateSigningKey({ creator, payer: creator, listing: agentId, signingKey: publicKey, possession });
  const signature = await sendTransaction(chain.connection, [rotation], wallet);
  return { agent_id: agentId.toBase58(), signing_key: publicKey.toBase58(), signature };
}

/** Adds to an agent's collateral, from the creator's own USDC account. `amount` in base units. */
export async function topUp(chain: MarketplaceChain, { wallet, agentId, amount }: UpkeepOptions & { amount: bigint }) {
  const creator = wallet.publicKey;
  await readOwnListing(chain, agentId, wallet);
  const source = await readUsdcAccount(chain, creator);
  const instruction = topUpCollateral({ creator, listing: agentId, source: source.address, amount });
  const held = `${source.address} holds ${formatUsdc(source.amount)} USDC.`;
  const signature = await sendTransaction(chain.connection, [instruction], wallet, { InsufficientBalance: held });
  return { agent_id: agentId.toBase58(), amount_usdc: formatUsdc(amount), signature };
}

/** Permanently removes an agent from the marketplace, and sets its collateral's `returnableAt`. */
export async function delist(chain: MarketplaceChain, { wallet, agentId }: UpkeepOptions) {
  const listing = await readOwnListing(chain, agentId, wallet);
  const instruction = delistAgent({ creator: wallet.publicKey, listing: agentId });
  const signature = await sendTransaction(chain.connection, [instruction], wallet, {
    InvalidListingTransition: `It is ${listing.status}.`,
  });
  return { agent_id: agentId.toBase58(), status: 'delisted', signature };
}

/** Sends a delisted agent's collateral to its creator's associated token account. Anyone can do it. */
export async function sendCollateralBack({ connection, config }: MarketplaceChain, { wallet, agentId }: UpkeepOptions) {
  const { creator, status } = await readListing(connection, agentId);
  const collateral = await readCollateral(connection, agentId);
  const vault = await readTokens(connection, findCollateralVault(agentId));
  const destination = findTokenAccount(creator, config.usdcMint);
  const instruction = returnCollateral({
    creator,
    listing: agentId,
    usdcMint: config.usdcMint,
    rentSponsor: collateral.rentSponsor,
  });
  const now = formatTime(await readClock(connection));
  const signature = await sendTransaction(connection, [instruction], wallet, {
    CollateralNotReturnable:
      status === 'delisted' && !collateral.returned
        ? `It is returnable at ${formatTime(collateral.returnableAt)}; the chain's clock shows ${now}.`
        : `The agent is ${status}${collateral.returned ? ' and its collateral has been returned' : ''}.`,
    DisputesOpen: `There are ${collateral.openDisputes}.`,
    DestinationUnusable: `The account is ${destination}, of wallet ${creator}.`,
  });
  const amount = formatUsdc((vault ?? 0n) - collateral.owed - collateral.forfeited);
  return { agent_id: agentId.toBase58(), destination: destination.toBase58(), amount_usdc: amount, signature };
}

/** Moves the forfeited part of an agent's collateral to the treasury. Anyone can do it. */
export async function sendForfeits({ connection, config }: MarketplaceChain, { wallet, agentId }: UpkeepOptions) {
  const collateral = await readCollateral(connection, agentId);
  const { forfeited, rentSponsor, sweepableAt, returnableAt } = collateral;
  const now = formatTime(await readClock(connection));
  const delisted = returnableAt === 0n ? '' : `, or ${formatTime(returnableAt)} because the agent is delisted`;
  const signature = await sendTransaction(connection, [sweepForfeits({ listing: agentId, rentSponsor })], wallet, {
    TreasuryPaused: `The guardian is ${formatKey(config.guardian) ?? 'nobody'}.`,
    DisputesOpen: `There are ${collateral.openDisputes}.`,
    ForfeitsNotSweepable: `It is sweepable at ${formatTime(sweepableAt)}${delisted}; the chain's clock shows ${now}.`,
    DestinationUnusable: `The account is the treasury, ${findTreasury()}.`,
  });
  return { agent_id: agentId.toBase58(), amount_usdc: formatUsdc(forfeited), signature };
}

/** The chain's facts about an agent: its terms, its payout account, its collateral. */
export async function showListing({ connection }: MarketplaceChain, agentId: PublicKey) {
  const listing = await readListing(connection, agentId);
  const collateral = await readCollateral(connection, agentId);
  return {
    agent_id: agentId.toBase58(),
    status: listing.status,
    creator: listing.creator.toBase58(),
    signing_key: listing.signingKey.toBase58(),
    payout: listing.payout.toBase58(),
    price_usdc: formatUsdc(listing.price),
    timeout_seconds: listing.timeoutSeconds,
    min_timeout_seconds: listing.minTimeoutSeconds,
    tags: tagsOfMask(listing.tagMask),
    listing_version: listing.listingVersion,
    metadata_hash: bytesToHex(listing.metadataHash),
    listed_at: formatTime(listing.listedAt),
    /** Collateral left for disputes: deposited less slashed. */
    collateral_usdc: formatUsdc(collateral.deposited - collateral.slashed),
    deposited_usdc: formatUsdc(collateral.deposited),
    slashed_usdc: formatUsdc(collateral.slashed),
    owed_usdc: formatUsdc(collateral.owed),
    open_disputes: collateral.openDisputes,
    /** Slashed, but still in the vault: it pays later callers, and at last the treasury. */
    forfeited_usdc: formatUsdc(collateral.forfeited),
    /** Time from which it can go to the treasury; earlier after a delisting. */
    sweepable_at: formatTime(collateral.sweepableAt),
    returnable_at: formatTime(collateral.returnableAt),
    collateral_returned: collateral.returned,
  };
}

/** The listing on-chain. Throws Refusal if it does not exist. */
export function readListing(connection: Connection, agentId: PublicKey): Promise<AgentListing> {
  return readAccount(connection, 'AgentListing', agentId, `No agent ${agentId} exists on this chain.`);
}

/** The listing, if this wallet is its creator's. Otherwise throws Refusal. */
export async function readOwnListing(
  { connection }: MarketplaceChain,
  agentId: PublicKey,
  wallet: Signer,
): Promise<AgentListing> {
  const listing = await readListing(connection, agentId);
  if (listing.creator.equals(wallet.publicKey)) return listing;
  throw new Refusal(`The agent ${agentId} belongs to ${listing.creator}; this wallet is ${wallet.publicKey}.`);
}

/** An agent's collateral; every listing has one. */
export function readCollateral(connection: Connection, agentId: PublicKey): Promise<CreatorCollateral> {
  const address = findCollateral(agentId);
  return readAccount(connection, 'CreatorCollateral', address, `The agent ${agentId} has no collateral account.`);
}

/** A signing key: its 64-byte secret, or its public half with the result of `provePossession`. */
export type SigningKey = Uint8Array | { publicKey: PublicKey; possession: Uint8Array };

/** The public half, and the proof for this listing. Throws Refusal for an invalid proof. */
export function proveSigningKey(listing: PublicKey, key: SigningKey): { publicKey: PublicKey; possession: Uint8Array } {
  if (key instanceof Uint8Array) {
    return { publicKey: new PublicKey(key.subarray(32)), possession: provePossession(listing, key) };
  }
  const { publicKey, possession } = key;
  const isProof =
    possession.length === nacl.sign.signatureLength &&
    nacl.sign.detached.verify(registerMessage(listing), possession, publicKey.toBytes());
  if (isProof) return key;
  throw new Refusal(`The proof is not a signature of the key ${publicKey} for the listing ${listing}.`);
}

/** Proves that the creator holds the signing key, so that nobody can list another creator's key: 64 bytes. */
export function provePossession(listing: PublicKey, signingKey: Uint8Array): Uint8Array {
  return nacl.sign.detached(registerMessage(listing), signingKey);
}
