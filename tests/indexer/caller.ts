/** Sends transactions through tests/program/caller, which fills the log until the events are cut from it. */
import { join } from 'node:path';
import { ComputeBudgetProgram, type Signer, type TransactionInstruction } from '@solana/web3.js';
import { deployProgram } from '../../app/local/network.ts';
import { readEvents } from '../../app/sdk/program/events.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { receiveTransaction } from '../../app/sdk/program/transaction.ts';
import type { TestNode } from '../harness/node/node.ts';
import { printed, relayed } from '../harness/vm/caller.ts';
import { TEST_CALLER_ID } from '../harness/vm/outcome.ts';
import type { Market } from './market.ts';

const TEST_CALLER = join(import.meta.dirname, '../program/caller/artifact/test_caller.so');

/** Deploys the test caller on a node. */
export function deployTestCaller({ rpcUrl, payer }: TestNode): Promise<void> {
  return deployProgram(rpcUrl, { programId: TEST_CALLER_ID, upgradeAuthority: payer.publicKey, soPath: TEST_CALLER });
}

/** The log of a final transaction. */
export async function logsOf({ node }: Market, signature: string): Promise<string[]> {
  return (await receiveTransaction(node.connection, signature))?.logs ?? [];
}

/** Sends instructions behind so much log output that their events are cut. Throws if they are not cut. */
export async function sendUnheard(market: Market, instructions: TransactionInstruction[], ...signers: Signer[]) {
  const signature = await market.send([...flood(), ...instructions], ...signers);
  const logs = await logsOf(market, signature);
  const { events, complete } = readEvents(logs, PROGRAM_ID);
  if (complete || events.length > 0 || !logs.includes('Log truncated')) throw new Error(`${signature} was heard`);
  return signature;
}

/** Instructions that write more than the 10,000 log bytes that nodes keep. */
function flood(): TransactionInstruction[] {
  const chatter = printed(Buffer.alloc(120, 0xab), 'x'.repeat(120));
  return [ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }), relayed(chatter, 30)];
}
