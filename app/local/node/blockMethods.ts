/** Methods that read blocks: every slot has one, except slots skipped by a time travel. */
import { z } from 'zod';
import { settled } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import type { Landed } from './history.ts';
import { showAccounts, showTransaction } from './transactionJson.ts';
import {
  CODES,
  context,
  invalidParams,
  type Method,
  maxVersion,
  parse,
  RpcError,
  requireEncoding,
  slotNumber,
  transactionEncoding,
} from './wire.ts';

/** Slots per call, as for a validator. */
const MAX_RANGE = 500_000;

const blockOptions = z.object({
  encoding: transactionEncoding.nullish(),
  transactionDetails: z.enum(['full', 'signatures', 'none', 'accounts']).nullish(),
  rewards: z.boolean().nullish(),
  commitment: context.shape.commitment,
  maxSupportedTransactionVersion: maxVersion,
});
/** Options, or the encoding alone. */
const blockConfig = z
  .union([transactionEncoding.transform((encoding) => blockOptions.parse({ encoding })), blockOptions])
  .nullish();

type BlockOptions = z.output<typeof blockOptions>;

export function blockMethods(bank: Bank): Record<string, Method> {
  const { slots, history } = bank;

  /** Throws if the slot has no block. */
  function requireBlock(slot: number, newest: number): void {
    if (slot > newest) throw new RpcError(CODES.blockNotAvailable, `Block not available for slot ${slot}`);
    if (slots.hasBlock(slot)) return;
    if (slot < slots.oldest) {
      const first = `First available block: ${slots.oldest}`;
      throw new RpcError(CODES.blockCleanedUp, `Block ${slot} cleaned up, does not exist on node. ${first}`);
    }
    const missing = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`;
    throw new RpcError(CODES.slotSkipped, missing);
  }

  function* blocksFrom(first: number, last: number): Generator<number> {
    for (let slot = Math.max(first, slots.oldest); slot <= last; slot += 1) if (slots.hasBlock(slot)) yield slot;
  }

  function transactionsOf(ran: Landed[], options: BlockOptions) {
    const details = options.transactionDetails ?? 'full';
    if (details === 'none') return {};
    if (details === 'signatures') return { signatures: ran.map(({ signature }) => signature) };
    const encoding = options.encoding ?? 'json';
    const maxVersion = options.maxSupportedTransactionVersion ?? undefined;
    const hasRewards = options.rewards !== false;
    const show = (landed: Landed) =>
      details === 'accounts'
        ? showAccounts(landed, maxVersion)
        : showTransaction(landed, { encoding, maxVersion, hasRewards });
    return { transactions: ran.map(show) };
  }

  return {
    getBlock(params) {
      const [slot, given] = parse(z.tuple([slotNumber]).rest(blockConfig), params);
      const options = given ?? blockOptions.parse({});
      requireEncoding(options);
      requireBlock(slot, slots.at(settled(options.commitment)));
      const { hash, height } = slots.blockAt(slot);
      const parent = slots.blockAt(slot - 1);
      return {
        blockHeight: height,
        blockTime: history.time(slot) ?? slots.time(slot),
        blockhash: hash,
        parentSlot: parent.slot,
        previousBlockhash: parent.hash,
        ...(options.rewards !== false && { rewards: [] }),
        ...transactionsOf(history.inSlot(slot), options),
      };
    },
    getBlockTime(params) {
      const [slot] = parse(z.tuple([slotNumber]).rest(z.unknown()), params);
      const time = history.time(slot);
      if (time !== null) return time;
      requireBlock(slot, slots.current);
      return slots.time(slot);
    },
    getBlocks(params) {
      const [first, second, third] = parse(z.tuple([slotNumber]).rest(z.unknown()), params);
      const [end, options] = typeof second === 'object' && second !== null ? [undefined, second] : [second, third];
      const [last] = parse(z.tuple([slotNumber.nullish()]), [end]);
      const [config] = parse(z.tuple([context.nullish()]), [options]);
      const newest = slots.at(settled(config?.commitment));
      const until = Math.min(last ?? first + MAX_RANGE, newest);
      if (until - first > MAX_RANGE) throw invalidParams(`Slot range too large; max ${MAX_RANGE}`);
      return [...blocksFrom(first, until)];
    },
    getFirstAvailableBlock: () => slots.oldest,
  };
}
