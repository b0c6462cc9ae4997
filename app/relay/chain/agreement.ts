/**
 * What decides about money, as two nodes say it. One node's word would do for each that is honest; of two that are not the
 * same the relay believes neither: it waits, says so, and asks again. With a single node its word is all there is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { type ChainNode, DEAD_MS, type Nodes } from './nodes.ts';
import { type AccountsAt, type Finalized, MAX_LAG_SLOTS } from './reader.ts';

/** Honest nodes are a block or two apart: they are asked again so often, after this pause and then twice, thrice it. */
const ROUNDS = 5;
const PAUSE_MS = 100;
/** How far their clocks may be apart, seconds: as far as `MAX_LAG_SLOTS` lets them be. */
const MAX_CLOCK_GAP = 30n;
const MAX_GAP = BigInt(MAX_LAG_SLOTS);

export interface Agreement {
  /** As `Reader.read`, where both show the same; `now` is the earlier of their clocks. */
  read(keys: PublicKey[]): Promise<AccountsAt>;
  /** As `Reader.readFinalized`. */
  readFinalized(keys: PublicKey[], minSlot: number): Promise<AccountsAt>;
  /**
   * Accounts as finalized at or after the moment when bytes of this last valid height could no longer land, by the word
   * of both on both: what they do not show now, those bytes will never do. Null while there is no such moment.
   */
  readPast(keys: PublicKey[], lastValidHeight: bigint): Promise<AccountsAt | null>;
  /** What neither will take back, as of now. */
  finalized(): Promise<Finalized>;
  /** What two nodes say to `ask`, made one by `merge`, which returns null where they do not agree. */
  together<Answer>(
    subject: string,
    ask: (node: ChainNode) => Promise<Answer>,
    merge: (one: Answer, other: Answer) => Answer | null,
  ): Promise<Answer>;
}

export function createAgreement(options: {
  nodes: Nodes;
  log: Logger;
  /** Is told that two nodes do not agree. */
  onDisagreement: (subject: string) => void;
  closing: AbortSignal;
}): Agreement {
  const { nodes, log, closing } = options;

  async function together<Answer>(
    subject: string,
    ask: (node: ChainNode) => Promise<Answer>,
    merge: (one: Answer, other: Answer) => Answer | null,
  ): Promise<Answer> {
    // A node that fails may be dead, which is known soon, or disagree.
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
          log.error({ subject, nodes: names }, 'two nodes do not agree; nothing is decided by either');
          options.onDisagreement(subject);
          throw new Error(`${one!.name} and ${other.name} do not agree on ${subject}`);
        }
      } else if (performance.now() >= patientUntil || (mine.status === 'rejected' && its.status === 'rejected')) {
        throw mine.status === 'rejected' ? mine.reason : (its as PromiseRejectedResult).reason;
      }
      await sleep(PAUSE_MS * Math.min(round, ROUNDS), undefined, { signal: closing });
    }
  }

  const read = (keys: PublicKey[]) => together('accounts', (node) => node.reader.read(keys), mergeAccounts);
  const readFinalized = (keys: PublicKey[], minSlot: number) =>
    together('finalized accounts', (node) => node.reader.readFinalized(keys, minSlot), mergeAccounts);
  const finalized = () => together('the finalized height', (node) => node.reader.finalized(), mergeFinalized);

  return {
    read,
    readFinalized,
    finalized,
    async readPast(keys, lastValidHeight) {
      const { slot, blockHeight } = await finalized();
      return blockHeight > lastValidHeight ? readFinalized(keys, slot) : null;
    },
    together,
  };
}

function mergeAccounts(one: AccountsAt, other: AccountsAt): AccountsAt | null {
  const isSame = one.accounts.every((account, index) => {
    const twin = other.accounts[index] ?? null;
    if (!account || !twin) return account === twin;
    // Anybody may add lamports to an account at any time; nothing is decided by them.
    return account.owner.equals(twin.owner) && account.data.equals(twin.data);
  });
  const gap = one.now - other.now;
  if (!isSame || gap > MAX_CLOCK_GAP || gap < -MAX_CLOCK_GAP) return null;
  return { ...one, now: gap < 0n ? one.now : other.now };
}

function mergeFinalized(one: Finalized, other: Finalized): Finalized | null {
  const gap = one.blockHeight - other.blockHeight;
  if (gap > MAX_GAP || gap < -MAX_GAP) return null;
  return gap < 0n ? one : other;
}
