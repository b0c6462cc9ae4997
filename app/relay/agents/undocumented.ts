/**
 * The active listings whose document is not here, which lists leave out. They are few, so a list excludes them by
 * name: looking up the document of each of 100,000 agents would take longer than the list itself.
 */
import { type Kysely, sql } from 'kysely';
import { textsOf } from '../../database/portable.ts';
import { wholeTurn } from '../../process/turn.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

/** Rows of the index per statement. */
const SLICE = 2_000;

export type Undocumented = ReturnType<typeof createUndocumented>;

export function createUndocumented(views: Kysely<LedgerDatabase>) {
  const missing = new Set<string>();
  /** All agents up to this id were looked at. A new listing and a new document have a higher one. */
  let seen = 0n;

  /** Those of these agents without a document. */
  async function without(which: ReturnType<typeof sql>): Promise<string[]> {
    const { rows } = await sql<{ listing: string }>`
      SELECT listing FROM chain.agents AS agents WHERE ${which} AND NOT EXISTS (SELECT 1 FROM documents AS d
        WHERE d.metadata_hash = agents.metadata_hash AND d.id = agents.document)`.execute(views);
    return rows.map(({ listing }) => listing);
  }

  async function poll(): Promise<string[]> {
    const known = [...missing];
    for (;;) {
      const { rows } = await sql<{ last: bigint | null }>`
        SELECT max(id) AS last FROM (
          SELECT id FROM chain.agents AS agents WHERE id > ${seen} ORDER BY id LIMIT ${SLICE}) AS next`.execute(views);
      const last = rows[0]?.last ?? null;
      if (last === null) break;
      for (const listing of await without(sql`id > ${seen} AND id <= ${last}`)) missing.add(listing);
      seen = last;
      await wholeTurn();
    }
    if (known.length > 0) {
      const still = new Set(await without(sql`listing IN ${textsOf(views, known)}`));
      for (const listing of known) if (!still.has(listing)) missing.delete(listing);
    }
    return [...missing];
  }

  /** The last reading that has begun or waits. */
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<string[]> | null = null;

  return {
    /** Their addresses, as of now. */
    read(): Promise<string[]> {
      // One reading at a time: another one's answer may be older than what this one has added. All that wait share the next.
      if (!waiting) {
        waiting = last.then(() => {
          waiting = null;
          return poll();
        });
        last = waiting.catch(() => {});
      }
      return waiting;
    },
  };
}
