/**
 * Looks again at what the node listed already: some list a transaction only after later ones, which a cursor would never
 * come back to. What is found is applied with everything after it (`applyAgain`); the cursor stays where it is.
 */
import type { ConfirmedSignatureInfo } from '@solana/web3.js';
import type { Logger } from 'pino';
import { ApplyError, applyAgain } from './apply.ts';
import { applyWithSnapshots, type IngestDeps, readTransactions } from './ingest.ts';

/** Names in one query; SQLite takes 32,766. */
const NAMES_PER_QUERY = 1_000;
const RESCAN_MS = 60_000;
/** Slots before the last search's end that each looks through too: over three minutes of mainnet, a few requests. */
const RESCAN_SLOTS = 512n;

export interface GapSearch {
  /** A gap has shown: the next search is due at once. */
  hurry(): void;
  /** Searches the last slots up to `head` if that is due. Throws ApplyError; any other failure waits for the next time. */
  searchWhenDue(head: bigint): Promise<void>;
}

/** Searches now and then, by default once a minute: the passes matter more. */
export function createGapSearch(
  deps: Omit<IngestDeps, 'onGap'>,
  stopping: AbortSignal,
  log: Logger,
  everyMs = RESCAN_MS,
): GapSearch {
  /** When the next one is due, and how far the last one came; null before the first. */
  let dueAt = 0;
  let searchedTo: bigint | null = null;
  return {
    hurry() {
      dueAt = 0;
    },
    async searchWhenDue(head) {
      if (performance.now() < dueAt) return;
      dueAt = performance.now() + everyMs;
      try {
        const found = await rescan(deps, (searchedTo ?? head) - RESCAN_SLOTS);
        for (const signature of found) log.warn({ signature }, 'a transaction that the node had left out was applied');
        searchedTo = head;
      } catch (cause) {
        if (cause instanceof ApplyError) throw cause;
        if (!stopping.aborted) log.warn({ error: String(cause) }, 'looking for gaps: will be tried again');
      }
    },
  };
}

/**
 * Finds and applies the transactions since a slot that are up to the cursor and were left out. Returns their signatures,
 * oldest first. Throws ApplyError for what can never be applied, anything else for what may work when tried again.
 */
export async function rescan(deps: IngestDeps, fromSlot: bigint): Promise<string[]> {
  const oldestFirst = await readListed(deps, fromSlot);
  const known = await readKnown(deps, oldestFirst);
  const gaps = oldestFirst.filter(({ signature, err }) => err === null && !known.has(signature));
  const [first] = gaps;
  if (!first) return [];
  const sinceGap = oldestFirst.filter(({ slot }) => slot >= first.slot);
  await applyWithSnapshots(deps, await readTransactions(deps, sinceGap), applyAgain);
  const found = gaps.map(({ signature }) => signature);
  for (const signature of found) deps.notices.done(signature);
  return found;
}

/** What the node lists from the slot to the cursor; what is newer belongs to the next pass. */
async function readListed(deps: IngestDeps, fromSlot: bigint): Promise<ConfirmedSignatureInfo[]> {
  const { connection, programId, signaturePage: limit } = deps;
  const cursor = await deps.db.selectFrom('cursor').select(['signature', 'slot']).executeTakeFirst();
  if (!cursor) return [];
  const newestFirst: ConfirmedSignatureInfo[] = [];
  for (;;) {
    const before = newestFirst.at(-1)?.signature;
    const options = { limit, ...(before && { before }) };
    const page = await connection.getSignaturesForAddress(programId, options, 'confirmed');
    newestFirst.push(...page);
    const last = page.at(-1);
    if (!last || page.length < limit || BigInt(last.slot) < fromSlot) break;
  }
  const at = newestFirst.findIndex(({ signature }) => signature === cursor.signature);
  return newestFirst
    .filter(({ slot }, index) => BigInt(slot) >= fromSlot && (at < 0 ? BigInt(slot) < cursor.slot : index >= at))
    .reverse();
}

async function readKnown({ db }: IngestDeps, listed: readonly ConfirmedSignatureInfo[]): Promise<Set<string>> {
  const known = new Set<string>();
  for (let start = 0; start < listed.length; start += NAMES_PER_QUERY) {
    const names = listed.slice(start, start + NAMES_PER_QUERY).map(({ signature }) => signature);
    const from = BigInt(listed[start]!.slot);
    const events = db.selectFrom('events').select('signature').where('slot', '>=', from);
    const others = db.selectFrom('eventless_transactions').select('signature').where('slot', '>=', from);
    const found = events.where('signature', 'in', names).union(others.where('signature', 'in', names));
    for (const { signature } of await found.execute()) known.add(signature);
  }
  return known;
}
