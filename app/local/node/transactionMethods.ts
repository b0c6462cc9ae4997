/** Methods that submit, simulate and look up transactions. */
import { type Commitment, type Keypair, SystemProgram, Transaction, type TransactionError } from '@solana/web3.js';
import { z } from 'zod';
import { accountConfig } from './accountJson.ts';
import { inContext, readingOf, settled, showAccount } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import type { Landed } from './history.ts';
import { describe, innerInstructionsOf, nameOf, type Simulated } from './outcome.ts';
import { BLOCKHASH_SLOTS } from './slots.ts';
import {
  type Decoded,
  decodeMessage,
  decodeTransaction,
  describeError,
  feeOf,
  requireBudget,
  transactionBytes,
} from './transaction.ts';
import { memoOf, showTransaction } from './transactionJson.ts';
import {
  address,
  CODES,
  context,
  DEFAULT_COMMITMENT,
  decodeBytes,
  invalidParams,
  type Method,
  maxVersion,
  parse,
  RpcError,
  requireEncoding,
  signature,
  transactionEncoding,
  upTo,
} from './wire.ts';

/** Slots for which a node remembers a status without searching its history. */
const STATUS_SLOTS = 300;
const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;

const bytesEncoding = z
  .enum(['base58', 'base64'])
  .nullish()
  .transform((encoding) => encoding ?? 'base58');
const sendConfig = z
  .object({
    encoding: bytesEncoding,
    skipPreflight: z.boolean().default(false),
    preflightCommitment: context.shape.commitment,
    minContextSlot: context.shape.minContextSlot,
  })
  .nullish();
const simulateConfig = context
  .extend({
    encoding: bytesEncoding,
    sigVerify: z.boolean().default(false),
    replaceRecentBlockhash: z.boolean().default(false),
    innerInstructions: z.boolean().default(false),
    accounts: z.object({ addresses: z.array(address), encoding: accountConfig.shape.encoding }).nullish(),
  })
  .nullish();
const historyConfig = context
  .extend({
    limit: z
      .number()
      .int()
      .refine((limit) => limit >= 1 && limit <= MAX_SIGNATURES, `Invalid limit; max ${MAX_SIGNATURES}`)
      .nullish()
      .transform((limit) => limit ?? MAX_SIGNATURES),
    before: signature.nullish(),
    until: signature.nullish(),
  })
  .nullish();
const transactionOptions = z.object({
  encoding: transactionEncoding.nullish(),
  commitment: context.shape.commitment,
  maxSupportedTransactionVersion: maxVersion,
});
/** Options, or the encoding alone. */
const transactionConfig = z
  .union([transactionEncoding.transform((encoding) => transactionOptions.parse({ encoding })), transactionOptions])
  .nullish();

type SimulatedAccounts = NonNullable<NonNullable<z.output<typeof simulateConfig>>['accounts']>;

/** The accounts to return after a simulation: at most as many as the transaction names. */
function accountsWanted(accounts: SimulatedAccounts | null | undefined, { keys }: Decoded) {
  if (!accounts) return null;
  const { addresses } = accounts;
  const encoding = accounts.encoding ?? 'base64';
  if (encoding === 'base58' || encoding === 'binary') throw invalidParams('base58 encoding not supported');
  if (addresses.length > keys.length) throw invalidParams(`Too many accounts provided; max ${keys.length}`);
  return { addresses, encoding };
}

/** Errors before a fee is taken. */
const UNPAID = new Set([
  ...['AccountNotFound', 'InsufficientFundsForFee', 'InsufficientFundsForRent', 'InvalidAccountForFee'],
  ...['SanitizeFailure', 'AccountLoadedTwice', 'TooManyAccountLocks'],
]);

function ran({ message }: Decoded, { err, meta, postAccounts }: Simulated) {
  const { logMessages: logs, computeUnitsConsumed: unitsConsumed, returnData } = describe(meta);
  // A transaction whose payer cannot pay is not run.
  const paysNothing = err !== null && logs.length === 0 && UNPAID.has(nameOf(err));
  return { shown: { err, logs, unitsConsumed, returnData, fee: paysNothing ? null : feeOf(message) }, postAccounts };
}

function refused(err: TransactionError) {
  return {
    shown: { err, logs: [] as string[], unitsConsumed: 0, returnData: null, fee: null },
    postAccounts: null,
  };
}

/** `faucet` pays for airdrops. */
export function transactionMethods(bank: Bank, faucet: Keypair): Record<string, Method> {
  return { ...sendingMethods(bank, faucet), ...historyMethods(bank) };
}

