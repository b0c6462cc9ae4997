/** Methods about stored blocks: every slot has one, except slots skipped by a time travel. */
import { z } from 'zod';
import type { Bank } from './bank.ts';
import { CODES, type Method, parse, RpcError, slotNumber } from './wire.ts';

export function blockMethods({ slots, history }: Bank): Record<string, Method> {
  /** Throws if the slot has no block. */
  function requireBlock(slot: number): void {
    if (slot > slots.current) throw new RpcError(CODES.blockNotAvailable, `Block not available for slot ${slot}`);
    if (slots.hasBlock(slot)) return;
    if (slot < slots.oldest) {
      const first = `First available block: ${slots.oldest}`;
      throw new RpcError(CODES.blockCleanedUp, `Block ${slot} cleaned up, does not exist on node. ${first}`);
    }
    const missing = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`;
    throw new RpcError(CODES.slotSkipped, missing);
  }

  return {
    getBlockTime(params) {
      const [slot] = parse(z.tuple([slotNumber]).rest(z.unknown()), params);
      const time = history.time(slot);
      if (time !== null) return time;
      requireBlock(slot);
      return slots.time(slot);
    },
    getFirstAvailableBlock: () => slots.oldest,
  };
}
