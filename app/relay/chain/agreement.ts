/**
 * Reads that decide about money, confirmed by two nodes. If the two disagree, the relay believes neither: it waits,
 * reports it, and asks again. A single node is believed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { least } from '../../sdk/wire/amounts.ts';
import { type ChainNode, DEAD_MS, type Nodes } from './nodes.ts';
import { type AccountsAt, type Finalized, MAX_LAG_SLOTS } from './reader.ts';

/** Honest nodes are a block or two apart, so both are asked up to this often. Each pause is longer by `PAUSE_MS`. */
const ROUNDS = 5;
const PAUSE_MS = 100;
/** Maximum difference of two nodes' clocks, seconds, within `MAX_LAG_SLOTS`. */
const MAX_CLOCK_GAP = 30n;

export type Agreement = ReturnType<typeof createAgreement>;

export function createAgreement(options: {
  nodes: Nodes;
  log: Logger;
  /** Called when two nodes disagree. */
  onDisagreement: (subject: string) => void;
  closing: AbortSignal;
}) {
  const { nodes, log, closing } = options;

  /** Asks two nodes with `ask` and merges their answers. `merge` returns null if they disagree. */
  async function together<Answer>(
    subject: string,
    ask: (node: ChainNode) => Promise<Answer>,
    merge: (one: Answer, other: Answer) => Answer | null,
  ): Promise<Answer> {
    // A node that fails may be dead, which is known after DEAD_MS, or it may disagree.
    const patientUntil = performance.now() + 2 * DEAD_MS;
    for (let round = 1; ; round += 1) {
      const [one, other] = nodes.witnesses();
      if (!other) return nodes.first(ask);
      const [mine, its] = await Promise.allSettled([nodes.ask(one!, ask), nodes.ask(other, ask)]);
      if (mine.status === 'fulfilled' && its.status === 'fulfilled') {
        const merged = merge(mine.value, its.value);
        if (merged !== null) return merged;
        if (round >= ROUNDS) {
          const names = [one!.name, other.name];
          log.error({ subject, nodes: names }, 'two nodes disagree; waiting until they agree');
          options.onDisagreement(subject);
          throw new Error(`${one!.name} and ${other.name} disagree on ${subject}`);
        }
      } else if (performance.now() >= patientUntil || (mine.status === 'rejected' && its.status === 'rejected')) {
        throw mine.status === 'rejected' ? mine.reason : (its as PromiseRejectedResult).reason;
      }
      await sleep(PAUSE_MS * Math.min(round, ROUNDS), undefined, { signal: closing });
    }
  }

  /** Like `Reader.read`, if both nodes show the same. `now` is the earlier of their clocks. */
  const read = (keys: PublicKey[], minSlot?: number): Promise<AccountsAt> =>
    together('accounts', (node) => node.reader.read(keys, minSlot), mergeAccounts);
  /** The latest block that is final for both nodes. */
  const finalized = (): Promise<Finalized> =>
    together('the finalized height', (node) => node.reader.finalized(), mergeFinalized);

  return {
    read,
    finalized,
    /**
     * Accounts, from both nodes, once bytes with this last valid height can no longer land. Bytes without an effect by
     * then never have one. Null before that moment.
     */
    async readPast(keys: PublicKey[], lastValidHeight: bigint): Promise<AccountsAt | null> {
      const { slot, blockHeight } = await finalized();
      return blockHeight > lastValidHeight ? read(keys, slot) : null;
    },
    together,
  };
}

function mergeAccounts(one: AccountsAt, other: AccountsAt): AccountsAt | null {
  const isSame = one.accounts.every((account, index) => {
    const twin = other.accounts[index] ?? null;
    if (!account || !twin) return account === twin;
    // Lamports are not compared, because anybody may add some to an account at any time.
    return account.owner.equals(twin.owner) && account.data.equals(twin.data);
  });
  return isSame && areNear(one.now, other.now, MAX_CLOCK_GAP) ? { ...one, now: least(one.now, other.now) } : null;
}

function mergeFinalized(one: Finalized, other: Finalized): Finalized | null {
  if (!areNear(one.blockHeight, other.blockHeight)) return null;
  return one.blockHeight < other.blockHeight ? one : other;
}

/** True if two readings differ by at most `most`; by default, blocks. */
export const areNear = (one: bigint, other: bigint, most = BigInt(MAX_LAG_SLOTS)): boolean =>
  one - other <= most && other - one <= most;
