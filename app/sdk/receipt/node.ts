/**
 * The Solana node that a receipt is checked against: four JSON-RPC methods over `fetch`, without Solana's libraries. A
 * node need not be trusted; its answers are only compared.
 */
import * as v from 'valibot';
import { statusText } from '../wire/redirects.ts';
import { originOf } from '../wire/secrets.ts';

/** Timeout of one request, ms. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Transactions of one record: its open, its end, its dispute, its archiving, and others that anyone may add. */
const MOST_SIGNATURES = 50;

/** The node gave no answer that can be compared. The message explains it to the reader of the checks. */
export class Unanswered extends Error {
  override name = 'Unanswered';
}

const Integer = v.pipe(v.number(), v.safeInteger());
const Instruction = v.object({ programIdIndex: Integer, accounts: v.array(Integer), data: v.string() });
const TokenBalance = v.object({
  accountIndex: Integer,
  owner: v.optional(v.string()),
  uiTokenAmount: v.object({ amount: v.pipe(v.string(), v.regex(/^[0-9]{1,20}$/)) }),
});
const TransactionAnswer = v.object({
  blockTime: v.nullish(Integer),
  transaction: v.object({
    signatures: v.array(v.string()),
    message: v.object({ accountKeys: v.array(v.string()), instructions: v.array(Instruction) }),
  }),
  meta: v.object({
    err: v.optional(v.unknown()),
    innerInstructions: v.nullish(v.array(v.object({ instructions: v.array(Instruction) }))),
    loadedAddresses: v.nullish(v.object({ writable: v.array(v.string()), readonly: v.array(v.string()) })),
    postTokenBalances: v.nullish(v.array(TokenBalance)),
  }),
});

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const AccountAnswer = v.object({
  value: v.nullable(
    v.object({
      owner: v.string(),
      data: v.pipe(
        v.array(v.string()),
        v.check(([text = '', encoding]) => encoding === 'base64' && BASE64.test(text)),
      ),
    }),
  ),
});
const SignaturesAnswer = v.array(v.object({ signature: v.string(), err: v.optional(v.unknown()) }));

export interface NodeAccount {
  /** Base58. */
  owner: string;
  data: Uint8Array;
}

/** One instruction, called by the transaction or by another program. */
export interface NodeInstruction {
  program: string;
  accounts: string[];
  /** Base58; another program may make it long. */
  data: string;
}

/** A token account after the transaction. */
export interface TokenHolding {
  /** Base units. */
  amount: bigint;
  /** The owner of the token account; null if the node does not report it. */
  owner: string | null;
}

export interface NodeTransaction {
  signature: string;
  /** Unix seconds; null if the node does not report it. */
  blockTime: number | null;
  /** Null if it succeeded. */
  error: string | null;
  instructions: NodeInstruction[];
  /** False if the node keeps only the instructions that the transaction called itself. */
  hasInner: boolean;
  /** Those that exist after it, by token account; null if the node keeps no balances. */
  holdings: Map<string, TokenHolding> | null;
}

export type SolanaNode = ReturnType<typeof createNode>;

/** Asks the node at this URL. Every method throws Unanswered if there is no valid answer. */
export function createNode(rpcUrl: string, send: typeof fetch = globalThis.fetch) {
  /** For messages and checks: the rest of the URL may have a key. */
  const source = originOf(rpcUrl);

  async function ask<T>(method: string, params: unknown[], schema: v.GenericSchema<unknown, T>): Promise<T> {
    let answer: { result?: unknown; error?: { message?: unknown } } | null;
    try {
      const response = await send(rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        redirect: 'manual',
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const text = await response.text();
      if (!response.ok) throw new Unanswered(`The node answered ${method} with ${statusText(response.status)}.`);
      answer = JSON.parse(text);
    } catch (error) {
      if (error instanceof Unanswered) throw error;
      const isJson = error instanceof SyntaxError;
      throw new Unanswered(
        isJson ? `The node's answer to ${method} is not JSON.` : `No Solana node answers at ${source}.`,
        {
          cause: error,
        },
      );
    }
    if (answer?.error) throw new Unanswered(`The node refused ${method}: ${String(answer.error.message)}.`);
    const parsed = v.safeParse(schema, answer?.result);
    if (parsed.success) return parsed.output;
    throw new Unanswered(`The node returned a malformed ${method} response.`);
  }

  return {
    source,

    genesisHash: (): Promise<string> => ask('getGenesisHash', [], v.string()),

    /** An account; null if the node has none. */
    async account(address: string): Promise<NodeAccount | null> {
      const options = { encoding: 'base64', commitment: 'finalized' };
      const { value } = await ask('getAccountInfo', [address, options], AccountAnswer);
      return value && { owner: value.owner, data: fromBase64(value.data[0] ?? '') };
    },

    /** A transaction; null if the node's history lacks it. */
    async transaction(signature: string): Promise<NodeTransaction | null> {
      // 255 is every version: the node renders the transaction, and its answers are only compared.
      const options = { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 255 };
      const answer = await ask('getTransaction', [signature, options], v.nullable(TransactionAnswer));
      return answer && readTransaction(answer);
    },

    /** The latest transactions that succeeded and name this address, newest first. */
    async signaturesOf(address: string): Promise<string[]> {
      const options = { limit: MOST_SIGNATURES, commitment: 'finalized' };
      const found = await ask('getSignaturesForAddress', [address, options], SignaturesAnswer);
      return found.flatMap(({ signature, err }) => (err === null ? [signature] : []));
    },
  };
}

function readTransaction({ blockTime, transaction, meta }: v.InferOutput<typeof TransactionAnswer>): NodeTransaction {
  const { message, signatures } = transaction;
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
  const keys = [...message.accountKeys, ...writable, ...readonly];
  const keyAt = (index: number): string => keys[index] ?? '';
  const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
  return {
    signature: signatures[0] ?? '',
    blockTime: blockTime ?? null,
    error: meta.err == null ? null : JSON.stringify(meta.err),
    instructions: [...message.instructions, ...inner].map(({ programIdIndex, accounts, data }) => ({
      program: keyAt(programIdIndex),
      accounts: accounts.map(keyAt),
      data,
    })),
    hasInner: meta.innerInstructions != null,
    holdings: meta.postTokenBalances ? holdingsOf(meta.postTokenBalances, keyAt) : null,
  };
}

function holdingsOf(
  balances: v.InferOutput<typeof TokenBalance>[],
  keyAt: (index: number) => string,
): Map<string, TokenHolding> {
  return new Map(
    balances.map(({ accountIndex, owner = null, uiTokenAmount }) => [
      keyAt(accountIndex),
      { amount: BigInt(uiTokenAmount.amount), owner },
    ]),
  );
}

/** The bytes of base64 text. Throws if it is malformed. */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
