/**
 * Disputes: a caller disputes a settled result, the admin decides, the creator's collateral pays. One per execution.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Connection, PublicKey } from '@solana/web3.js';
import { MarketplaceError } from '../client/error.ts';
import {
  claimDisputeAward,
  closeDispute,
  constants,
  type Dispute,
  findDispute,
  findExecution,
  findTokenAccount,
  lapseDispute,
  openDispute,
  openDisputeWithProof,
  resolveDispute,
} from '../program/program.ts';
import { formatUuid } from '../receipt/receipt.ts';
import { DECISION_SECONDS } from '../wire/choices.ts';
import type { EvidenceType } from '../wire/disputeProcedures.ts';
import { formatUsdc } from '../wire/usdc.ts';
import type { FindArchive, ProvenLeaf } from './archive.ts';
import { readAccount, readClock } from './connection.ts';
import { disputableUntil, type FoundExecution, readExecution } from './executions.ts';
import { formatBytes, formatTime, type Progress } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal, UnknownOutcome } from './refusal.ts';
import { sendTransaction } from './send.ts';
import { ask, openSession, type Service } from './service.ts';
import type { Signer } from './signer.ts';
import { readCollateral, readListing } from './upkeep.ts';

/** The service learns of a dispute a moment after the chain. */
const KNOWN_WITHIN_MS = 10_000;
const POLL_MS = 2_000;

interface ByWallet {
  wallet: Signer;
  executionId: Uint8Array;
}

export interface DisputeOptions extends ByWallet {
  evidenceHash: Uint8Array;
  evidenceUri: string;
  /** Maximum bond that the caller has agreed to, lamports. Default: the bond in `config`. */
  maxBond?: bigint;
  /** Finds the proof of an archived execution. Default: it is rebuilt from the chain's transactions (`readExecution`). */
  findArchive?: FindArchive;
  onProgress?: Progress;
}

/** Disputes an execution. The wallet is its caller, and pays bond and rent. `evidenceHash` is SHA-256, 32 bytes. */
export async function disputeExecution(chain: MarketplaceChain, options: DisputeOptions) {
  const { connection, config } = chain;
  const { executionId, evidenceHash, evidenceUri, findArchive, onProgress } = options;
  const found = await readExecution(connection, executionId, findArchive, onProgress);
  const signature = await sendDispute(chain, found, options).catch(async (error) => {
    if (found.source === 'leaf' || !(error instanceof Refusal) || error instanceof UnknownOutcome) throw error;
    // The record may have been archived since it was read. Nothing was sent then, because the node simulates first.
    const again = await readExecution(connection, executionId, findArchive, onProgress);
    if (again.source === 'record') throw error;
    return sendDispute(chain, again, options);
  });
  return {
    execution_id: formatUuid(executionId),
    dispute: findDispute(findExecution(executionId)).toBase58(),
    evidence_hash: bytesToHex(evidenceHash),
    evidence_uri: evidenceUri,
    bond_lamports: config.disputeBondLamports.toString(),
    signature,
  };
}

async function sendDispute(
  { connection, config }: MarketplaceChain,
  found: FoundExecution,
  { wallet, executionId, evidenceHash, evidenceUri, maxBond = config.disputeBondLamports }: DisputeOptions,
): Promise<string> {
  const { execution } = found;
  const payer = wallet.publicKey;
  const wrongCaller = `The caller is ${execution.caller}; this wallet is ${payer}.`;
  const claim = { payer, evidenceHash, evidenceUri, maxBond };
  // The program takes the caller of a leaf from its signature, so a wrong caller is a proof that does not hold.
  if (found.source === 'leaf' && !execution.caller.equals(payer)) {
    throw new Refusal(`Only the execution's caller may do this (NotCaller). ${wrongCaller}`, { code: 'NotCaller' });
  }
  const instruction =
    found.source === 'leaf'
      ? openDisputeWithProof({ ...claim, ...placeOf(found.leaf), execution })
      : openDispute({ ...claim, caller: payer, executionId, listing: execution.listing });
  const now = formatTime(await readClock(connection));
  return sendTransaction(connection, [instruction], wallet, {
    NotCaller: wrongCaller,
    BondAboveMax: 'The bond was raised in the meantime. Check the new bond before you sign.',
    ExecutionNotCompleted: `It is ${execution.status}.`,
    DisputeWindowClosed: `It closed at ${formatTime(disputableUntil(execution))}; the chain's clock shows ${now}.`,
  });
}

