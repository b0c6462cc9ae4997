/**
 * The calls to the node that every paid call makes, and one with a long answer, over whatever sends them (rpc.ts). web3.js
 * has them, but checks answers by schemas that make an error object for each alternative that does not fit, and that took
 * more than the rest of each call.
 */
import { type AccountInfo, type Commitment, type FetchFn, PublicKey, type TransactionError } from '@solana/web3.js';
import { z } from 'zod';

/** Where to: `send` has fetch's shape. */
export interface Node {
  send: FetchFn;
  url: string;
}

/** The `result` of one JSON-RPC call. Throws where the node refuses, or says what it could not mean. */
async function call<Result>(
  { send, url }: Node,
  method: string,
  params: unknown[],
  schema: z.ZodType<Result>,
): Promise<Result> {
  const response = await send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the node answered ${response.status} ${response.statusText}`);
  const json = JSON.parse(text) as { result?: unknown; error?: { message?: unknown } } | null;
  if (json?.error) throw new Error(`the node refused ${method}: ${String(json.error.message)}`);
  return schema.parse(json?.result);
}

const account = z.object({
  data: z.tuple([z.base64(), z.literal('base64')]),
  executable: z.boolean(),
  lamports: z.number(),
  owner: z.string(),
});
const accountsAnswer = z.object({
  context: z.object({ slot: z.number() }),
  value: z.array(account.nullable()),
});
const statusesAnswer = z.object({
  value: z.array(
    z
      .object({
        slot: z.number(),
        err: z.union([z.string(), z.looseObject({})]).nullable(),
        confirmationStatus: z.string().nullish(),
      })
      .nullable(),
  ),
});
const listedAnswer = z.array(
  z.object({
    signature: z.string(),
    err: z.union([z.string(), z.looseObject({})]).nullable(),
    blockTime: z.number().nullish(),
  }),
);
const simulation = z.object({ value: z.object({ err: z.union([z.string(), z.looseObject({})]).nullable() }) });

export interface ReadAccounts {
  /** When all of them were as they are here. */
  slot: number;
  /** In the order asked for, null where there is none. */
  accounts: (AccountInfo<Buffer> | null)[];
}

/** Accounts of one moment, at most 100. */
export async function readAccounts(
  node: Node,
  addresses: string[],
  options: { commitment: Commitment; minContextSlot: number },
): Promise<ReadAccounts> {
  const params = [addresses, { encoding: 'base64', ...options }];
  const { context, value } = await call(node, 'getMultipleAccounts', params, accountsAnswer);
  if (value.length !== addresses.length) {
    throw new Error(`the node gave ${value.length} accounts for ${addresses.length}`);
  }
  return { slot: context.slot, accounts: value.map((found) => found && toAccountInfo(found)) };
}

function toAccountInfo({ data: [base64], owner, ...rest }: z.infer<typeof account>): AccountInfo<Buffer> {
  return { ...rest, owner: new PublicKey(owner), data: Buffer.from(base64, 'base64') };
}

/** What became of a transaction that a supermajority has voted for. */
export interface SignatureStatus {
  slot: number;
  /** Null where it succeeded. */
  error: TransactionError | null;
}

/** The most that `readStatuses` takes. */
export const MAX_STATUSES = 256;

/** In the order asked for, null where nothing is known that will stay; of all history only with `isOld`, which is dear. */
export async function readStatuses(
  node: Node,
  signatures: string[],
  isOld: boolean,
): Promise<(SignatureStatus | null)[]> {
  const params = [signatures, { searchTransactionHistory: isOld }];
  const { value } = await call(node, 'getSignatureStatuses', params, statusesAnswer);
  if (value.length !== signatures.length) {
    throw new Error(`the node gave ${value.length} statuses for ${signatures.length}`);
  }
  return value.map((found) => {
    const isVoted = found?.confirmationStatus === 'confirmed' || found?.confirmationStatus === 'finalized';
    return found && isVoted ? { slot: found.slot, error: found.err as TransactionError | null } : null;
  });
}

/** Hands a transaction over, neither checked nor repeated by the node. Returns its signature. */
export function sendTransaction(node: Node, bytes: Uint8Array): Promise<string> {
  const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
  return call(node, 'sendTransaction', [Buffer.from(bytes).toString('base64'), options], z.string());
}

/** What a transaction would fail with now, signatures checked; null where it would succeed. */
export async function simulateTransaction(
  node: Node,
  bytes: Uint8Array,
  commitment: Commitment,
): Promise<TransactionError | null> {
  const params = [Buffer.from(bytes).toString('base64'), { encoding: 'base64', sigVerify: true, commitment }];
  return (await call(node, 'simulateTransaction', params, simulation)).value.err;
}

/** A transaction in a list of those that name an account; `err` is null where it succeeded. */
export type ListedSignature = z.infer<typeof listedAnswer>[number];

/** The latest that name an account, newest first, 1,000 at most: web3.js holds everybody up for 60 ms with so many. */
export function listSignatures(
  node: Node,
  address: string,
  options: { limit: number; commitment: Commitment },
): Promise<ListedSignature[]> {
  return call(node, 'getSignaturesForAddress', [address, options], listedAnswer);
}
