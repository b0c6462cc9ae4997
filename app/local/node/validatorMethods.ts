/** What an explorer's overview asks for: a validator's answers from a node without stake or rewards. */
import { Keypair, SystemProgram } from '@solana/web3.js';
import { z } from 'zod';
import { inContext, readingOf } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import { SLOTS_PER_EPOCH } from './slots.ts';
import { context, invalidParams, type Method, parse, slotNumber } from './wire.ts';

const MAX_LEADERS = 5_000;
const MAX_SAMPLES = 720;

const contextParams = z.tuple([]).rest(context.nullish());

export function validatorMethods(bank: Bank): Record<string, Method> {
  const identity = Keypair.generate().publicKey.toBase58();
  const { slots } = bank;
  const reading = (params: unknown[]) => readingOf(bank, parse(contextParams, params)[0]);

  return {
    getSlotLeaders(params) {
      const [, limit] = parse(z.tuple([slotNumber, slotNumber]), params);
      if (limit > MAX_LEADERS) throw invalidParams(`Invalid limit; max ${MAX_LEADERS}`);
      return Array(limit).fill(identity);
    },
    getVoteAccounts: () => ({ current: [], delinquent: [] }),
    getSupply(params) {
      const at = reading(params.slice(0, 1));
      const wallets = [...bank.programAccounts(SystemProgram.programId, at.commitment).values()];
      const total = wallets.reduce((sum, account) => sum + Number(account.lamports()), 0);
      return inContext(at, { total, circulating: total, nonCirculating: 0, nonCirculatingAccounts: [] });
    },
    getRecentPerformanceSamples(params) {
      const [limit = MAX_SAMPLES] = parse(z.tuple([]).rest(slotNumber.nullish()), params);
      if ((limit ?? 0) > MAX_SAMPLES) throw invalidParams(`Invalid limit; max ${MAX_SAMPLES}`);
      const numTransactions = bank.history.count;
      // One sample, covering everything that the node stores.
      const { current: slot, oldest } = slots;
      const samplePeriodSecs = Math.max(1, slots.clock(slot) - slots.clock(oldest));
      const sample = { slot, numSlots: slots.height(slot) - slots.height(oldest) + 1, samplePeriodSecs };
      return [{ ...sample, numTransactions, numNonVoteTransactions: numTransactions }].slice(0, limit ?? 1);
    },
    getTransactionCount: (params) => {
      reading(params);
      return bank.history.count;
    },
    getEpochSchedule: () => ({
      slotsPerEpoch: SLOTS_PER_EPOCH,
      leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
      warmup: false,
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
    }),
    getRecentPrioritizationFees() {
      const oldest = Math.max(slots.oldest, slots.current - RECENT_SLOTS + 1);
      const recent = Array.from({ length: slots.current - oldest + 1 }, (_, index) => oldest + index);
      return recent.filter((slot) => slots.hasBlock(slot)).map((slot) => ({ slot, prioritizationFee: 0 }));
    },
  };
}

/** Slots for which a validator remembers sufficient fees. */
const RECENT_SLOTS = 150;
