/**
 * Executions without the service: a wallet opens one itself, anyone reads it, refunds it when it expires, and closes a
 * refunded one. Only running it needs the service.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Connection, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { RouteAnswer } from '../client/client.ts';
import { closableFrom } from '../program/archive.ts';
import {
  closeExecution,
  decodeOwn,
  type ExecutionRecord,
  findDispute,
  findEscrow,
  findExecution,
  findTokenAccount,
  movableFrom,
  openExecution,
  refundExecution,
} from '../program/program.ts';
import { createNonce, deriveExecutionId, formatUuid, nonceHalfHour, startMessage } from '../receipt/receipt.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { type FindArchive, type ProvenLeaf, proveLeaf } from './archive.ts';
import { readAccount, readClock, readTokens } from './connection.ts';
import { formatBytes, formatTime, type Progress } from './format.ts';
import { type Marketplace, type MarketplaceChain, readUsdcAccount } from './marketplace.ts';
import { rebuildProofs, unlessRebuilt } from './rebuiltProofs.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction, signText } from './send.ts';
import { askOnce, clientOf, patienceOf } from './service.ts';
import type { Signer } from './signer.ts';
import { readListing } from './upkeep.ts';
import { END_GAS } from './usualAmounts.ts';

/** An open fails after this time. Longer than a person takes to approve; the blockhash ends it earlier once signed. */
const OPEN_WITHIN_SECONDS = 1_800n;

export interface OpenByWalletOptions {
  wallet: Signer;
  agentId: PublicKey;
  /** 32 bytes: `requestHash(task, parameters)`. */
  requestHash: Uint8Array;
  /** Base units; default: the agent's present price. */
  maxPrice?: bigint;
  /** Default: the agent's timeout. */
  timeoutSeconds?: number;
  /** 12 bytes that this wallet has not used in the same half-hour; random by default. */
  nonceTail?: Uint8Array;
  /** Lamports for the service's settle, returned if it does not run: default 10,000. */
  gasLamports?: number;
  /** A USDC account of the wallet; default: its associated token account. */
  source?: PublicKey;
  /** Called with the execution's id and nonce before anything is sent, so that a lost outcome can be looked up. */
  onProgress?: Progress;
}

/** Puts an agent's price into escrow from the wallet's own USDC. */
export async function openByWallet(chain: MarketplaceChain, options: OpenByWalletOptions) {
  const { connection, config } = chain;
  const { wallet, agentId, requestHash, onProgress } = options;
  const caller = wallet.publicKey;
  const listing = await readListing(connection, agentId);
  const source = options.source ?? (await readUsdcAccount(chain, caller)).address;
  const now = await readClock(connection);
  const nonce = createNonce(nonceHalfHour(now), options.nonceTail);
  const executionId = deriveExecutionId(caller.toBytes(), nonce);
  const id = formatUuid(executionId);
  const nonceText = bytesToHex(nonce);
  onProgress?.(`Opening execution ${id} (nonce ${nonceText}) for ${formatUsdc(listing.price)} USDC.`);
  const instruction = openExecution({
    caller,
    payer: caller,
    rentSponsor: caller,
    listing: agentId,
    source,
    usdcMint: config.usdcMint,
    nonce,
    executionId,
    maxPrice: options.maxPrice ?? listing.price,
    listingVersion: listing.listingVersion,
    timeoutSeconds: options.timeoutSeconds ?? listing.timeoutSeconds,
    requestHash,
    openBefore: now + OPEN_WITHIN_SECONDS,
    gasLamports: options.gasLamports ?? END_GAS,
  });
  const signature = await sendTransaction(connection, [instruction], wallet, {
    PriceAboveMax: `The agent's price is ${formatUsdc(listing.price)} USDC.`,
    TimeoutOutOfRange: `The agent accepts ${listing.minTimeoutSeconds} to ${listing.timeoutSeconds} seconds.`,
    ListingNotActive: `The agent is ${listing.status}.`,
    InsufficientBalance: `The price is ${formatUsdc(listing.price)} USDC, paid from ${source}.`,
  });
  return {
    execution_id: id,
    nonce: nonceText,
    record: findExecution(executionId).toBase58(),
    agent_id: agentId.toBase58(),
    price_usdc: formatUsdc(listing.price),
    request_hash: bytesToHex(requestHash),
    signature,
  };
}

