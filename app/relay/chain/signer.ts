/** The only holder of the relay's key: signs transactions, and keeps a recent blockhash for them. */
import { createPrivateKey, type KeyObject, sign as signBytes } from 'node:crypto';
import { type Keypair, type TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Logger } from 'pino';
import { parseAddress } from '../../sdk/program/program.ts';
import { greatest } from '../../sdk/wire/amounts.ts';
import type { NewTransaction } from '../ledger/writing.ts';
import { type Agreement, areNear } from './agreement.ts';
import type { Fees, PriorityQuote } from './fees.ts';
import { LAMPORTS_PER_SIGNATURE, networkFee } from './networkFee.ts';
import type { ChainNode, Nodes } from './nodes.ts';
import { COMMITMENT } from './reader.ts';
import { type Observe, timed } from './stages.ts';
import { type Budget, encodeVersionOne, MOST_UNITS } from './versionOne.ts';

/**
 * A blockhash older than the first limit is replaced in the background; one older than the second, before its use. It
 * is valid for 150 blocks, 30 s of slots of 200 ms, and its age shortens the life of the bytes.
 */
const BLOCKHASH_FRESH_MS = 1_000;
const BLOCKHASH_STALE_MS = 3_000;
/** Offset of the first signature, after their count. */
const FIRST_SIGNATURE_AT = 1;
/** Blocks for which a blockhash is valid. */
const BLOCKHASH_BLOCKS = 150n;

export interface SignerOptions {
  nodes: Pick<Nodes, 'first' | 'witnesses'>;
  agreement: Pick<Agreement, 'together'>;
  /** Signs and pays for everything that the relay sends. */
  authority: Keypair;
  /** Pays the network fees of x402 clients' payments; null if there are no such payments. */
  feePayer: Keypair | null;
  /** Adds priority fees; without it only signatures are paid. */
  fees: Fees | undefined;
  log: Logger;
  observe?: Observe | undefined;
}

/** The last blockhash that was read, and the last block height at which bytes with it can land. */
interface RecentBlockhash {
  value: string;
  lastValidHeight: bigint;
}

export type RelaySigner = ReturnType<typeof createSigner>;

/** Signs with the authority's key. */
export function createSigner(options: SignerOptions) {
  const privateKey = toPrivateKey(options.authority);
  const authority = parseAddress(options.authority.publicKey.toBase58());
  const recentBlockhash = createBlockhashes(options);
  const feePayer = options.feePayer && { address: options.feePayer.publicKey, key: toPrivateKey(options.feePayer) };

  /** The authority's signature. */
  function signed(message: Uint8Array): { bytes: Buffer; signature: string } {
    const bytes = signBytes(null, message, privateKey);
    return { bytes, signature: bs58.encode(bytes) };
  }

  /** web3.js converts the legacy format through base58 text, which costs more than signing. Version 0 stays in bytes. */
  const compile = ({ value: recentBlockhash }: RecentBlockhash, instructions: readonly TransactionInstruction[]) =>
    new TransactionMessage({
      payerKey: authority,
      recentBlockhash,
      instructions: [...instructions],
    }).compileToV0Message();

  return {
    authority,
    /** Pays the network fees of x402 clients' payments; null if there are no such payments. */
    feePayer: feePayer?.address ?? null,
    /**
     * The last block height at which bytes with a client's blockhash can land, at most. Null if it is not valid now.
     * Throws if the node does not answer.
     */
    lastHeightOf: (blockhash: string) => readLastHeight(options, blockhash),
    /**
     * Adds the fee payer's signature, the first one, to a payment that its client has signed. Throws without a fee payer.
     */
    countersign(payment: Uint8Array, lastValidHeight: bigint): NewTransaction {
      if (!feePayer) throw new Error('this relay has no fee payer for payments of x402 clients');
      const { message } = VersionedTransaction.deserialize(payment);
      const signature = signBytes(null, message.serialize(), feePayer.key);
      const bytes = Buffer.from(payment);
      bytes.set(signature, FIRST_SIGNATURE_AT);
      return { bytes, signature: bs58.encode(signature), lastValidHeight, fee: networkFee(message) };
    },
    /** The current priority fees of a call's two transactions; zero if none are paid. */
    quote: (): PriorityQuote => options.fees?.quote() ?? { open: 0n, settle: 0n },
    /**
     * Builds and signs; sends nothing. `mostPriority` is the maximum priority fee, lamports. `attempt` counts earlier
     * transactions for the same purpose that are dead. `cosigner` also signs if the instructions name it. Throws if the
     * node returns no blockhash.
     */
    async sign(
      instructions: TransactionInstruction[],
      mostPriority: bigint,
      attempt = 0,
      cosigner: Keypair | null = null,
    ): Promise<NewTransaction> {
      const priority = (await options.fees?.instructionsFor(instructions, attempt, mostPriority)) ?? [];
      const recent = await recentBlockhash();
      const message = compile(recent, [...priority, ...instructions]);
      const toSign = message.serialize();
      const { bytes, signature } = signed(toSign);
      const isCosigned = cosigner !== null && message.header.numRequiredSignatures > 1;
      const signatures = isCosigned ? [bytes, signBytes(null, toSign, toPrivateKey(cosigner))] : [bytes];
      return {
        // The signatures, then the signed message: web3.js would serialize the whole message twice more.
        bytes: Buffer.concat([Buffer.of(signatures.length), ...signatures, toSign]),
        signature,
        lastValidHeight: recent.lastValidHeight,
        fee: networkFee(message),
      };
    },
    /** The same in a transaction of version 1, which holds the instructions of several calls. Only the authority signs. */
    async signMany(instructions: readonly TransactionInstruction[], budget: Budget): Promise<NewTransaction> {
      const recent = await recentBlockhash();
      const message = encodeVersionOne(compile(recent, instructions), budget);
      const { bytes, signature } = signed(message);
      return {
        bytes: Buffer.concat([message, bytes]),
        signature,
        lastValidHeight: recent.lastValidHeight,
        fee: LAMPORTS_PER_SIGNATURE + budget.priority,
      };
    },
    /** A budget for such a transaction of `count` instructions that use so many units; see `Fees`. */
    budgetOf: (units: number, count: number, mostPriority: bigint): Budget =>
      options.fees?.budgetOf(units, count, mostPriority) ?? { units: MOST_UNITS, priority: 0n },
  };
}

