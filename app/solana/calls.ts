/**
 * JSON-RPC methods that every paid call uses, and one with a long answer, over any sender (rpc.ts). web3.js has them
 * too, but its schemas make an error object for each alternative that does not fit. That took more time than the rest
 * of each call.
 */
import { type AccountInfo, type Commitment, type FetchFn, PublicKey, type TransactionError } from '@solana/web3.js';
import { z } from 'zod';

/** The target; `send` has fetch's shape. */
export interface Node {
  send: FetchFn;
  url: string;
}

/** The node does not do this: an error in its answer, or a status of the caller's fault. */
export class Refused extends Error {
  constructor(method: string, message: unknown) {
    super(`the node refused ${method}: ${String(message)}`);
  }
}

/** Statuses of a gateway that does not pass a method on. */
const CANNOT = new Set([400, 403, 404, 405]);

/** The `result` of one JSON-RPC call. Throws if the node refuses, or if its answer is malformed. */
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
  if (!response.ok) {
    const answer = `${response.status} ${response.statusText}`;
    throw CANNOT.has(response.status) ? new Refused(method, answer) : new Error(`the node answered ${answer}`);
  }
  const json = JSON.parse(text) as { result?: unknown; error?: { message?: unknown } } | null;
  if (json?.error) throw new Refused(method, json.error.message);
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
const simulation = z.object({
  value: z.object({
    err: z.union([z.string(), z.looseObject({})]).nullable(),
    logs: z.array(z.string()).nullish(),
    unitsConsumed: z.number().nullish(),
  }),
});

interface ReadAccounts {
  /** Slot at which all accounts were read. */
  slot: number;
  /** In the order of the request, null for a missing account. */
  accounts: (AccountInfo<Buffer> | null)[];
}

/** Reads at most 100 accounts, all at the same slot. */
export async function readAccounts(
  node: Node,
  addresses: string[],
  options: { commitment: Commitment; minContextSlot: number },
): Promise<ReadAccounts> {
  const params = [addresses, { encoding: 'base64', ...options }];
  const { context, value } = await call(node, 'getMultipleAccounts', params, accountsAnswer);
  if (value.length !== addresses.length) {
    throw new Error(`the node returned ${value.length} accounts, expected ${addresses.length}`);
  }
  return { slot: context.slot, accounts: value.map((found) => found && toAccountInfo(found)) };
}

function toAccountInfo({ data: [base64], owner, ...rest }: z.infer<typeof account>): AccountInfo<Buffer> {
  return { ...rest, owner: new PublicKey(owner), data: Buffer.from(base64, 'base64') };
}

/** The outcome of a final transaction. */
export interface SignatureStatus {
  slot: number;
  /** Null if it succeeded. */
  error: TransactionError | null;
}

/** Limit of `readStatuses`. */
export const MAX_STATUSES = 256;

/**
 * In the order of the request, null if the transaction is not known to be final. Searches the whole history only with
 * `isOld`, which is slow.
 */
export async function readStatuses(
  node: Node,
  signatures: string[],
  isOld: boolean,
): Promise<(SignatureStatus | null)[]> {
  const params = [signatures, { searchTransactionHistory: isOld }];
  const { value } = await call(node, 'getSignatureStatuses', params, statusesAnswer);
  if (value.length !== signatures.length) {
    throw new Error(`the node returned ${value.length} statuses, expected ${signatures.length}`);
  }
  return value.map((found) => {
    const isFinal = found?.confirmationStatus === 'finalized';
    return found && isFinal ? { slot: found.slot, error: found.err as TransactionError | null } : null;
  });
}

/** True if the node has executed this transaction without an error, in a block that may not be final. */
export async function isSeen(node: Node, signature: string): Promise<boolean> {
  const { value } = await call(node, 'getSignatureStatuses', [[signature]], statusesAnswer);
  return value[0] != null && value[0].err === null;
}

/** Sends a transaction; the node neither checks nor repeats it. Returns its signature. */
export function sendTransaction(node: Node, bytes: Uint8Array): Promise<string> {
  const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
  return call(node, 'sendTransaction', [Buffer.from(bytes).toString('base64'), options], z.string());
}

/** What a transaction would do now. */
export interface Simulation {
  /** Null if it would succeed. */
  error: TransactionError | null;
  logs: readonly string[];
  /** Compute units. */
  units: number;
}

/** Signatures are not checked. With `anyBlockhash`, neither is the blockhash. */
export async function simulateTransaction(
  node: Node,
  bytes: Uint8Array,
  { commitment, anyBlockhash }: { commitment: Commitment; anyBlockhash: boolean },
): Promise<Simulation> {
  const config = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: anyBlockhash, commitment };
  const { value } = await call(
    node,
    'simulateTransaction',
    [Buffer.from(bytes).toString('base64'), config],
    simulation,
  );
  return { error: value.err, logs: value.logs ?? [], units: value.unitsConsumed ?? 0 };
}

/** The cluster's certificate of its migration to Alpenglow; null if it has not migrated. Throws if the node cannot say. */
export function readGenesisCertificate(node: Node): Promise<object | null> {
  return call(node, 'getAgGenesisCert', [], z.looseObject({}).nullable());
}
