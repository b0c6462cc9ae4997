/**
 * Unclaimed refunds by any wallet: moves a refund that its caller's account cannot receive, and claims one by the proof
 * of its leaf. The proof need not be trusted, because the tree's account on the chain has its root.
 */
import { type Connection, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { Buffer } from 'buffer';
import { unclaimedLeaf } from '../program/archive.ts';
import {
  type Archive,
  claimRefund,
  closeExecution,
  constants,
  findRefundClaim,
  findTokenAccount,
  movableFrom,
  moveUnclaimedDeposit,
  moveUnclaimedRefund,
  ownAccount,
  type UnclaimedRefund,
} from '../program/program.ts';
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from '../program/token.ts';
import { formatUuid } from '../receipt/receipt.ts';
import { formatUsdc } from '../wire/usdc.ts';
import type { UnclaimedProof } from '../wire/wire.ts';
import { type ClaimedPlace, type ProvenPlace, provePlace, readUnclaimedFields } from './archive.ts';
import { readArchives } from './archiving.ts';
import { readClock, readTokens } from './connection.ts';
import { readDeposit, refundableAt } from './deposits.ts';
import { readRecord } from './executions.ts';
import { formatTime, type Progress } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { rebuildProofs, unlessRebuilt } from './rebuiltProofs.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import { ask, clientOf, type Service } from './service.ts';
import type { Signer } from './signer.ts';

/**
 * Moves an execution's refund to the unclaimed ones, and closes its record if its rent sponsor can take the rent. Any
 * wallet can do this, an hour after `refund_at`.
 */
export async function moveRefund(
  { connection, config }: MarketplaceChain,
  { wallet, executionId }: { wallet: Signer; executionId: Uint8Array },
) {
  const record = await readRecord(connection, executionId);
  const place = await findPlace(connection);
  const { usdcMint } = config;
  const input = { ...record, ...place, authority: wallet.publicKey, executionId, usdcMint };
  const now = await readClock(connection);
  // The reason, and the record's gas, count only for a relay authority.
  const move = moveUnclaimedRefund({ ...input, reason: 'unserved' });
  const facts = {
    ExecutionNotOpen: `It is ${record.status}.`,
    ...movingFacts(findTokenAccount(record.caller, usdcMint), record.refundAt, now),
  };
  const send = (instructions: TransactionInstruction[]) => sendTransaction(connection, instructions, wallet, facts);
  const signature = await send([move, closeExecution(record)]).catch((error: unknown) => {
    // A rent sponsor that cannot take the rent must not keep the money. It may be that account that has too little SOL.
    const isRent = error instanceof Refusal && (error.code === null || error.code === 'funds_missing');
    if (!isRent) throw error;
    return send([move]);
  });
  return { execution_id: formatUuid(executionId), caller: record.caller.toBase58(), ...shownPlace(place), signature };
}

/** Moves a deposit's refund to the unclaimed ones. Any wallet can do this, an hour after anyone could refund it. */
export async function moveDepositRefund(
  chain: MarketplaceChain,
  { wallet, deposit: address }: { wallet: Signer; deposit: PublicKey },
) {
  const { connection, config } = chain;
  const { deposit, held } = await readDeposit(chain, address);
  const place = await findPlace(connection);
  const { caller, rentSponsor } = deposit;
  const { usdcMint } = config;
  const now = await readClock(connection);
  const input = { authority: wallet.publicKey, deposit: address, caller, rentSponsor, usdcMint, ...place };
  const facts = movingFacts(findTokenAccount(caller, usdcMint), refundableAt(deposit, held), now);
  const signature = await sendTransaction(connection, [moveUnclaimedDeposit(input)], wallet, facts);
  return { deposit: address.toBase58(), caller: caller.toBase58(), ...shownPlace(place), signature };
}

const movingFacts = (account: PublicKey, refundableFrom: bigint, now: bigint) => ({
  MoveTooEarly: `It can be moved at ${formatTime(movableFrom(refundableFrom))}; the chain's clock shows ${formatTime(now)}.`,
  RefundDeliverable: `The account is ${account}. Send the refund to it instead.`,
});

/** The archive that gets the leaf. */
async function findPlace(connection: Connection): Promise<{ archiveIndex: number; tree: PublicKey }> {
  const archives = await readArchives(connection);
  const open = archives.find(({ count }: Archive) => count < constants.archiveCapacity);
  if (!open) throw new Refusal('No archive has room for the leaf. Create one with `archive run --make-tree`.');
  return { archiveIndex: open.index, tree: open.tree };
}

const shownPlace = ({ archiveIndex, tree }: { archiveIndex: number; tree: PublicKey }) => ({
  archive_index: archiveIndex,
  tree: tree.toBase58(),
});

/** The place of an unclaimed refund's leaf, with its fields. */
type ClaimedRefund = ClaimedPlace & Pick<UnclaimedProof, 'fields'>;

/** Finds the unclaimed refunds of a record or deposit by its address. The answer need not be trusted. */
export type FindUnclaimed = (source: PublicKey) => Promise<ClaimedRefund[]>;

/** Proofs from the service. Throws Refusal if it has none. */
export const unclaimedFrom =
  (service: Service): FindUnclaimed =>
  async (source) =>
    (await ask(service, () => clientOf(service).request('getUnclaimed', { source: source.toBase58() }))).refunds;

/** An unclaimed refund that the chain proves. */
interface ProvenRefund extends ProvenPlace {
  refund: UnclaimedRefund;
  /** True if it has been claimed. */
  isClaimed: boolean;
}

/** Proves an unclaimed refund against the chain. Throws Refusal if any step fails. */
async function proveUnclaimed(connection: Connection, source: PublicKey, proof: ClaimedRefund): Promise<ProvenRefund> {
  const refund = readUnclaimedFields(proof.fields);
  if (!refund.source.equals(source)) {
    throw new Refusal(`The proof is for the refund of ${refund.source}, not of ${source}.`);
  }
  const proven = await provePlace(connection, proof, unclaimedLeaf(refund));
  const claim = await connection.getAccountInfo(findRefundClaim(proven.archive.tree, proven.leafIndex));
  return { ...proven, refund, isClaimed: ownAccount(claim) !== null };
}

/**
 * The unclaimed refunds of a record or deposit, each proven against the chain. The proofs come from `findUnclaimed`. If
 * it gives none that the chain accepts, they are rebuilt from the chain's transactions.
 */
export async function showUnclaimed(
  { connection }: MarketplaceChain,
  source: PublicKey,
  findUnclaimed?: FindUnclaimed,
  onProgress?: Progress,
) {
  const given = await proveGiven(connection, source, findUnclaimed, onProgress);
  const proven = given.length > 0 ? given : await rebuildAll(connection, source, onProgress);
  return { source: source.toBase58(), refunds: proven.map(shown) };
}

function shown({ refund, archive, leafIndex, isClaimed }: ProvenRefund) {
  return {
    caller: refund.caller.toBase58(),
    amount_usdc: formatUsdc(refund.amount),
    unclaimed_at: formatTime(refund.unclaimedAt),
    is_claimed: isClaimed,
    archive_index: archive.index,
    tree: archive.tree.toBase58(),
    leaf_index: leafIndex,
  };
}

/** None if the service has none, or a proof is not valid. */
async function proveGiven(
  connection: Connection,
  source: PublicKey,
  findUnclaimed?: FindUnclaimed,
  onProgress?: Progress,
): Promise<ProvenRefund[]> {
  if (!findUnclaimed) return [];
  const prove = async () => proveAll(connection, source, await findUnclaimed(source));
  return (await unlessRebuilt(prove, onProgress)) ?? [];
}

/** Throws Refusal if the chain has none. */
async function rebuildAll(connection: Connection, source: PublicKey, onProgress?: Progress): Promise<ProvenRefund[]> {
  const rebuilt = await rebuildProofs(connection, source, { kind: 'unclaimed', onProgress });
  if (rebuilt.length > 0) {
    const claimed = rebuilt.map(({ unclaimed, ...place }) => ({ ...place, fields: unclaimed }));
    return proveAll(connection, source, claimed);
  }
  throw new Refusal(`The node has no transaction that moved a refund of ${source} to the unclaimed ones.`);
}

function proveAll(connection: Connection, source: PublicKey, claimed: ClaimedRefund[]): Promise<ProvenRefund[]> {
  return Promise.all(claimed.map((proof) => proveUnclaimed(connection, source, proof)));
}

export interface ClaimOptions {
  /** The refund's caller. It pays the rent of the account that forbids a second claim. */
  wallet: Signer;
  /** Address of the execution's record, or of the deposit. */
  source: PublicKey;
  /** Any USDC account of the wallet. Default: its associated token account, which is created if it does not exist. */
  destination?: PublicKey;
  /** Default: proofs are rebuilt from the chain's transactions. */
  findUnclaimed?: FindUnclaimed;
  onProgress?: Progress;
}

/** Claims what is unclaimed of a record or deposit. Throws Refusal if there is nothing to claim. */
export async function claimUnclaimed({ connection, config }: MarketplaceChain, options: ClaimOptions) {
  const { wallet, source, findUnclaimed, onProgress } = options;
  const caller = wallet.publicKey;
  const isOpen = ({ isClaimed }: ProvenRefund) => !isClaimed;
  let open = (await proveGiven(connection, source, findUnclaimed, onProgress)).filter(isOpen);
  // A service may also keep silent about a refund.
  if (open.length === 0) open = (await rebuildAll(connection, source, onProgress)).filter(isOpen);
  if (open.length === 0)
    throw new Refusal(`The refund of ${source} has been claimed.`, { code: 'RefundAlreadyClaimed' });
  const own = findTokenAccount(caller, config.usdcMint);
  const destination = options.destination ?? own;
  const isMissing = options.destination === undefined && (await readTokens(connection, own)) === null;
  const claims: (ReturnType<typeof shown> & { signature: string })[] = [];
  for (const proven of open) {
    const { refund, archive, leafIndex, proof } = proven;
    if (!refund.caller.equals(caller)) {
      throw new Refusal(
        `Only its caller can claim this refund: the caller is ${refund.caller}; this wallet is ${caller}.`,
      );
    }
    const place = { archiveIndex: archive.index, tree: archive.tree, leafIndex, proof };
    const claim = claimRefund({ refund, ...place, payer: caller, destination });
    const instructions = isMissing ? [createAccount(caller, config.usdcMint), claim] : [claim];
    const signature = await sendTransaction(connection, instructions, wallet, {
      DestinationUnusable: `The account is ${destination}. Name another USDC account of the wallet.`,
      ArchiveProofInvalid: 'The tree has grown since the proof was made. Claim again.',
    });
    claims.push({ ...shown(proven), is_claimed: true, signature });
  }
  return { source: source.toBase58(), destination: destination.toBase58(), claims };
}

/** Creates the wallet's associated token account; does nothing if it exists. */
function createAccount(wallet: PublicKey, mint: PublicKey): TransactionInstruction {
  const keys = [
    { pubkey: wallet, isSigner: true, isWritable: true },
    { pubkey: findTokenAccount(wallet, mint), isSigner: false, isWritable: true },
    ...[wallet, mint, SystemProgram.programId, TOKEN_PROGRAM_ID].map((pubkey) => ({
      pubkey: new PublicKey(pubkey),
      isSigner: false,
      isWritable: false,
    })),
  ];
  return new TransactionInstruction({ programId: ASSOCIATED_TOKEN_PROGRAM_ID, keys, data: Buffer.from([1]) });
}
