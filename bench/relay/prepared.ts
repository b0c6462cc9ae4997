/** Opens and settles signed beforehand, so that a bare proxy can send what the relay would without knowing how. */
import { Transaction, type TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { findGrant, openExecutionWithGrant } from '../../app/sdk/program/program.ts';
import { keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { createNonce, deriveExecutionId } from '../../app/sdk/receipt/receipt.ts';
import type { World } from '../../tests/harness/vm/world.ts';

export interface PreparedTransaction {
  base64: string;
  signature: string;
}

/** One paid call: its transactions, and the accounts that are read before and between them. */
export interface PreparedCall {
  open: PreparedTransaction;
  settle: PreparedTransaction;
  payerAccounts: string[];
  recordAccounts: string[];
}

export function prepareCalls(
  w: World,
  options: { count: number; price: bigint; apiKey: string; recentBlockhash: string },
): PreparedCall[] {
  const { count, price, apiKey, recentBlockhash } = options;
  const sign = (instructions: TransactionInstruction[]): PreparedTransaction => {
    const transaction = new Transaction({ feePayer: w.relay.publicKey, recentBlockhash }).add(...instructions);
    transaction.sign(w.relay);
    return { base64: transaction.serialize().toString('base64'), signature: bs58.encode(transaction.signature!) };
  };
  const keyId = keyIdOf(apiKey);
  const payerAccounts = [w.wallet(w.caller), findGrant(w.caller.publicKey, keyId)].map((key) => key.toBase58());
  return Array.from({ length: count }, () => {
    const nonce = createNonce(w.day());
    const executionId = deriveExecutionId(w.caller.publicKey.toBytes(), nonce);
    const open = openExecutionWithGrant(w.openGrantInput({ nonce, executionId, keyId, maxPrice: price }));
    const execution = w.execution(nonce, w.caller.publicKey, keyId, w.relay.publicKey);
    return {
      open: sign([open]),
      settle: sign([w.settleInstruction(execution)]),
      payerAccounts,
      recordAccounts: [execution.record.toBase58(), w.listing.toBase58()],
    };
  });
}
