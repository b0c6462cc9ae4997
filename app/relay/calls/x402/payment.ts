/**
 * Checks the payment of an x402 client before anything is sent. It must be a transaction that transfers one amount to
 * one vault; this service pays its network fee. Everything else is refused, so that our key signs nothing else.
 */
import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  ComputeBudgetProgram,
  type MessageV0,
  PACKET_DATA_SIZE,
  type PublicKey,
  VersionedTransaction,
} from '@solana/web3.js';
import { findTokenAccount } from '../../../sdk/program/program.ts';
import { formatSignature, verifyMessage } from '../../../sdk/receipt/receipt.ts';
import { networkFee } from '../../chain/networkFee.ts';
import { MAX_PAYMENT_FEE, refusePayment } from '../../execution/deposits/buying.ts';

/** Programs whose instructions wallets add: memos, and Lighthouse's assertions. They move no money. */
const MEMOS = ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
const MAX_MEMOS = 4;
/** Twice as many as Phantom adds to a payment. */
const MAX_GUARDS = 8;
/** Index of the payer: the second signer, after our fee payer. */
const PAYER_AT = 1;
const SET_UNIT_LIMIT = { first: 2, bytes: 5 };
const SET_UNIT_PRICE = { first: 3, bytes: 9 };
const TRANSFER_CHECKED = { first: 12, bytes: 10 };

/** The payment that the quote requires. */
interface Expected {
  feePayer: PublicKey;
  usdcMint: PublicKey;
  decimals: number;
  /** The deposit's token account. */
  vault: PublicKey;
  /** Base units. */
  amount: bigint;
  /** The wallet that the quote names, base58; null for any. */
  payer: string | null;
  /** Keys of this service, base58, which never pay. */
  ownKeys: readonly string[];
}

export interface Payment {
  bytes: Buffer;
  /** Base58. */
  payer: string;
  blockhash: string;
}

const wrong = (what: string) => refusePayment('payment_invalid', `The payment is not valid: ${what}`);

/** Reads a payment in base64. Throws ApiError 402. */
export function readPayment(transaction: string, expected: Expected): Payment {
  const bytes = Buffer.from(transaction, 'base64');
  const { message, signatures } = parseTransaction(bytes);
  const keys = message.staticAccountKeys;
  const [feePayer, payer] = keys;
  if (message.addressTableLookups.length > 0) throw wrong('it uses address lookup tables');
  if (message.header.numRequiredSignatures !== 2 || signatures.length !== 2 || !payer) {
    throw wrong('it must have two signers: the fee payer of the quote, then the payer');
  }
  if (!feePayer?.equals(expected.feePayer)) throw wrong(`its fee payer must be ${expected.feePayer}`);
  if (new Set(keys.map(String)).size !== keys.length) throw wrong('it lists an account twice');
  requireFee(networkFee(message));
  requireTransfer(message, requireLayout(message.compiledInstructions, keys), expected);
  const wallet = payer.toBase58();
  if (expected.ownKeys.includes(wallet)) throw wrong('its payer must not be a key of this service');
  if (expected.payer !== null && expected.payer !== wallet) throw wrong(`the quote is for the payer ${expected.payer}`);
  if (!verifyMessage(payer.toBytes(), message.serialize(), formatSignature(signatures[PAYER_AT]!))) {
    throw wrong(`it has no valid signature of ${wallet}`);
  }
  return { bytes, payer: wallet, blockhash: message.recentBlockhash };
}

function parseTransaction(bytes: Buffer) {
  if (bytes.length === 0 || bytes.length > PACKET_DATA_SIZE) throw wrong(`it must have 1 to ${PACKET_DATA_SIZE} bytes`);
  try {
    const transaction = VersionedTransaction.deserialize(bytes);
    const { message, signatures } = transaction;
    // Bytes that only some libraries accept must not be signed.
    const isCanonical = message.version === 0 && bytes.equals(transaction.serialize());
    if (isCanonical && message.version === 0) return { message, signatures };
  } catch {
    // Refused below.
  }
  throw wrong('it must be a valid transaction of version 0');
}

function requireFee(fee: bigint): void {
  if (fee <= MAX_PAYMENT_FEE) return;
  throw wrong(`its network fee of ${fee} lamports is more than ${MAX_PAYMENT_FEE}. Set a lower compute-unit price.`);
}

type Instruction = VersionedTransaction['message']['compiledInstructions'][number];

