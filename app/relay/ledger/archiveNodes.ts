/**
 * The nodes of the archives' trees. Leaves come in order, each once. Each leaf writes about two nodes of its path to
 * the root. Subtrees without a leaf are constants and are not stored.
 */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { bytesOf } from '../../database/portable.ts';
import { archiveNode, emptyArchiveNode } from '../../sdk/program/archive.ts';
import { constants } from '../../sdk/program/program.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

const DEPTH = constants.archiveDepth;
const EMPTY = Array.from({ length: DEPTH }, (_, level) => emptyArchiveNode(level));

/** The stored part of a tree. */
interface BuiltTree {
  leafCount: number;
  isProven: boolean;
}

/** The nodes that new leaves change, from the leaves up: at each level a run that begins at `start`. */
interface Growth {
  first: number;
  levels: { start: number; hashes: Uint8Array[] }[];
  root: Uint8Array;
}

export type ArchiveNodes = ReturnType<typeof createArchiveNodes>;

/** Nodes per statement. */
const NODES_AT_ONCE = 256;

/** `writes` and `ledger` belong to one database. */
export function createArchiveNodes(writes: GroupCommit, ledger: Kysely<LedgerTables>) {
  const readTree = (archiveIndex: number) =>
    ledger
      .selectFrom('archive_trees')
      .select(['tree', 'leaf_count', 'is_proven'])
      .where('archive_index', '=', BigInt(archiveIndex))
      .executeTakeFirst();

  /** The left neighbour of a run's first node: the only node that a run needs but does not contain. */
  async function leftOf(archiveIndex: number, level: number, start: number): Promise<Uint8Array> {
    const node = await ledger
      .selectFrom('archive_nodes')
      .select('hash')
      .where('archive_index', '=', BigInt(archiveIndex))
      .where('level', '=', BigInt(level))
      .where('position', '=', BigInt(start - 1))
      .executeTakeFirst();
    if (!node) throw new Error(`archive ${archiveIndex} has no node ${start - 1} at level ${level}`);
    return node.hash;
  }

  function writing(archiveIndex: number, tree: string, growth: Growth, isProven: boolean): CompiledQuery[] {
    const same = sql`archive_index = ${archiveIndex} AND tree = ${tree} AND leaf_count = ${growth.first}`;
    // Each statement checks that the tree ends where the growth begins. So the growth is never written partly.
    const isNext =
      growth.first > 0
        ? sql`EXISTS (SELECT 1 FROM archive_trees WHERE ${same})`
        : sql`NOT EXISTS (SELECT 1 FROM archive_trees WHERE archive_index = ${archiveIndex} AND NOT (${same}))`;
    const nodes = growth.levels.flatMap(({ start, hashes }, level) =>
      hashes.map(
        (hash, at) =>
          sql`(CAST(${archiveIndex} AS BIGINT), CAST(${level} AS BIGINT), CAST(${start + at} AS BIGINT), ${bytesOf(ledger, hash)})`,
      ),
    );
    const statements: RawBuilder<unknown>[] = [];
    for (let from = 0; from < nodes.length; from += NODES_AT_ONCE) {
      statements.push(sql`INSERT INTO archive_nodes (archive_index, level, position, hash)
        SELECT column1, column2, column3, column4 FROM (VALUES ${sql.join(nodes.slice(from, from + NODES_AT_ONCE))}) AS n
        WHERE ${isNext}
        ON CONFLICT (archive_index, level, position) DO UPDATE SET hash = excluded.hash`);
    }
    const leafCount = growth.first + growth.levels[0]!.hashes.length;
    statements.push(sql`INSERT INTO archive_trees (archive_index, tree, leaf_count, is_proven)
      SELECT CAST(${archiveIndex} AS BIGINT), CAST(${tree} AS TEXT), CAST(${leafCount} AS BIGINT),
        CAST(${isProven ? 1 : 0} AS BIGINT) WHERE ${isNext}
      ON CONFLICT (archive_index) DO UPDATE SET leaf_count = excluded.leaf_count, is_proven = excluded.is_proven`);
    return statements.map((statement) => statement.compile(ledger));
  }

  return {
    /** Null if nothing of the tree is stored, or if the stored nodes belong to another tree. */
    async read(archiveIndex: number, tree: string): Promise<BuiltTree | null> {
      const row = await readTree(archiveIndex);
      if (!row || row.tree !== tree) return null;
      return { leafCount: Number(row.leaf_count), isProven: row.is_proven === 1n };
    },
    /** Computes the tree after the next leaves, at least one; writes nothing. */
    async grow(archiveIndex: number, first: number, leaves: readonly Uint8Array[]): Promise<Growth> {
      const levels: Growth['levels'] = [{ start: first, hashes: [...leaves] }];
      for (let level = 0; level < DEPTH; level += 1) {
        const { start, hashes } = levels[level]!;
        const left = start % 2 === 1 ? [await leftOf(archiveIndex, level, start)] : [];
        const row = [...left, ...hashes];
        const parents = Array.from({ length: Math.ceil(row.length / 2) }, (_, at) =>
          archiveNode(row[2 * at]!, row[2 * at + 1] ?? EMPTY[level]!),
        );
        levels.push({ start: Math.floor(start / 2), hashes: parents });
      }
      return { first, levels, root: levels[DEPTH]!.hashes[0]! };
    },
    /** Writes the growth, all or nothing. Throws unless the tree has exactly the leaves before it. */
    async write(archiveIndex: number, tree: string, growth: Growth, isProven: boolean): Promise<void> {
      const written = await writes.underLocks(['archives'], writing(archiveIndex, tree, growth, isProven));
      if (written.at(-1)?.changes === 1) return;
      const known = await readTree(archiveIndex);
      throw new Error(
        `archive ${archiveIndex} already has ${known?.leaf_count ?? 0} leaves of the tree ${known?.tree ?? tree}`,
      );
    },
    /** Forgets a tree, so that it is built again. */
    async drop(archiveIndex: number): Promise<void> {
      const index = BigInt(archiveIndex);
      await writes.underLocks(
        ['archives'],
        [
          ledger.deleteFrom('archive_nodes').where('archive_index', '=', index).compile(),
          ledger.deleteFrom('archive_trees').where('archive_index', '=', index).compile(),
        ],
      );
    },
  };
}