function placeOf({ archive, leafIndex, proof }: ProvenLeaf) {
  return { archiveIndex: archive.index, tree: archive.tree, leafIndex, proof };
}

/** A dispute's state, and the collateral that can pay for it. */
export async function showDispute({ connection }: MarketplaceChain, executionId: Uint8Array) {
  const found = await readDispute(connection, executionId);
  const collateral = await readCollateral(connection, found.listing);
  const isOpen = found.outcome === 'open';
  return {
    execution_id: formatUuid(executionId),
    dispute: findDispute(found.record).toBase58(),
    outcome: found.outcome,
    agent_id: found.listing.toBase58(),
    caller: found.caller.toBase58(),
    price_usdc: formatUsdc(found.price),
    evidence_hash: formatBytes(found.evidenceHash),
    reason_hash: formatBytes(found.reasonHash),
    opened_at: formatTime(found.openedAt),
    answer_due_at: isOpen ? formatTime(found.openedAt + BigInt(DECISION_SECONDS)) : null,
    lapses_at: isOpen ? formatTime(lapsesAt(found)) : null,
    resolved_at: formatTime(found.resolvedAt),
    /** Zero once paid out. */
    bond_lamports: found.bond.toString(),
    rent_sponsor: found.rentSponsor.toBase58(),
    amount_to_caller_usdc: formatUsdc(found.amountToCaller),
    amount_slashed_usdc: formatUsdc(found.amountSlashed),
    owed_usdc: formatUsdc(found.owed),
    collateral_usdc: formatUsdc(collateral.deposited - collateral.slashed),
    /** Earlier forfeits: they can pay this caller what the collateral cannot. */
    forfeited_usdc: formatUsdc(collateral.forfeited),
  };
}

/**
 * Stores the evidence of a dispute at the service, where creator and admin read it. Only for the execution's caller; a
 * dispute that is open already must name its hash.
 */
export async function uploadEvidence(
  service: Service,
  { wallet, executionId, content, mediaType }: ByWallet & { /** Base64. */ content: string; mediaType: EvidenceType },
): Promise<void> {
  const session = await openSession(service, wallet);
  const posted = { execution_id: formatUuid(executionId), content, media_type: mediaType };
  await onceKnown(service, () => session.call('disputes.putEvidence', posted));
}

/**
 * Stores the reason of a decision at the service, where caller and creator read it once the dispute has its hash. Only
 * for the admin. Returns the hash, SHA-256, for `decideDispute`.
 */
export async function publishReason(
  service: Service,
  { wallet, executionId, reason }: ByWallet & { reason: string },
): Promise<Uint8Array> {
  const session = await openSession(service, wallet);
  const hash = sha256(utf8ToBytes(reason));
  const posted = { execution_id: formatUuid(executionId), reason };
  const kept = await onceKnown(service, () => session.call('disputes.putReason', posted));
  if (kept.reason_hash === bytesToHex(hash)) return hash;
  throw new Refusal('The marketplace stored another text as the reason, so nothing was signed.');
}