/** Node's own Ed25519 is an order of magnitude faster than one in JavaScript. */
function toPrivateKey(keypair: Keypair): KeyObject {
  const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const der = Buffer.concat([pkcs8Prefix, keypair.secretKey.subarray(0, 32)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** A recent blockhash, read ahead of its use if possible. */
function createBlockhashes({ nodes, agreement, log, observe }: SignerOptions): () => Promise<RecentBlockhash> {
  let latest: (RecentBlockhash & { at: number }) | null = null;
  let refreshing: Promise<void> | null = null;

  /** Bytes count as dead past this height, so the later height of two nodes counts. */
  async function read(): Promise<RecentBlockhash> {
    const ask = async ({ connection }: ChainNode): Promise<RecentBlockhash> => {
      const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash(COMMITMENT);
      return { value: blockhash, lastValidHeight: BigInt(lastValidBlockHeight) };
    };
    if (nodes.witnesses().length < 2) return nodes.first(ask);
    return agreement.together('the last valid height', ask, (one, other) => {
      const lastValidHeight = laterOf(one.lastValidHeight, other.lastValidHeight);
      return lastValidHeight === null ? null : { ...one, lastValidHeight };
    });
  }

  function refresh(): Promise<void> {
    refreshing ??= read()
      .then((recent) => {
        latest = { ...recent, at: performance.now() };
      })
      .finally(() => {
        refreshing = null;
      });
    return refreshing;
  }

  return async () => {
    const age = latest ? performance.now() - latest.at : Number.POSITIVE_INFINITY;
    if (age > BLOCKHASH_STALE_MS) await timed(observe, 'chain', refresh);
    else if (age > BLOCKHASH_FRESH_MS) refresh().catch((error) => log.warn({ error }, 'cannot refresh the blockhash'));
    return latest!;
  };
}

/** The later height of two nodes; null if they are too far apart. */
const laterOf = (one: bigint, other: bigint): bigint | null => (areNear(one, other) ? greatest(one, other) : null);

/** See `lastHeightOf`. A client takes its blockhash from the newest block, which is not final yet. */
async function readLastHeight(
  { nodes, agreement }: Pick<SignerOptions, 'nodes' | 'agreement'>,
  blockhash: string,
): Promise<bigint | null> {
  const commitment = 'processed';
  const ask = async ({ connection }: ChainNode): Promise<{ height: bigint | null }> => {
    const { value, context } = await connection.isBlockhashValid(blockhash, { commitment });
    if (!value) return { height: null };
    // Its age is unknown. Its block is at most as high as this one, which must not be earlier.
    const height = await connection.getBlockHeight({ commitment, minContextSlot: context.slot });
    return { height: BigInt(height) + BLOCKHASH_BLOCKS };
  };
  if (nodes.witnesses().length < 2) return (await nodes.first(ask)).height;
  const { height } = await agreement.together('the blockhash of a payment', ask, (one, other) => {
    if (one.height === null || other.height === null) return one.height === other.height ? one : null;
    const height = laterOf(one.height, other.height);
    return height === null ? null : { height };
  });
  return height;
}
