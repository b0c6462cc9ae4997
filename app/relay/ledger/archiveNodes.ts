/**
 * The nodes of the archives' trees. Leaves come in order and each once; about two nodes are written for each, those of
 * its way to the root. Subtrees without a leaf are constants and are not kept.
 */
import type Sqlite from 'better-sqlite3';
import { type Kysely, sql } from 'kysely';
import { archiveNode, emptyArchiveNode } from '../../sdk/program/archive.ts';
import { constants } from '../../sdk/program/program.ts';
import type { LedgerDatabase } from './tables.ts';

const DEPTH = constants.archiveDepth;
const EMPTY = Array.from({ length: DEPTH }, (_, level) => emptyArchiveNode(level));

/** A tree as far as its nodes are here. */
export interface BuiltTree {
  leafCount: number;
  isProven: boolean;
}

/** Nodes that some leaves change, from the leaves up: at each level a run that begins at `start`. */
export interface Growth {
  first: number;
  levels: { start: number; hashes: Uint8Array[] }[];
  root: Uint8Array;
}

export interface ArchiveNodes {
  /** Null where nothing of the tree is here, or what is here is of another tree. */
  read(archiveIndex: number, tree: string): BuiltTree | null;
  /** What the next leaves would make of the tree; nothing is written. At least one leaf. */
  grow(archiveIndex: number, first: number, leaves: readonly Uint8Array[]): Growth;
  /** Writes it, all or nothing. Throws where the tree has not exactly the leaves that come before. */
  write(archiveIndex: number, tree: string, growth: Growth, isProven: boolean): void;
  /** Forgets a tree, which is then built again. */
  drop(archiveIndex: number): void;
}

/** Over the connection that writes the ledger. */
export function createArchiveNodes(ledger: Sqlite.Database): ArchiveNodes {
  type TreeRow = { tree: string; leaf_count: bigint; is_proven: bigint };
  const selectTree = ledger.prepare<[number], TreeRow>(
    'SELECT tree, leaf_count, is_proven FROM archive_trees WHERE archive_index = ?',
  );
  const selectNode = ledger
    .prepare<[number, number, number], Buffer>(
      'SELECT hash FROM archive_nodes WHERE archive_index = ? AND level = ? AND position = ?',
    )
    .pluck();
  const putTree = ledger.prepare(`INSERT INTO archive_trees (archive_index, tree, leaf_count, is_proven)
    VALUES (?, ?, ?, ?) ON CONFLICT (archive_index)
    DO UPDATE SET leaf_count = excluded.leaf_count, is_proven = excluded.is_proven`);
  const putNode = ledger.prepare('INSERT OR REPLACE INTO archive_nodes VALUES (?, ?, ?, ?)');
  const deleteNodes = ledger.prepare('DELETE FROM archive_nodes WHERE archive_index = ?');
  const deleteTree = ledger.prepare('DELETE FROM archive_trees WHERE archive_index = ?');

  /** The node beside the first of a run, which is the only one that a run needs and does not hold. */
  function leftOf(archiveIndex: number, level: number, start: number): Uint8Array {
    const node = selectNode.get(archiveIndex, level, start - 1);
    if (!node) throw new Error(`archive ${archiveIndex} has no node ${start - 1} at level ${level}`);
    return node;
  }

  const write = ledger.transaction((archiveIndex: number, tree: string, growth: Growth, isProven: boolean) => {
    const known = selectTree.get(archiveIndex);
    if (Number(known?.leaf_count ?? 0n) !== growth.first || (known && known.tree !== tree)) {
      throw new Error(`archive ${archiveIndex} has ${known?.leaf_count ?? 0} leaves of ${known?.tree ?? tree}`);
    }
    for (const [level, { start, hashes }] of growth.levels.entries()) {
      for (const [at, hash] of hashes.entries()) putNode.run(archiveIndex, level, start + at, hash);
    }
    const leafCount = growth.first + growth.levels[0]!.hashes.length;
    putTree.run(archiveIndex, tree, leafCount, isProven ? 1 : 0);
  });
  const drop = ledger.transaction((archiveIndex: number) => {
    deleteNodes.run(archiveIndex);
    deleteTree.run(archiveIndex);
  });

  return {
    read(archiveIndex, tree) {
      const row = selectTree.get(archiveIndex);
      if (!row || row.tree !== tree) return null;
      return { leafCount: Number(row.leaf_count), isProven: row.is_proven === 1n };
    },
    grow(archiveIndex, first, leaves) {
      const levels = [{ start: first, hashes: [...leaves] }];
      for (let level = 0; level < DEPTH; level += 1) {
        const { start, hashes } = levels[level]!;
        const left = start % 2 === 1 ? [leftOf(archiveIndex, level, start)] : [];
        const row = [...left, ...hashes];
        const parents = Array.from({ length: Math.ceil(row.length / 2) }, (_, at) =>
          archiveNode(row[2 * at]!, row[2 * at + 1] ?? EMPTY[level]!),
        );
        levels.push({ start: Math.floor(start / 2), hashes: parents });
      }
      return { first, levels, root: levels[DEPTH]!.hashes[0]! };
    },
    write: (...growth) => write.immediate(...growth),
    drop: (archiveIndex) => drop.immediate(archiveIndex),
  };
}

export interface StoredProof {
  leaf: Uint8Array;
  /** 20, from the bottom up. */
  proof: Uint8Array[];
  root: Uint8Array;
}

/** The proof of a leaf; null while the tree is not proven, or has no such leaf here. One statement, so of one moment. */
export async function readProof(
  views: Kysely<LedgerDatabase>,
  archive: { archiveIndex: bigint; tree: string },
  leafIndex: number,
): Promise<StoredProof | null> {
  const siblings = Array.from({ length: DEPTH }, (_, level) => [level, (leafIndex >> level) ^ 1]);
  const wanted = [[0, leafIndex], [DEPTH, 0], ...siblings].map(
    ([level, position], place) => sql`(${BigInt(place)}, ${BigInt(level!)}, ${BigInt(position!)})`,
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
