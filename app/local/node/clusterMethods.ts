/** Methods about the node and its chain: slots, blocks, time, identity. */
import { z } from 'zod';
import { inContext, readingOf } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import { BLOCKHASH_SLOTS, SLOTS_PER_EPOCH } from './slots.ts';
import { blockhash, context, invalidParams, type Method, parse } from './wire.ts';

/** The runtime in LiteSVM 1.5. `surfnet-version` shows that there are cheat codes, as with Surfpool. */
const VERSION = { 'solana-core': '4.3.0', 'feature-set': 0, 'surfnet-version': '1.2.0' };

/** The certificate of a chain that began with Alpenglow: nobody had to sign it. */
const CERTIFICATE = {
  block: { blockId: Array(32).fill(0), slot: 0 },
  signature: { bitmap: [0, 0, 0], signature: Array(192).fill(0) },
};

/** Slots for which a validator remembers sufficient fees. */
const RECENT_SLOTS = 150;

const options = z.tuple([]).rest(context.nullish());

/** The answer of `getEpochInfo` for a slot. */
export function epochInfo(bank: Bank, slot: number) {
  return {
    absoluteSlot: slot,
    blockHeight: bank.slots.height(slot),
    epoch: Math.floor(slot / SLOTS_PER_EPOCH),
    slotIndex: slot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: bank.history.count,
  };
}

export function clusterMethods(bank: Bank): Record<string, Method> {
  const { slots } = bank;
  const slotOf: Method = (params) => readingOf(bank, parse(options, params)[0]).slot;

  return {
    getSlot: slotOf,
    getBlockHeight: (params) => slots.height(slotOf(params) as number),
    getEpochInfo: (params) => epochInfo(bank, slotOf(params) as number),
    // Solana Explorer asks for it before it shows any page.
    getEpochSchedule: () => ({
      slotsPerEpoch: SLOTS_PER_EPOCH,
      leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
      warmup: false,
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
    }),
    getLatestBlockhash(params) {
      const reading = readingOf(bank, parse(options, params)[0]);
      const { hash, height } = slots.blockAt(reading.slot);
      return inContext(reading, { blockhash: hash, lastValidBlockHeight: height + BLOCKHASH_SLOTS });
    },
    isBlockhashValid(params) {
      const [hash, config] = parse(z.tuple([blockhash]).rest(context.nullish()), params);
      const reading = readingOf(bank, config);
      return inContext(reading, slots.isValid(hash, reading.slot));
    },
    getRecentPrioritizationFees() {
      const oldest = Math.max(slots.oldest, slots.current - RECENT_SLOTS + 1);
      const recent = Array.from({ length: slots.current - oldest + 1 }, (_, index) => oldest + index);
      return recent.filter((slot) => slots.hasBlock(slot)).map((slot) => ({ slot, prioritizationFee: 0 }));
    },
    getGenesisHash: () => bank.genesisHash,
    getAgGenesisCert(params) {
      if (params.length > 0) throw invalidParams('Invalid parameters: No parameters were expected');
      return bank.isAlpenglow ? CERTIFICATE : null;
    },
    getHealth: () => 'ok',
    getVersion: () => VERSION,
  };
}