/**
 * One transfer, the limit and the price of compute units, and harmless ones, in any order: wallets add guards before and
 * after the transfer. None may name our fee payer. Returns the transfer.
 */
function requireLayout(instructions: readonly Instruction[], keys: readonly PublicKey[]): Instruction {
  const programOf = (one: Instruction) => keys[one.programIdIndex]?.toBase58() ?? 'an unknown program';
  const theOne = (program: PublicKey, { first, bytes }: typeof SET_UNIT_LIMIT, what: string) => {
    const found = instructions.filter(
      (one) => programOf(one) === program.toBase58() && one.data.length === bytes && one.data[0] === first,
    );
    if (found.length !== 1) throw wrong(`it must have one instruction ${what}, not ${found.length}`);
    return found[0]!;
  };
  const { programId } = ComputeBudgetProgram;
  const limit = theOne(programId, SET_UNIT_LIMIT, 'that sets the compute-unit limit');
  const price = theOne(programId, SET_UNIT_PRICE, 'that sets the compute-unit price');
  if (limit.accountKeyIndexes.length > 0 || price.accountKeyIndexes.length > 0) {
    throw wrong('the compute-budget instructions must have no accounts');
  }
  const transfer = theOne(TOKEN_PROGRAM_ID, TRANSFER_CHECKED, 'TransferChecked of the Token program');
  const others = instructions.filter((one) => ![limit, price, transfer].includes(one));
  for (const one of others) requireHarmless(one, programOf(one), transfer, keys);
  const guards = others.filter((one) => programOf(one) === LIGHTHOUSE).length;
  if (guards > MAX_GUARDS) throw wrong(`it has more than ${MAX_GUARDS} assertions`);
  if (others.length - guards > MAX_MEMOS) throw wrong(`it has more than ${MAX_MEMOS} memos`);
  const isUsed = instructions.some((one) => one.programIdIndex === 0 || one.accountKeyIndexes.includes(0));
  if (isUsed) throw wrong('no instruction may use the fee payer');
  return transfer;
}

/**
 * The payment is tried before its deposit is created, and must have the same outcome a second later. So a wallet's
 * additions may depend only on the accounts of the transfer, not on the clock or on accounts that change by themselves.
 */
function requireHarmless(one: Instruction, program: string, transfer: Instruction, keys: readonly PublicKey[]): void {
  if (!MEMOS.includes(program) && program !== LIGHTHOUSE) throw wrong(`it has an instruction of ${program}`);
  const other = one.accountKeyIndexes.find((index) => !transfer.accountKeyIndexes.includes(index));
  if (other !== undefined) {
    throw wrong(`an instruction beside the transfer uses ${keys[other]}, which the transfer does not use`);
  }
  if (program === LIGHTHOUSE && one.accountKeyIndexes.length === 0) {
    throw wrong('an assertion must be about an account of the transfer');
  }
}

function requireTransfer(message: MessageV0, { accountKeyIndexes, data }: Instruction, expected: Expected): void {
  const keys = message.staticAccountKeys;
  const [sourceAt, mintAt, vaultAt, payerAt, ...more] = accountKeyIndexes;
  if (more.length > 0 || payerAt !== PAYER_AT)
    throw wrong('the transfer must have four accounts, and the second signer as its authority');
  const view = Buffer.from(data);
  const amount = view.readBigUInt64LE(1);
  if (amount !== expected.amount) throw wrong(`it pays ${amount} base units, not ${expected.amount}`);
  if (view[9] !== expected.decimals) throw wrong(`it names ${view[9]} decimals, not ${expected.decimals}`);
  const at = (index: number | undefined) => keys[index ?? -1];
  if (!at(mintAt)?.equals(expected.usdcMint)) throw wrong(`it must pay in ${expected.usdcMint}`);
  if (!at(vaultAt)?.equals(expected.vault)) throw wrong(`it must pay to ${expected.vault}, the token account of payTo`);
  const source = findTokenAccount(keys[PAYER_AT]!, expected.usdcMint);
  if (!at(sourceAt)?.equals(source)) throw wrong(`it must pay from ${source}, the payer's associated token account`);
  // The preparation of the deposit writes the vault, so only the payment alone would fail.
  if (![sourceAt!, vaultAt!].every((index) => message.isAccountWritable(index))) {
    throw wrong('it must list both token accounts of the transfer as writable');
  }
}