/** Asks again for a while, until the service knows the execution or its dispute. */
function onceKnown<T>(service: Service, put: () => Promise<T>): Promise<T> {
  const end = performance.now() + KNOWN_WITHIN_MS;
  return ask(service, async () => {
    for (;;) {
      try {
        return await put();
      } catch (error) {
        const isUnknown = error instanceof MarketplaceError && error.code === 'execution_not_found';
        if (!isUnknown || performance.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }
  });
}

export type Verdict = { upheld: false } | { upheld: true; amount: bigint };

/**
 * Resolves a dispute, as the admin. `amount` is the collateral to slash, base units, at most 20 times the price. The
 * caller gets at most the price; the rest is forfeited.
 */
export async function decideDispute(
  { connection, config }: MarketplaceChain,
  options: ByWallet & { verdict: Verdict; reasonHash: Uint8Array },
) {
  const { wallet, executionId, verdict, reasonHash } = options;
  const { listing, caller, rentSponsor, price, outcome } = await readDispute(connection, executionId);
  const { creator } = await readListing(connection, listing);
  const collateral = await readCollateral(connection, listing);
  const amount = verdict.upheld ? verdict.amount : 0n;
  const instruction = resolveDispute({
    admin: wallet.publicKey,
    executionId,
    listing,
    caller,
    creator,
    rentSponsor,
    usdcMint: config.usdcMint,
    upheld: verdict.upheld,
    amount,
    reasonHash,
  });
  const left = formatUsdc(collateral.deposited - collateral.slashed);
  const forfeited = `${formatUsdc(collateral.forfeited)} USDC of earlier forfeits`;
  const signature = await sendTransaction(connection, [instruction], wallet, {
    NotAdmin: `The admin is ${config.admin}; this wallet is ${wallet.publicKey}.`,
    DisputeNotOpen: `Its outcome is ${outcome}.`,
    SlashAboveCollateral: `The collateral holds ${left} USDC. Beyond it, up to the price, ${forfeited} can pay the caller.`,
    SlashAboveMultiple: `The price is ${formatUsdc(price)} USDC, so at most ${formatUsdc(price * constants.slashMultiple)} USDC can be taken.`,
  });
  return {
    execution_id: formatUuid(executionId),
    outcome: verdict.upheld ? 'upheld' : 'rejected',
    amount_usdc: formatUsdc(amount),
    reason_hash: bytesToHex(reasonHash),
    signature,
  };
}

/**
 * Pays an award that the caller's account could not receive before. Anyone can do it; only the caller can choose
 * another account.
 */
export async function claimAward(
  { connection, config }: MarketplaceChain,
  options: ByWallet & { destination?: PublicKey },
) {
  const { wallet, executionId } = options;
  const { listing, caller, owed } = await readDispute(connection, executionId);
  const { rentSponsor } = await readCollateral(connection, listing);
  const destination = options.destination ?? findTokenAccount(caller, config.usdcMint);
  const authority = wallet.publicKey;
  const instruction = claimDisputeAward({ authority, executionId, listing, destination, rentSponsor });
  const signature = await sendTransaction(connection, [instruction], wallet, {
    WrongDestination: `The caller is ${caller}; this wallet is ${authority}.`,
    DestinationUnusable: `The account is ${destination}, of caller ${caller}.`,
  });
  return {
    execution_id: formatUuid(executionId),
    destination: destination.toBase58(),
    amount_usdc: formatUsdc(owed),
    signature,
  };
}

/** Ends a dispute that was not resolved for 30 days. Anyone can do it. */
export async function endUndecidedDispute({ connection }: MarketplaceChain, { wallet, executionId }: ByWallet) {
  const found = await readDispute(connection, executionId);
  const { listing, rentSponsor, outcome } = found;
  const now = formatTime(await readClock(connection));
  const signature = await sendTransaction(connection, [lapseDispute({ executionId, listing, rentSponsor })], wallet, {
    DisputeNotOpen: `Its outcome is ${outcome}.`,
    LapseTooEarly: `It lapses at ${formatTime(lapsesAt(found))}; the chain's clock shows ${now}.`,
  });
  return { execution_id: formatUuid(executionId), outcome: 'lapsed', bond_to: rentSponsor.toBase58(), signature };
}

/**
 * Removes an ended dispute. Its record can have no other. Its rent goes to the wallet that paid it. Anyone can do it.
 */
export async function removeDispute({ connection }: MarketplaceChain, { wallet, executionId }: ByWallet) {
  const found = await readDispute(connection, executionId);
  const { rentSponsor, outcome, owed } = found;
  const now = formatTime(await readClock(connection));
  const closableAt = formatTime(found.resolvedAt + BigInt(constants.endedDisputeSeconds));
  const signature = await sendTransaction(connection, [closeDispute({ executionId, rentSponsor })], wallet, {
    DisputeNotEnded: `Its outcome is ${outcome}, and it owes ${formatUsdc(owed)} USDC.`,
    CloseTooEarly: `It can be closed at ${closableAt}; the chain's clock shows ${now}.`,
  });
  return { execution_id: formatUuid(executionId), rent_sponsor: rentSponsor.toBase58(), signature };
}

function readDispute(connection: Connection, executionId: Uint8Array): Promise<Dispute> {
  const missing = `No dispute of execution ${formatUuid(executionId)} exists on this chain.`;
  return readAccount(connection, 'Dispute', findDispute(findExecution(executionId)), missing);
}

function lapsesAt({ openedAt }: Dispute): bigint {
  return openedAt + BigInt(constants.disputeLapseSeconds);
}
