/** Methods that take transactions, try them, and tell what became of them. */
import { type Commitment, type Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { z } from 'zod';
import { accountConfig } from './accountJson.ts';
import { inContext, readingOf, showAccount } from './accountMethods.ts';
import { type Bank, describe, type Outcome } from './bank.ts';
import type { Landed } from './history.ts';
import { BLOCKHASH_SLOTS } from './slots.ts';
import { type Decoded, decodeMessage, decodeTransaction, describeError, feeOf } from './transaction.ts';
import { showTransaction } from './transactionJson.ts';
import {
  address,
  CODES,
  context,
  DEFAULT_COMMITMENT,
  decodeBytes,
  invalidParams,
  type Method,
  parse,
  RpcError,
  signature,
} from './wire.ts';

/** How long a node remembers a status without looking into its history, slots. */
const STATUS_SLOTS = 300;
const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;

const bytesEncoding = z.enum(['base58', 'base64']).default('base58');
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
    limit: z.number().int().min(1).max(MAX_SIGNATURES).default(MAX_SIGNATURES),
    before: signature.nullish(),
    until: signature.nullish(),
  })
  .nullish();
const transactionConfig = z
  .union([
    z.enum(['json', 'base64', 'base58', 'jsonParsed']).transform((encoding) => ({ encoding })),
    z.object({
      encoding: z.enum(['json', 'base64', 'base58', 'jsonParsed']).optional(),
      commitment: context.shape.commitment,
      maxSupportedTransactionVersion: z.number().int().nonnegative().optional(),
    }),
  ])
  .nullish();

/** `faucet` pays for airdrops. */
export function transactionMethods(bank: Bank, faucet: Keypair): Record<string, Method> {
  /** As of a commitment that history can be asked at. */
  function settled(commitment: string | undefined): Commitment {
    if (commitment !== 'processed') return (commitment ?? DEFAULT_COMMITMENT) as Commitment;
    throw invalidParams('Method does not support commitment below `confirmed`');
  }

  function requireSignatures(outcome: Outcome): void {
    if (outcome.err !== 'SignatureFailure') return;
    throw new RpcError(CODES.signatureVerification, 'Transaction signature verification failure');
  }

  function tell({ err, meta }: Outcome) {
    const { logMessages: logs, computeUnitsConsumed: unitsConsumed, returnData } = describe(meta);
    return { err, logs, accounts: null, unitsConsumed, returnData };
  }

  /** What a transaction would come to; one that cannot run comes to that. */
  function attempt(transaction: Decoded, commitment: Commitment, verify: boolean) {
    const result = bank.simulate(transaction, verify);
    requireSignatures(result);
    const refusal = bank.refusal(transaction, commitment);
    const empty = { logs: [], accounts: null, unitsConsumed: 0, returnData: null };
    return { ...result, shown: refusal === null ? tell(result) : { err: refusal, ...empty } };
  }

  function preflight(transaction: Decoded, commitment: Commitment): void {
    // A cluster takes the same bytes from whoever missed the answer; only what is new is tried.
    if (bank.history.get(transaction.signature)) return;
    const { shown } = attempt(transaction, commitment, true);
    if (shown.err === null) return;
    const message = `Transaction simulation failed: ${describeError(shown.err, shown.logs)}`;
    throw new RpcError(CODES.preflightFailure, message, shown);
  }

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
    sendTransaction(params) {
      const [text, options] = parse(z.tuple([z.string()]).rest(sendConfig), params);
      const transaction = decodeTransaction(decodeBytes(text, options?.encoding ?? 'base58'));
      const commitment = (options?.preflightCommitment ?? DEFAULT_COMMITMENT) as Commitment;
      readingOf(bank, { commitment, minContextSlot: options?.minContextSlot });
      if (!options?.skipPreflight) preflight(transaction, commitment);
      bank.submit(transaction);
      return transaction.signature;
    },
    simulateTransaction(params) {
      const [text, options] = parse(z.tuple([z.string()]).rest(simulateConfig), params);
      const bytes = decodeBytes(text, options?.encoding ?? 'base58');
      const reading = readingOf(bank, options);
      if (options?.sigVerify && options.replaceRecentBlockhash) {
        throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      }
      const block = bank.slots.blockAt(reading.slot);
      const sent = decodeTransaction(bytes);
      // Another blockhash makes another transaction of it, which nobody has seen.
      const asked = options?.replaceRecentBlockhash ? { ...sent, blockhash: block.hash, signature: '' } : sent;
      const { meta, postAccounts, shown } = attempt(asked, reading.commitment, options?.sigVerify ?? false);
      const accounts = options?.accounts?.addresses.map((key) => {
        const account = postAccounts.get(key.toBase58()) ?? bank.svm.getAccount(key.toBytes());
        const encoding = options.accounts?.encoding ?? 'base64';
        return shown.err === null && account ? showAccount(bank, key, account, { encoding }, 'processed') : null;
      });
      return inContext(reading, {
        ...shown,
        ...(accounts && { accounts }),
        ...(options?.innerInstructions && { innerInstructions: describe(meta).innerInstructions }),
        ...(options?.replaceRecentBlockhash && {
          replacementBlockhash: { blockhash: block.hash, lastValidBlockHeight: block.slot + BLOCKHASH_SLOTS },
        }),
      });
    },
    getSignatureStatuses(params) {
      const shape = z.object({ searchTransactionHistory: z.boolean().optional() }).nullish();
      const [signatures, options] = parse(z.tuple([z.array(signature).max(MAX_STATUSES)]).rest(shape), params);
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
      const object = options && 'commitment' in options ? options : null;
      const commitment = settled(object?.commitment);
      const landed = bank.history.get(text);
      if (!landed || landed.slot > bank.slots.at(commitment)) return null;
      const maxVersion = (options as { maxSupportedTransactionVersion?: number })?.maxSupportedTransactionVersion;
      return showTransaction(landed, {
        encoding: options?.encoding ?? 'json',
        maxVersion,
      });
    },
    getSignaturesForAddress(params) {
      const [key, options] = parse(z.tuple([address]).rest(historyConfig), params);
      const reading = readingOf(bank, { ...options, commitment: settled(options?.commitment) as 'confirmed' });
      const found = bank.history.of(key.toBase58(), {
        limit: options?.limit ?? MAX_SIGNATURES,
        maxSlot: reading.slot,
        before: options?.before ?? undefined,
        until: options?.until ?? undefined,
      });
      return found.map((landed) => {
        const { err, slot, confirmationStatus } = statusOf(landed);
        const { signature, blockTime } = landed;
        return { signature, slot, err, memo: null, blockTime, confirmationStatus };
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