function sendingMethods(bank: Bank, faucet: Keypair): Record<string, Method> {
  /** The result of a simulation. A transaction that cannot run has that error and costs nothing. */
  function attempt(transaction: Decoded, commitment: Commitment, verify: boolean) {
    const result = bank.simulate(transaction, verify);
    const refusal = result.err === 'SignatureFailure' ? result.err : bank.refusal(transaction, commitment);
    if (refusal !== null) return { ...refused(refusal), innerInstructions: () => [] };
    return { ...ran(transaction, result), innerInstructions: () => innerInstructionsOf(result.meta) };
  }

  function preflight(transaction: Decoded, commitment: Commitment): void {
    const { shown } = attempt(transaction, commitment, true);
    if (shown.err === null) return;
    const message = `Transaction simulation failed: ${describeError(shown.err, shown.logs)}`;
    const untold = { accounts: null, innerInstructions: null, loadedAddresses: null, replacementBlockhash: null };
    throw new RpcError(CODES.preflightFailure, message, { ...shown, ...untold });
  }

  return {
    sendTransaction(params) {
      const [text, options] = parse(z.tuple([z.string()]).rest(sendConfig), params);
      const transaction = decodeTransaction(transactionBytes(text, options?.encoding ?? 'base58'));
      requireBudget(transaction.message);
      const commitment = (options?.preflightCommitment ?? DEFAULT_COMMITMENT) as Commitment;
      readingOf(bank, { commitment, minContextSlot: options?.minContextSlot });
      if (!options?.skipPreflight) preflight(transaction, commitment);
      bank.submit(transaction);
      return transaction.signature;
    },
    simulateTransaction(params) {
      const [text, options] = parse(z.tuple([z.string()]).rest(simulateConfig), params);
      const sent = decodeTransaction(transactionBytes(text, options?.encoding ?? 'base58'));
      const reading = readingOf(bank, options);
      if (options?.sigVerify && options.replaceRecentBlockhash) {
        throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      }
      requireBudget(sent.message);
      const wanted = accountsWanted(options?.accounts, sent);
      const block = bank.slots.blockAt(reading.slot);
      // Another blockhash makes it a new transaction, which has never run.
      const asked = options?.replaceRecentBlockhash ? { ...sent, blockhash: block.hash, signature: '' } : sent;
      const tried = attempt(asked, reading.commitment, options?.sigVerify ?? false);
      const accounts = wanted?.addresses.map((key) => {
        const account = tried.postAccounts?.get(key.toBase58()) ?? bank.svm.getAccount(key.toBytes());
        const { encoding } = wanted;
        return tried.shown.err === null && account ? showAccount(bank, key, account, { encoding }, 'processed') : null;
      });
      const lastValidBlockHeight = block.height + BLOCKHASH_SLOTS;
      return inContext(reading, {
        ...tried.shown,
        accounts: accounts ?? null,
        innerInstructions: options?.innerInstructions ? tried.innerInstructions() : null,
        loadedAddresses: { writable: [], readonly: [] },
        replacementBlockhash: options?.replaceRecentBlockhash ? { blockhash: block.hash, lastValidBlockHeight } : null,
      });
    },
    getFeeForMessage(params) {
      const [text, options] = parse(z.tuple([z.string()]).rest(context.nullish()), params);
      const message = decodeMessage(decodeBytes(text, 'base64'));
      const reading = readingOf(bank, options);
      const isValid = bank.slots.isValid(message.recentBlockhash, reading.slot);
      return inContext(reading, isValid ? feeOf(message) : null);
    },
    requestAirdrop(params) {
      const [key, lamports] = parse(z.tuple([address, z.number().int().positive()]).rest(z.unknown()), params);
      const { hash: recentBlockhash } = bank.slots.blockAt(bank.slots.current);
      const transaction = new Transaction({ feePayer: faucet.publicKey, recentBlockhash });
      transaction.add(SystemProgram.transfer({ fromPubkey: faucet.publicKey, toPubkey: key, lamports }));
      transaction.sign(faucet);
      const decoded = decodeTransaction(transaction.serialize());
      bank.submit(decoded);
      return decoded.signature;
    },
  };
}

function historyMethods(bank: Bank): Record<string, Method> {
  function statusOf(landed: Landed) {
    const { slot, err } = landed;
    const { current, confirmed, finalized } = bank.slots;
    const isFinal = slot <= finalized;
    return {
      slot,
      confirmations: isFinal ? null : current - slot,
      err,
      status: err === null ? { Ok: null } : { Err: err },
      confirmationStatus: isFinal ? 'finalized' : slot <= confirmed ? 'confirmed' : 'processed',
    };
  }

  return {
    getSignatureStatuses(params) {
      const shape = z.object({ searchTransactionHistory: z.boolean().optional() }).nullish();
      const [signatures, options] = parse(z.tuple([upTo(MAX_STATUSES, signature)]).rest(shape), params);
      const oldest = options?.searchTransactionHistory ? 0 : bank.slots.current - STATUS_SLOTS;
      return inContext(
        { slot: bank.slots.current },
        signatures.map((text) => {
          const landed = bank.history.get(text);
          return landed && landed.slot >= oldest ? statusOf(landed) : null;
        }),
      );
    },
    getTransaction(params) {
      const [text, options] = parse(z.tuple([signature]).rest(transactionConfig), params);
      requireEncoding(options);
      const commitment = settled(options?.commitment);
      const landed = bank.history.get(text);
      if (!landed || landed.slot > bank.slots.at(commitment)) return null;
      const maxVersion = options?.maxSupportedTransactionVersion ?? undefined;
      const { slot, blockTime, position: transactionIndex } = landed;
      const shown = showTransaction(landed, { encoding: options?.encoding ?? 'json', maxVersion });
      return { slot, blockTime, transactionIndex, ...shown };
    },
    getSignaturesForAddress(params) {
      const [key, options] = parse(z.tuple([address]).rest(historyConfig), params);
      const reading = readingOf(bank, { ...options, commitment: settled(options?.commitment) as 'confirmed' });
      for (const known of [options?.before, options?.until]) {
        if (known && !bank.history.get(known)) {
          throw new RpcError(CODES.unknownSignature, `Transaction ${known} not found`);
        }
      }
      const found = bank.history.of(key.toBase58(), {
        limit: options?.limit ?? MAX_SIGNATURES,
        maxSlot: reading.slot,
        before: options?.before ?? undefined,
        until: options?.until ?? undefined,
      });
      return found.map((landed) => {
        const { err, slot, confirmationStatus } = statusOf(landed);
        const { signature, blockTime, position: transactionIndex } = landed;
        return { signature, slot, err, memo: memoOf(landed), blockTime, confirmationStatus, transactionIndex };
      });
    },
  };
}
