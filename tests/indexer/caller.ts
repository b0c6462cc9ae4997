/** Instructions of tests/program/caller, with which a test floods or forges a transaction's log. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ComputeBudgetProgram, type PublicKey, type Signer, TransactionInstruction } from '@solana/web3.js';
import { deployProgram } from '../../app/local/network.ts';
import { readEvents } from '../../app/sdk/program/events.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import type { TestNode } from '../harness/node/node.ts';
import { TEST_CALLER_ID } from '../harness/vm/outcome.ts';
import type { Market } from './market.ts';

const TEST_CALLER = join(import.meta.dirname, '../program/caller/artifact/test_caller.so');

/** Puts the test caller on a node. */
export function deployTestCaller({ rpcUrl, payer }: TestNode): Promise<void> {
  return deployProgram(rpcUrl, { programId: TEST_CALLER_ID, upgradeAuthority: payer.publicKey, soPath: TEST_CALLER });
}

/** Prints `data` as a `Program data:` line, as an event would be, and `line` as a `Program log:` line. */
export function print(data: Uint8Array, line: string): TransactionInstruction {
  return instruction([], [discriminator('print'), vector(data), vector(Buffer.from(line))]);
}

/** Has the test caller call itself, so that the given instruction runs below it, several times in a row. */
export function repeat(inner: TransactionInstruction, times: number): TransactionInstruction {
  const data = [discriminator('relay'), vector(Buffer.alloc(0)), vector(inner.data), Buffer.from([times])];
  return instruction([inner.programId, ...inner.keys.map(({ pubkey }) => pubkey)], data);
}

/** The log of a confirmed transaction. */
export async function logsOf({ node }: Market, signature: string): Promise<string[]> {
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
  const transaction = await node.connection.getTransaction(signature, options);
  return transaction?.meta?.logMessages ?? [];
}

/** Sends instructions behind so much noise that their events are cut from the log; throws where they are not. */
export async function sendUnheard(market: Market, instructions: TransactionInstruction[], ...signers: Signer[]) {
  const signature = await market.send([...flood(), ...instructions], ...signers);
  const logs = await logsOf(market, signature);
  const { events, complete } = readEvents(logs, PROGRAM_ID);
  if (complete || events.length > 0 || !logs.includes('Log truncated')) throw new Error(`${signature} was heard`);
  return signature;
}

/** Instructions that fill a log beyond the 10,000 bytes that nodes keep. */
function flood(): TransactionInstruction[] {
  const chatter = print(Buffer.alloc(120, 0xab), 'x'.repeat(120));
  return [ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }), repeat(chatter, 30)];
}

function instruction(accounts: PublicKey[], data: Uint8Array[]): TransactionInstruction {
  const keys = accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false }));
  return new TransactionInstruction({ programId: TEST_CALLER_ID, keys, data: Buffer.concat(data) });
}

function discriminator(name: string): Uint8Array {
  return createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
}

/** Borsh: length as u32, then the bytes. */
function vector(bytes: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}
