/** Signs the transactions of an execution: the open, the settle and the refund, and those of its deposit. */
import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import {
  type DepositTerms,
  type ExecutionRecord,
  findSpender,
  findTokenAccount,
  openExecutionFromDeposit,
  openExecutionWithGrant,
  parseAddress,
  prepareDeposit,
  type RefundReason,
  refundDeposit,
  refundExecution,
  settleExecution,
} from '../../sdk/program/program.ts';
import { parseResultHash, parseSignature, parseUuid } from '../../sdk/receipt/receipt.ts';
import { ARCHIVE_SHARE, gasOfShare } from '../chain/fees.ts';
import { LAMPORTS_PER_SIGNATURE } from '../chain/networkFee.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import { chainUnreadable } from '../errors.ts';
import type { ClaimedDeposit } from '../ledger/claims.ts';
import type { JournalRow, ResultRow } from '../ledger/tables.ts';
import { isRefused } from '../ledger/transactions.ts';
import type { NewTransaction } from '../ledger/writing.ts';
import type { EngineDeps, Step } from './deps.ts';

/** How long after the check the escrow may still be funded, seconds on the chain's clock. */
export const OPEN_WINDOW_SECONDS = 60n;

type Signing = Pick<RelayChain, 'sign' | 'authority' | 'quote'>;
type Places = Pick<EngineDeps, 'usdcMint'>;

/** The maximum priority fee of the open: what the row collected for it. If the operator pays, the current price. */
function openPriority(chain: Signing, { fee_lamports: fee, repaid_lamports: repaid }: JournalRow): bigint {
  return fee > 0n ? fee - repaid - LAMPORTS_PER_SIGNATURE : chain.quote().open;
}

/** The same of a settle or refund, by the gas that the record holds. */
function endPriority(chain: Signing, { gasLamports }: Pick<ExecutionRecord, 'gasLamports'>): bigint {
  if (gasLamports === 0) return chain.quote().settle;
  const spare = BigInt(gasLamports) - LAMPORTS_PER_SIGNATURE - ARCHIVE_SHARE;
  return spare > 0n ? spare : 0n;
}

/** Signs a transaction with this part only, which bears the whole network fee. `attempt` counts earlier ones that are dead. */
export const signAlone = (
  chain: Signing,
  { instruction, mostPriority }: { instruction(): TransactionInstruction; mostPriority: bigint },
  attempt = 0,
): Promise<NewTransaction> => chain.sign([instruction()], mostPriority, attempt);

/**
 * The instruction that funds this row's escrow: from its deposit if it has one, else by the key's grant. In a shared
 * transaction the wallet whose grant opens it pays the share, and the rent of a deposit must be our authority's.
 * `openBefore` is unix seconds on the chain's clock.
 */
export const partOfOpen = (
  chain: Signing,
  row: JournalRow,
  places: Places,
  openBefore: bigint,
  depositRentSponsor = chain.authority,
) => ({
  instruction(share?: bigint) {
    const isShared = share !== undefined && row.fee_lamports > 0n;
    const fee = isShared ? share + row.repaid_lamports : row.fee_lamports;
    return openInstruction(chain, row, places, { openBefore, fee, depositRentSponsor });
  },
  mostPriority: openPriority(chain, row),
  state: 'open_signed' as const,
  changes: { open_before: openBefore },
});

/** Signs the open alone. Throws ApiError 503 if the node does not answer. */
export const signOpen = (...open: Parameters<typeof partOfOpen>): Promise<NewTransaction> =>
  signAlone(open[0], partOfOpen(...open)).catch(chainUnreadable);

/** Signs and stores the open of this row again, alone. */
export async function signOnceMore(
  deps: Pick<EngineDeps, 'chain' | 'journal' | 'usdcMint'>,
  row: JournalRow,
  openBefore: bigint,
  depositRentSponsor?: PublicKey,
): Promise<Step> {
  const signed = await signOpen(deps.chain, row, deps, openBefore, depositRentSponsor);
  if (isRefused(row, signed)) return 'wait';
  await deps.journal.openSigned(row, signed, openBefore);
  return 'next';
}

/** `fee` is what the gas balance pays to the relay, lamports. */
function openInstruction(
  chain: Pick<Signing, 'authority'>,
  row: JournalRow,
  { usdcMint }: Places,
  { openBefore, fee, depositRentSponsor }: { openBefore: bigint; fee: bigint; depositRentSponsor: PublicKey },
): TransactionInstruction {
  const executionId = parseUuid(row.execution_id);
  if (!executionId) throw new Error(`journal row ${row.execution_id} has no valid id`);
  const wallet = parseAddress(row.wallet);
  const open = {
    ...termsOf(row),
    relayAuthority: chain.authority,
    payer: chain.authority,
    rentSponsor: row.record_lent > 0n ? chain.authority : findSpender(wallet),
    usdcMint,
    executionId,
    maxPrice: row.price,
    openBefore,
    gasLamports: Number(row.gas_lamports),
  };
  return row.deposit === null
    ? openExecutionWithGrant({
        ...open,
        wallet,
        keyId: Buffer.from(row.key_id, 'hex'),
        feeLamports: Number(fee),
        spenderLendsEscrow: row.escrow_lent === 0n,
      })
    : openExecutionFromDeposit({
        ...open,
        deposit: parseAddress(row.deposit),
        quotedPayer: quotedPayerOf(row),
        depositRentSponsor,
      });
}

