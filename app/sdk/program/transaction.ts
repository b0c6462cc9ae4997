/**
 * Reads transactions of every version from a node. web3.js's `getTransaction` refuses versions that it does not list,
 * and a stranger can send any. Asking for base64 and for every version always gets an answer. Its log can be read even
 * if its message cannot.
 */
import {
  type ConfirmedTransactionMeta,
  type Connection,
  PublicKey,
  SolanaJSONRPCError,
  VersionedTransaction,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { Buffer } from 'buffer';
import * as v from 'valibot';
import { decodeBase58 } from './base58.ts';
import { isEventInstruction } from './events.ts';
import { ANY_VERSION } from './foreign.ts';

/** The node returned a transaction that this version of the code cannot decode. */
export class UnreadableTransaction extends Error {
  constructor(signature: string, reason: string) {
    super(`the transaction ${signature} cannot be read: ${reason}`);
  }
}

/** A node's answer about one transaction. */
export interface ReceivedTransaction {
  /** Null if the answer has none. */
  slot: number | null;
  /** Null if the node stored none, or if the answer is malformed. */
  logs: string[] | null;
  /** The data of a program's calls to itself that carry events; none if the transaction cannot be decoded. */
  calls(program: PublicKey): Uint8Array[];
  /** Throws UnreadableTransaction. */
  decode(): VersionedTransactionResponse;
}

const Bytes = v.tuple([v.string(), v.literal('base64')]);
const Instruction = v.object({
  programIdIndex: v.number(),
  accounts: v.array(v.number()),
  data: v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]*$/)),
});
const Meta = v.nullable(
  v.looseObject({
    logMessages: v.nullish(v.array(v.string())),
    innerInstructions: v.nullish(v.array(v.object({ index: v.number(), instructions: v.array(Instruction) }))),
    loadedAddresses: v.nullish(v.object({ writable: v.array(v.string()), readonly: v.array(v.string()) })),
  }),
);
const Answer = v.object({ slot: v.number(), blockTime: v.nullish(v.number()), transaction: Bytes, meta: Meta });
const Logs = v.object({ meta: v.object({ logMessages: v.array(v.string()) }) });
const Slot = v.object({ slot: v.number() });

/** web3.js's own requests, which keep the connection's `fetch`. */
type Requester = {
  _rpcRequest(
    method: string,
    params: unknown[],
  ): Promise<{ result?: unknown; error?: { code: number; message: string } }>;
};

/** The answer of the node; null if it does not have the transaction, or if it is not final yet. */
export async function receiveTransaction(
  connection: Connection,
  signature: string,
): Promise<ReceivedTransaction | null> {
  const options = { encoding: 'base64', maxSupportedTransactionVersion: ANY_VERSION, commitment: 'finalized' };
  const requester = connection as unknown as Requester;
  const { result = null, error } = await requester._rpcRequest('getTransaction', [signature, options]);
  if (error) throw new SolanaJSONRPCError(error, `failed to get transaction ${signature}`);
  if (result === null) return null;
  const slot = v.safeParse(Slot, result);
  const logs = v.safeParse(Logs, result);
  return {
    slot: slot.success ? slot.output.slot : null,
    logs: logs.success ? logs.output.meta.logMessages : null,
    calls(program) {
      try {
        return innerDataOf(decode(signature, result), program).filter(isEventInstruction);
      } catch (error) {
        if (error instanceof UnreadableTransaction) return [];
        throw error;
      }
    },
    decode: () => decode(signature, result),
  };
}

/** A transaction of a known version; null as for `receiveTransaction`. Throws UnreadableTransaction. */
export async function readTransaction(
  connection: Connection,
  signature: string,
): Promise<VersionedTransactionResponse | null> {
  return (await receiveTransaction(connection, signature))?.decode() ?? null;
}

/** The data of this program's inner instructions, in their order. Those that carry events are its calls to itself. */
export function innerDataOf({ transaction, meta }: VersionedTransactionResponse, program: PublicKey): Uint8Array[] {
  const keys = transaction.message.getAccountKeys({ accountKeysFromLookups: meta?.loadedAddresses ?? null });
  const inner = (meta?.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
  return inner.flatMap(({ programIdIndex, data }) =>
    keys.get(programIdIndex)?.equals(program) ? decodeBase58(data) : [],
  );
}

function decode(signature: string, result: unknown): VersionedTransactionResponse {
  try {
    const { slot, blockTime = null, transaction, meta } = v.parse(Answer, result);
    const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(transaction[0], 'base64'));
    const names = signatures.map((bytes) => bs58.encode(bytes));
    if (names[0] !== signature) throw new Error(`its first signature is ${names[0]}`);
    const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
    const loadedAddresses = { writable: writable.map(toKey), readonly: readonly.map(toKey) };
    return {
      slot,
      blockTime,
      version: message.version,
      transaction: { message, signatures: names },
      meta: meta && ({ ...meta, loadedAddresses } as unknown as ConfirmedTransactionMeta),
    };
  } catch (error) {
    throw new UnreadableTransaction(signature, (error as Error).message);
  }
}

const toKey = (address: string): PublicKey => new PublicKey(address);
