/** x402's unmodified client with a wallet of a test. It pays what a 402 answer quotes. */
import { randomBytes } from 'node:crypto';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  type Connection,
  type Keypair,
  type MessageV0,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { findTokenAccount } from '../../../app/sdk/program/program.ts';

/** A paying fetch. `send` transports its requests. */
export async function createX402Fetch(
  wallet: Keypair,
  rpcUrl: string,
  send: typeof fetch = fetch,
): Promise<typeof fetch> {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  // The client knows only the USDC of mainnet and devnet; this mint is our own.
  client.setSpendControls(false);
  return wrapFetchWithPayment(send, client) as typeof fetch;
}

/** Decodes the JSON in a header of x402. */
// biome-ignore lint/suspicious/noExplicitAny: asserted field by field
export function decodeHeader(response: { headers: Headers }, name: string): any {
  const header = response.headers.get(name);
  return header === null ? null : JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
}

/** A quote as x402's client parses it. */
// biome-ignore lint/suspicious/noExplicitAny: asserted field by field
export type Accepted = any;

/** Changes to a payment. By default each field is as in the unmodified client. */
export interface PaymentChange {
  instructions?(usual: TransactionInstruction[]): TransactionInstruction[];
  feePayer?: PublicKey;
  amount?: bigint;
  decimals?: number;
  destination?: PublicKey;
  source?: PublicKey;
  mint?: PublicKey;
  unitPrice?: bigint;
  blockhash?: string;
  version?: 'legacy' | 0;
  lookupTables?: AddressLookupTableAccount[];
  /** Changes the message before it is signed. */
  message?(message: MessageV0): void;
  /** Changes the bytes after signing. */
  bytes?(bytes: Buffer): Buffer;
  signer?: Keypair;
}

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/**
 * Builds the payment of a quote in the same layout as x402's client, signed by the payer. It takes a blockhash from the
 * node.
 */
export async function makePayment(
  { connection }: { connection: Connection },
  accepted: Accepted,
  wallet: Keypair,
  change: PaymentChange = {},
): Promise<string> {
  const mint = change.mint ?? new PublicKey(accepted.asset);
  const source = change.source ?? findTokenAccount(wallet.publicKey, mint);
  const destination = change.destination ?? findTokenAccount(new PublicKey(accepted.payTo), mint);
  const amount = change.amount ?? BigInt(accepted.amount);
  const usual = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: change.unitPrice ?? 1n }),
    createTransferCheckedInstruction(source, mint, destination, wallet.publicKey, amount, change.decimals ?? 6),
    new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(randomBytes(16).toString('hex')) }),
  ];
  const message = new TransactionMessage({
    payerKey: change.feePayer ?? new PublicKey(accepted.extra.feePayer),
    recentBlockhash: change.blockhash ?? (await connection.getLatestBlockhash()).blockhash,
    instructions: change.instructions ? change.instructions(usual) : usual,
  });
  const compiled =
    change.version === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message(change.lookupTables);
  if (compiled.version === 0) change.message?.(compiled);
  const transaction = new VersionedTransaction(compiled);
  const signer = change.signer ?? wallet;
  if (compiled.staticAccountKeys.some((key) => key.equals(signer.publicKey))) transaction.sign([signer]);
  const bytes = Buffer.from(transaction.serialize());
  return (change.bytes?.(bytes) ?? bytes).toString('base64');
}

/** The PAYMENT-SIGNATURE header of a payment in base64. */
export function paymentHeader(accepted: Accepted, transaction: string, extensions?: object): string {
  const payload = { x402Version: 2, accepted, payload: { transaction }, ...(extensions && { extensions }) };
  return Buffer.from(JSON.stringify(payload)).toString('base64');
}
