/**
 * A chain of known latency inside the relay's process, for what the relay itself can do when the node costs it nothing:
 * it signs as always, and what it sends has landed `latencyMs` later. It learns from the first call, which goes to the real
 * program: its accounts are those of all later calls, but for the id, so that every later call must ask for the same.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { AccountInfo } from '@solana/web3.js';
import type { RelayChain } from '../../app/relay/chain/relayChain.ts';
import idl from '../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { RECORD_OFFSETS, RECORD_STATUS_BYTE } from '../../app/sdk/program/program.ts';

type Account = AccountInfo<Buffer> | null;

/** Where the id stands in the data of an open: after discriminator and nonce. */
const ID_AT = 8 + 16;
const ID_BYTES = 16;

function shapeOf(name: string): { discriminator: Buffer; recordAt: number } {
  const { discriminator, accounts } = idl.instructions.find((instruction) => instruction.name === name)!;
  return {
    discriminator: Buffer.from(discriminator),
    recordAt: accounts.findIndex((account) => account.name === 'record'),
  };
}
const OPEN = shapeOf('open_execution_with_grant');
const SETTLE = shapeOf('settle_execution');

export function inProcess(chain: RelayChain, latencyMs: number): RelayChain {
  /** What a transaction does, by its signature. */
  const effects = new Map<string, () => void>();
  /** Records of later calls by address, and all other accounts as they were read once. */
  const records = new Map<string, Account>();
  const others = new Map<string, Account>();
  const learnt: { open?: Account; settled?: Account; now?: bigint; slot?: number } = {};
  let firstRecord: string | undefined;

  function record(template: Account, id: Uint8Array): Account {
    const data = Buffer.from(template!.data);
    data.set(id, RECORD_OFFSETS.executionId);
    return { ...template!, data };
  }

  return {
    ...chain,
    async sign(instructions, attempt) {
      const signed = await chain.sign(instructions, attempt);
      const { data, keys } = instructions.at(-1)!;
      const is = ({ discriminator }: typeof OPEN) => discriminator.equals(data.subarray(0, 8));
      if (is(OPEN)) {
        const address = keys[OPEN.recordAt]!.pubkey.toBase58();
        firstRecord ??= address;
        const id = data.subarray(ID_AT, ID_AT + ID_BYTES);
        effects.set(signed.signature, () => records.set(address, record(learnt.open!, id)));
      } else if (is(SETTLE)) {
        const address = keys[SETTLE.recordAt]!.pubkey.toBase58();
        effects.set(signed.signature, () => {
          const before = records.get(address)!.data;
          const id = before.subarray(RECORD_OFFSETS.executionId, RECORD_OFFSETS.executionId + ID_BYTES);
          records.set(address, record(learnt.settled!, id));
        });
      } else throw new Error('the bench opens and settles, and nothing else');
      return signed;
    },
    async submit(signed, hasHappened, stop) {
      if (!learnt.settled) return chain.submit(signed, hasHappened, stop);
      await (latencyMs > 0 ? sleep(latencyMs) : setImmediate());
      effects.get(signed.signature)!();
      effects.delete(signed.signature);
      return { kind: 'confirmed' };
    },
    async simulate(bytes) {
      return learnt.settled ? null : chain.simulate(bytes);
    },
    async read(keys) {
      const addresses = keys.map((key) => key.toBase58());
      const isKnown = (address: string) => records.has(address) || others.has(address);
      if (learnt.settled && addresses.every(isKnown)) {
        return {
          accounts: addresses.map((address) => records.get(address) ?? others.get(address) ?? null),
          now: learnt.now!,
          slot: learnt.slot!,
        };
      }
      const read = await chain.read(keys);
      for (const [index, address] of addresses.entries()) {
        const account = read.accounts[index]!;
        if (address !== firstRecord) others.set(address, account);
        else if (account?.data[RECORD_OFFSETS.status] === RECORD_STATUS_BYTE.open) learnt.open = account;
        else if (account) learnt.settled = account;
      }
      learnt.now ??= read.now;
      learnt.slot ??= read.slot;
      return read;
    },
    /** Nothing is final here yet: the clock stands still. */
    async readFinalized(keys, slot) {
      return learnt.settled
        ? { accounts: keys.map(() => null), now: learnt.now!, slot: learnt.slot! }
        : chain.readFinalized(keys, slot);
    },
  };
}