/** The terms of a row's open. */
export function termsOf(
  row: Pick<JournalRow, 'listing' | 'listing_version' | 'request_hash' | 'timeout_seconds' | 'nonce'>,
): DepositTerms {
  return {
    listing: parseAddress(row.listing),
    listingVersion: Number(row.listing_version),
    requestHash: Buffer.from(row.request_hash, 'hex'),
    timeoutSeconds: Number(row.timeout_seconds),
    nonce: Buffer.from(row.nonce, 'hex'),
  };
}

const quotedPayerOf = (row: Pick<JournalRow, 'names_payer' | 'wallet'>): PublicKey | null =>
  row.names_payer === 1n ? parseAddress(row.wallet) : null;

/** Creates the accounts of this call's deposit. */
export function depositInstruction(
  { authority }: Pick<Signing, 'authority'>,
  row: Pick<JournalRow, keyof ClaimedDeposit>,
  { usdcMint }: Places,
): TransactionInstruction {
  return prepareDeposit({
    terms: termsOf(row),
    payer: quotedPayerOf(row),
    price: row.price,
    serviceFee: row.service_fee,
    usdcMint,
    authority,
    rentPayer: authority,
    rentSponsor: authority,
    caller: parseAddress(row.wallet),
  });
}

/** The same for a transaction. In a shared one, the service fee pays its share, too. */
export const partOfDeposit = (chain: Signing, row: JournalRow, places: Places) => ({
  instruction: () => depositInstruction(chain, row, places),
  mostPriority: openPriority(chain, row),
  state: 'deposit_signed' as const,
  changes: {},
});

/** Throws ApiError 503 if the node does not answer. */
export const signDeposit = (chain: Signing, row: JournalRow, places: Places): Promise<NewTransaction> =>
  signAlone(chain, partOfDeposit(chain, row, places)).catch(chainUnreadable);

interface Return {
  usdcMint: PublicKey;
  /** The deposit's rent sponsor. */
  rentSponsor: PublicKey;
  /**
   * True for a paid deposit that has expired: the payer gets back the service fee too. The program keeps the fee if a
   * relay authority signs. After the expiry anyone may sign, so a new key does.
   */
  isWhole: boolean;
  /** Number of earlier returns that are dead. */
  attempt: number;
}

/** Signs the transaction that sends this row's deposit back to its payer and closes it. */
export function signReturn(
  chain: Signing,
  row: JournalRow,
  { usdcMint, rentSponsor, isWhole, attempt }: Return,
): Promise<NewTransaction> {
  const destination = findTokenAccount(parseAddress(row.wallet), usdcMint);
  const deposit = parseAddress(row.deposit!);
  const asker = isWhole ? Keypair.generate() : null;
  const authority = asker?.publicKey ?? chain.authority;
  const instruction = refundDeposit({ authority, deposit, destination, rentSponsor, usdcMint });
  return chain.sign([instruction], openPriority(chain, row), attempt, asker);
}

/**
 * Lamports of a record's gas that the relay takes at its end: all of it, or what a share of a transaction and the archive
 * need. The rest goes back to the wallet's gas balance.
 */
const gasToTake = ({ gasLamports }: Pick<ExecutionRecord, 'gasLamports'>, share?: bigint): number =>
  share === undefined ? gasLamports : Math.min(gasLamports, Number(gasOfShare(share)));

/** Settles a verified result to an account of the creator, with the creator's signature. */
export const partOfSettle = (
  chain: Signing,
  record: ExecutionRecord,
  payout: PublicKey,
  result: Pick<ResultRow, 'result_hash' | 'signature' | 'execution_time_ms'>,
) => ({
  instruction(share?: bigint) {
    const signature = parseSignature(result.signature);
    if (!signature) throw new Error('a stored signature is malformed');
    return settleExecution({
      relayAuthority: chain.authority,
      executionId: record.executionId,
      caller: record.caller,
      listing: record.listing,
      payout,
      rentSponsor: record.rentSponsor,
      resultHash: parseResultHash(result.result_hash),
      signature,
      executionTimeMs: Number(result.execution_time_ms),
      gasLamports: gasToTake(record, share),
    });
  },
  mostPriority: endPriority(chain, record),
});

/** Refunds a record to its caller's associated token account. */
export const partOfRefund = (chain: Signing, record: ExecutionRecord, usdcMint: PublicKey, reason: RefundReason) => ({
  instruction: (share?: bigint) =>
    refundExecution({
      authority: chain.authority,
      executionId: record.executionId,
      listing: record.listing,
      caller: record.caller,
      keyId: record.keyId,
      destination: findTokenAccount(record.caller, usdcMint),
      rentSponsor: record.rentSponsor,
      reason,
      gasLamports: gasToTake(record, share),
    }),
  mostPriority: endPriority(chain, record),
});