interface StoredProof {
  leaf: Uint8Array;
  /** 20 nodes, from the bottom up. */
  proof: Uint8Array[];
  root: Uint8Array;
}

/**
 * The proof of a leaf; null while the tree is not proven, or if the leaf is not stored. One statement reads it, so it
 * is consistent.
 */
export async function readProof(
  views: Kysely<LedgerDatabase>,
  archive: { archiveIndex: bigint; tree: string },
  leafIndex: number,
): Promise<StoredProof | null> {
  const siblings = Array.from({ length: DEPTH }, (_, level) => [level, (leafIndex >> level) ^ 1]);
  const wanted = [[0, leafIndex], [DEPTH, 0], ...siblings].map(
    ([level, position], place) =>
      sql`(CAST(${place} AS BIGINT), CAST(${level} AS BIGINT), CAST(${position} AS BIGINT))`,
  );
  const { rows } = await sql<{ hash: Buffer | null }>`
    WITH wanted (place, level, position) AS (VALUES ${sql.join(wanted)})
    SELECT n.hash FROM archive_trees AS t CROSS JOIN wanted
    LEFT JOIN archive_nodes AS n
      ON n.archive_index = t.archive_index AND n.level = wanted.level AND n.position = wanted.position
    WHERE t.archive_index = ${archive.archiveIndex} AND t.tree = ${archive.tree} AND t.is_proven = 1
    ORDER BY wanted.place`.execute(views);
  const [leaf, root, ...proof] = rows.map(({ hash }) => hash);
  if (!leaf || !root) return null;
  return { leaf, root, proof: proof.map((node, level) => node ?? EMPTY[level]!) };
}