/**
 * Lets the marketplace run an execution that the wallet opened itself, and waits for its end. The wallet's signature
 * replaces an API key. It covers this record and its request, so it is valid for nothing else.
 */
export async function startByWallet(
  marketplace: Marketplace,
  options: {
    wallet: Signer;
    executionId: Uint8Array;
    task: string;
    parameters?: Record<string, unknown>;
    /** Receives the agent's output as it is written, if the agent streams; it is not verified. */
    onDelta?: (text: string) => void;
  },
): Promise<RouteAnswer<'executeAgent'>> {
  const { wallet, executionId, task, parameters = {}, onDelta } = options;
  const record = await readRecord(marketplace.connection, executionId);
  const hash = bytesToHex(record.requestHash);
  const message = startMessage(findExecution(executionId).toBase58(), hash);
  const signature = bs58.encode(await signText(wallet, message));
  const body = { task, parameters, stream: onDelta !== undefined, wallet_signature: `ed25519:${signature}` };
  // The client retries by itself.
  return askOnce(marketplace, () =>
    clientOf(marketplace).request(
      'startExecution',
      { execution_id: formatUuid(executionId), body },
      { timeout: Number.POSITIVE_INFINITY, patience: patienceOf(marketplace), onDelta },
    ),
  );
}

/** An execution as the chain has it: in its record, or proven by its leaf in an archive. */
export type FoundExecution =
  | { source: 'record'; execution: ExecutionRecord }
  | { source: 'leaf'; execution: ExecutionRecord; leaf: ProvenLeaf };

/**
 * Reads an execution from its record, or, once that is archived, from its leaf. The proof comes from `findArchive`. If
 * it gives none that the chain accepts, or is missing, the proof is rebuilt from the chain's transactions. Throws Refusal
 * if there is neither record nor leaf.
 */
export async function readExecution(
  connection: Connection,
  executionId: Uint8Array,
  findArchive?: FindArchive,
  onProgress?: Progress,
): Promise<FoundExecution> {
  const record = findExecution(executionId);
  const execution = decodeOwn('ExecutionRecord', await connection.getAccountInfo(record));
  if (execution) return { source: 'record', execution };
  const find =
    findArchive && (async () => proveLeaf(connection, executionId, await findArchive(formatUuid(executionId))));
  const given = find ? await unlessRebuilt(find, onProgress) : null;
  const leaf = given ?? (await rebuildLeaf(connection, executionId, onProgress));
  return { source: 'leaf', execution: leaf.execution, leaf };
}

async function rebuildLeaf(
  connection: Connection,
  executionId: Uint8Array,
  onProgress?: Progress,
): Promise<ProvenLeaf> {
  const record = findExecution(executionId);
  const [leaf] = await rebuildProofs(connection, record, { kind: 'fields', onProgress });
  if (leaf) return proveLeaf(connection, executionId, leaf);
  throw new Refusal(`${missingRecord(executionId)}, and the node has no transaction that archived it.`);
}

/** An execution's fields, the balance of its escrow, and its dispute. The other arguments are those of `readExecution`. */
export async function showExecution(
  { connection }: MarketplaceChain,
  executionId: Uint8Array,
  findArchive?: FindArchive,
  onProgress?: Progress,
) {
  const { source, execution: record } = await readExecution(connection, executionId, findArchive, onProgress);
  const address = findExecution(executionId);
  const escrow = await readTokens(connection, findEscrow(address));
  const dispute = await connection.getAccountInfo(findDispute(address));
  return {
    execution_id: formatUuid(executionId),
    record: address.toBase58(),
    /** `record`: read from its account. `leaf`: archived, and proven against the archive's tree. */
    source,
    status: record.status,
    agent_id: record.listing.toBase58(),
    caller: record.caller.toBase58(),
    signing_key: record.signingKey.toBase58(),
    /** Null if the wallet opened it itself. */
    key_id: formatBytes(record.keyId),
    rent_sponsor: record.rentSponsor.toBase58(),
    price_usdc: formatUsdc(record.price),
    /** Null if closed, after its money was paid out. */
    escrow_usdc: escrow === null ? null : formatUsdc(escrow),
    fee_bps: record.feeBps,
    listing_version: record.listingVersion,
    request_hash: formatBytes(record.requestHash),
    result_hash: formatBytes(record.resultHash),
    opened_at: formatTime(record.openedAt),
    deadline: formatTime(record.deadline),
    refund_at: formatTime(record.refundAt),
    /** Also set by a refund. */
    settled_at: formatTime(record.settledAt),
    /** Null if it was never disputed, or if the dispute is closed. */
    dispute: decodeOwn('Dispute', dispute)?.outcome ?? null,
    disputable_until: record.status === 'completed' ? formatTime(disputableUntil(record)) : null,
    execution_time_ms: record.executionTimeMs,
    gas_lamports: record.gasLamports,
  };
}

