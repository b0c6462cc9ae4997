/** Methods about the node and its chain as a whole: slots, blocks, time, identity. */
import { z } from 'zod';
import { inContext, readingOf } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import { BLOCKHASH_SLOTS, SLOTS_PER_EPOCH } from './slots.ts';
import { CODES, context, type Method, parse, RpcError } from './wire.ts';

/** The runtime in LiteSVM 1.5. `surfnet-version` says that there are cheat codes, as it does for a Surfpool. */
const VERSION = { 'solana-core': '4.3.0', 'feature-set': 0, 'surfnet-version': '1.2.0' };

const options = z.tuple([]).rest(context.nullish());

/** What `getEpochInfo` says of a slot. */
export function epochInfo(bank: Bank, slot: number) {
  return {
    absoluteSlot: slot,
    blockHeight: slot,
    epoch: Math.floor(slot / SLOTS_PER_EPOCH),
    slotIndex: slot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: bank.history.count,
  };
}

export function clusterMethods(bank: Bank): Record<string, Method> {
  const slotOf: Method = (params) => readingOf(bank, parse(options, params)[0]).slot;

  return {
    getSlot: slotOf,
    getBlockHeight: slotOf,
    getEpochInfo: (params) => epochInfo(bank, slotOf(params) as number),
    getLatestBlockhash(params) {
      const reading = readingOf(bank, parse(options, params)[0]);
      const { hash, slot } = bank.slots.blockAt(reading.slot);
      return inContext(reading, { blockhash: hash, lastValidBlockHeight: slot + BLOCKHASH_SLOTS });
    },
    isBlockhashValid(params) {
      const [hash, config] = parse(z.tuple([z.string()]).rest(context.nullish()), params);
      const reading = readingOf(bank, config);
      return inContext(reading, bank.slots.isValid(hash, reading.slot));
    },
    getBlockTime(params) {
      const [slot] = parse(z.tuple([z.number().int().nonnegative()]).rest(z.unknown()), params);
      const time = slot > bank.slots.current ? undefined : (bank.history.time(slot) ?? bank.slots.time(slot));
      if (time === undefined) {
        throw new RpcError(CODES.blockNotAvailable, `Block not available for slot ${slot}`);
      }
      if (time === null) throw new RpcError(CODES.blockCleanedUp, `Block ${slot} cleaned up, does not exist on node.`);
      return time;
    },
    getGenesisHash: () => bank.genesisHash,
    getHealth: () => 'ok',
    getVersion: () => VERSION,
    getRecentPrioritizationFees: () => [],
  };
}
