/**
 * Records a history of the real program: each transaction as a node reports it, and the program's accounts after it.
 */
import { PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { printed, relayed } from '../../harness/vm/caller.ts';
import { createAftermath } from '../aftermath.ts';
import { deployTestCaller, sendUnheard } from '../caller.ts';
import { NO_KEY, startMarket } from '../market.ts';

/** A transaction as a node reports it. `slot` is its index in the history, which defines the order. */
export interface Recorded {
  signature: string;
  hasFailed: boolean;
  logs: string[];
  /** The answer to `getTransaction`, without the slot. */
  transaction: Record<string, unknown>;
  /** The accounts that it names, as they are after it; null for an account that does not exist. */
  accounts: Map<string, unknown>;
}

/** Every action of the marketplace, with failed transactions, truncated logs, and log lines that look like events. */
export async function recordHistory(): Promise<Recorded[]> {
  const market = await startMarket();
  try {
    const { node, relay, caller, creator, admin } = market;
    await deployTestCaller(node);
    const history: Recorded[] = [];
    const seen = new Set<string>();
    const record = async () => {
      const listed = await node.connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed');
      for (const { signature, err } of listed.reverse()) {
        if (seen.has(signature)) continue;
        seen.add(signature);
        const options = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 255 };
        const answer = (await node.rpc('getTransaction', [signature, options])) as Record<string, unknown>;
        const { slot, ...transaction } = answer as { slot: number } & Record<string, unknown>;
        const { message } = transaction.transaction as { message: { accountKeys: string[] } };
        const { value } = (await node.rpc('getMultipleAccounts', [
          message.accountKeys,
          { commitment: 'confirmed', encoding: 'base64' },
        ])) as { value: unknown[] };
        const { logMessages } = transaction.meta as { logMessages: string[] };
        history.push({
          signature,
          hasFailed: err !== null,
          logs: logMessages,
          transaction,
          accounts: new Map(message.accountKeys.map((key, at) => [key, value[at]])),
        });
      }
    };
    const then = async <T>(done: Promise<T>): Promise<T> => {
      const value = await done;
      await record();
      return value;
    };
    await record();
    const aftermath = createAftermath(market);
    await then(market.list());
    await then(market.verify(true));
    const keyId = await then(market.grant());
    await then(market.fail());
    const lookalike = printed(Buffer.from(history[1]!.signature), `Program ${PROGRAM_ID} invoke [1]`);
    await then(market.send([relayed(lookalike, 2), market.statusInstruction('paused'), lookalike], creator));
    await then(market.send([market.statusInstruction('active')], creator));
    const { execution, instruction, signer } = await market.openInstruction(keyId);
    await then(sendUnheard(market, [instruction], signer));
    await then(market.settle({ ...execution, signature: '' }));
    for (let round = 0; round < 5; round += 1) {
      const first = await then(market.open(round % 2 === 0 ? keyId : NO_KEY));
      const second = await then(market.open(keyId));
      if (round === 1) await then(sendUnheard(market, [market.settleInstruction(first, 77)], relay));
      else await then(market.settle(first, 20 + round));
      if (round === 2) await then(sendUnheard(market, [market.refundInstruction(second, 'invalidAnswer')], relay));
      else await then(market.refund(second, 'creatorFailed'));
      if (round % 2 === 0) await then(market.send([aftermath.dispute(first)], caller));
      if (round === 2) await then(market.send([aftermath.resolve(first, admin.publicKey, false, 0n)], admin));
      if (round === 3) await then(market.fail());
    }
    const other = await then(market.grant());
    await then(market.revoke(other));
    await then(market.send([market.updateInstruction(300_000n)], creator));
    await then(market.open());
    return history;
  } finally {
    await market.node.stop();
  }
}