export interface RefundOptions {
  /** Any wallet, once the execution has expired. */
  wallet: Signer;
  executionId: Uint8Array;
  /** Default: the caller's associated token account. Another account needs the caller's signature. */
  destination?: PublicKey;
}

/** Returns an escrow to its caller. */
export async function refund({ connection, config }: MarketplaceChain, options: RefundOptions) {
  const { wallet, executionId } = options;
  const record = await readRecord(connection, executionId);
  const { caller, keyId, listing, rentSponsor, refundAt, status, gasLamports } = record;
  const amount = await readTokens(connection, findEscrow(findExecution(executionId)));
  const destination = options.destination ?? findTokenAccount(caller, config.usdcMint);
  const now = formatTime(await readClock(connection));
  const accounts = { authority: wallet.publicKey, executionId, listing, caller, keyId, destination, rentSponsor };
  // Reason and gas count only for a relay authority, who refunds here when the relay cannot serve.
  const instruction = refundExecution({ ...accounts, reason: 'unserved', gasLamports });
  const signature = await sendTransaction(connection, [instruction], wallet, {
    ExecutionNotOpen: `It is ${status}.`,
    RefundTooEarly: `refund_at is ${formatTime(refundAt)}; the chain's clock shows ${now}.`,
    WrongRefundDestination: `The caller is ${caller}; this wallet is ${wallet.publicKey}.`,
    RefundDestinationUnusable: `The account is ${destination}, of caller ${caller}. From ${formatTime(movableFrom(refundAt))} on anyone can move it to the unclaimed refunds, where the caller claims it.`,
  });
  return {
    execution_id: formatUuid(executionId),
    destination: destination.toBase58(),
    amount_usdc: formatUsdc(amount ?? 0n),
    signature,
  };
}

/** Removes the record of an ended execution. Its rent goes to the wallet that lent it. */
export async function closeRecord(
  { connection }: MarketplaceChain,
  { wallet, executionId }: { wallet: Signer; executionId: Uint8Array },
) {
  const record = await readRecord(connection, executionId);
  const { rentSponsor, status } = record;
  const closableAt = formatTime(closableFrom(record));
  const now = formatTime(await readClock(connection));
  const signature = await sendTransaction(connection, [closeExecution({ executionId, rentSponsor })], wallet, {
    ExecutionNotEnded: `It is ${status}.`,
    CloseTooEarly: `It can be closed at ${closableAt}; the chain's clock shows ${now}.`,
  });
  return { execution_id: formatUuid(executionId), rent_sponsor: rentSponsor.toBase58(), signature };
}

/** An execution's record. Throws Refusal if it does not exist. */
export function readRecord(connection: Connection, executionId: Uint8Array): Promise<ExecutionRecord> {
  const missing = `${missingRecord(executionId)}.`;
  return readAccount(connection, 'ExecutionRecord', findExecution(executionId), missing);
}

const missingRecord = (executionId: Uint8Array): string =>
  `No record of the execution ${formatUuid(executionId)} exists on this chain`;

/** Unix seconds from which a settled execution can no longer be disputed. */
export function disputableUntil(record: ExecutionRecord): bigint {
  return record.settledAt + BigInt(record.disputeWindowSeconds);
}
