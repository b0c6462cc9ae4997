/** Lets an attacker be faster than the relay: its transaction lands just before the one that the relay sends. */
import { VersionedTransaction } from '@solana/web3.js';
import { idl } from '../../app/sdk/program/program.ts';
import type { CallRule } from '../../tests/harness/node/rpcProxy.ts';

/** What the relay sends: the payment of an x402 client, or an instruction of the program. */
export type Sent = 'payment' | 'prepare_deposit' | 'open_execution_with_grant' | 'refund_execution';

const NAMES = new Map(idl.instructions.map(({ name, discriminator }) => [discriminator.join(), name]));

function read(base64: string): { name: string; accounts: string[] } {
  const { message } = VersionedTransaction.deserialize(Buffer.from(base64, 'base64'));
  const { data } = message.compiledInstructions.at(-1)!;
  const name = NAMES.get([...data.subarray(0, 8)].join()) ?? 'payment';
  return { name, accounts: message.staticAccountKeys.map((key) => key.toBase58()) };
}

export function createRaces() {
  const races = new Map<string, () => Promise<unknown>>();
  /** By the bytes that the relay sends, which it sends again while it waits. */
  const running = new Map<unknown, Promise<unknown>>();

  function start(base64: string): Promise<unknown> {
    const { name, accounts } = read(base64);
    const key = accounts.map((account) => `${name} ${account}`).find((one) => races.has(one));
    if (key === undefined) return Promise.resolve();
    const run = races.get(key)!;
    races.delete(key);
    return run();
  }

  /** Of a proxy in front of the node. */
  const rule: CallRule = async ({ method, params: [bytes] }) => {
    if (method !== 'sendTransaction') return null;
    const race = running.get(bytes) ?? start(bytes as string);
    running.set(bytes, race);
    await race;
    return null;
  };

  return {
    rule,
    /** Runs `first` once, before the relay's next transaction of this kind that names the account reaches the node. */
    before(sent: Sent, account: { toBase58(): string }, first: () => Promise<unknown>): void {
      races.set(`${sent} ${account.toBase58()}`, first);
    },
  };
}
