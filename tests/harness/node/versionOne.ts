/** Signs transactions of version 1 by `@solana/kit`, because web3.js reads them and cannot write them. */
import {
  type AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createKeyPairFromBytes,
  createTransactionMessage,
  getSignatureFromTransaction,
  getTransactionEncoder,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLoadedAccountsDataSizeLimit,
  setTransactionMessagePriorityFeeLamports,
  signTransaction,
} from '@solana/kit';
import type { Connection, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { until } from '../edge/until.ts';

export interface VersionOne {
  bytes: Buffer;
  /** The message alone, base64. */
  message: string;
  signature: string;
}

export interface Config {
  /** Lamports beside the fees of the signatures. */
  priorityFee?: bigint;
  /** Units of compute; null names none, and the transaction fails. By default more than any test needs. */
  units?: number | null;
  /** Bytes of all accounts; null names none, and the transaction fails. By default more than any test needs. */
  loadedBytes?: number | null;
}

const addressOf = (key: PublicKey) => key.toBase58() as Address;
/** `AccountRole` is a number of two bits. */
const roleOf = (isSigner: boolean, isWritable: boolean): AccountRole => (isSigner ? 2 : 0) + (isWritable ? 1 : 0);

/** All `signers` sign. The first one pays. */
export async function signVersionOne(
  instructions: readonly TransactionInstruction[],
  signers: readonly [Keypair, ...Keypair[]],
  blockhash: string,
  { priorityFee = 0n, units = 1_400_000, loadedBytes = 10_000_000 }: Config = {},
): Promise<VersionOne> {
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n };
  const calls = instructions.map(({ programId, keys, data }) => ({
    programAddress: addressOf(programId),
    data: Uint8Array.from(data),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
      address: addressOf(pubkey),
      role: roleOf(isSigner, isWritable),
    })),
  }));
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (empty) => setTransactionMessageFeePayer(addressOf(signers[0].publicKey), empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => (units === null ? timed : setTransactionMessageComputeUnitLimit(units, timed)),
    (limited) =>
      loadedBytes === null ? limited : setTransactionMessageLoadedAccountsDataSizeLimit(loadedBytes, limited),
    (bounded) => (priorityFee > 0n ? setTransactionMessagePriorityFeeLamports(priorityFee, bounded) : bounded),
    (priced) => appendTransactionMessageInstructions(calls, priced),
  );
  const keys = await Promise.all(signers.map(({ secretKey }) => createKeyPairFromBytes(secretKey)));
  const signed = await signTransaction(keys, compileTransaction(message));
  return {
    bytes: Buffer.from(getTransactionEncoder().encode(signed)),
    message: Buffer.from(signed.messageBytes).toString('base64'),
    signature: getSignatureFromTransaction(signed),
  };
}

/** Sends a transaction of version 1 and waits until it has succeeded. Returns its signature. */
export async function sendVersionOne(
  connection: Connection,
  instructions: readonly TransactionInstruction[],
  ...signers: [Keypair, ...Keypair[]]
): Promise<string> {
  const { blockhash } = await connection.getLatestBlockhash('confirmed');
  const { bytes, signature } = await signVersionOne(instructions, signers, blockhash);
  await connection.sendRawTransaction(bytes, { skipPreflight: true });
  await until(`${signature} lands`, async () => {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(JSON.stringify(value.err));
    return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized';
  });
  return signature;
}
