/**
 * Builds the nodes of the archives' trees from the leaves in the index. Nodes are shown only after the tree's own
 * account had the root that they give.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import type { ArchiveRow } from '../../../indexer/queries/tables.ts';
import { countRows } from '../../database/portable.ts';
import { type ArchiveTree, readArchiveTree } from '../../sdk/program/archive.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { ArchiveNodes } from '../ledger/archiveNodes.ts';
import type { Databases } from '../ledger/tables.ts';

/** Leaves per database transaction: about 20 ms, the longest that a call may wait for it. */
const LEAVES_AT_ONCE = 512;

interface TreesDeps extends Pick<Databases, 'views'> {
  chain: Pick<RelayChain, 'read'>;
  nodes: ArchiveNodes;
  stop: AbortSignal;
  log: Logger;
}

/** A state that a tree's account had. */
type Target = Pick<ArchiveTree, 'count' | 'root'>;

/** What the follower remembers, by the index of the archive. */
interface Following {
  /** States for which the index still lacks leaves. New leaves may come faster than the index, but never move them. */
  targets: Map<number, Target>;
  /** Archives whose leaves do not make their tree's root. */
  mismatched: Set<number>;
}

export const newFollowing = (): Following => ({ targets: new Map(), mismatched: new Set() });

/** Builds each tree up to the latest state of its account that the index has reached. */
export async function followTrees(deps: TreesDeps, following: Following): Promise<void> {
  const archives = await deps.views.selectFrom('chain.archives').selectAll().orderBy('archive_index').execute();
  for (const archive of archives) await followTree(deps, archive, following);
}

async function followTree(deps: TreesDeps, { archive_index, tree }: ArchiveRow, following: Following): Promise<void> {
  const { nodes, stop, log } = deps;
  const { targets, mismatched } = following;
  const index = Number(archive_index);
  while (!stop.aborted) {
    const built = await nodes.read(index, tree);
    // Nodes of another tree belong to a chain that no longer exists.
    if (!built) await nodes.drop(index);
    const first = built?.leafCount ?? 0;
    if (!(await hasLeaves(deps, tree, first, first + 1))) return;
    const target = await targetOf(deps, tree, first, targets.get(index));
    targets.delete(index);
    if (!target) return;
    if (!(await hasLeaves(deps, tree, first, target.count))) {
      targets.set(index, target);
      return;
    }
    const verdict = await build(deps, { index, tree, first, target });
    if (verdict === 'stopped') return;
    if (verdict === 'proven') {
      mismatched.delete(index);
      continue;
    }
    // After a restart of the cluster the leaves may be others, and reading them again corrects this. It is tried once: a
    // second time an operator must correct it.
    if (mismatched.has(index)) return;
    mismatched.add(index);
    log.error(
      { archive_index: index, tree },
      'the root computed from the leaves in the index differs from the root on-chain',
    );
    await nodes.drop(index);
  }
}

/** The earlier target, or else the present state of the tree's account; null if that has no leaf from `first` on. */
async function targetOf(
  { chain }: TreesDeps,
  tree: string,
  first: number,
  earlier: Target | undefined,
): Promise<Target | null> {
  const { accounts } = await chain.read([new PublicKey(tree)]);
  if (!accounts[0]) return null;
  const present = readArchiveTree(accounts[0].data);
  if (present.count <= first) return null;
  // If the cluster lost leaves, the earlier state no longer counts.
  return earlier && earlier.count > first && earlier.count <= present.count ? earlier : present;
}

/** Adds the leaves up to the target. Nothing is shown until all of them give its root; a wrong root is not written. */
async function build(
  { views, nodes, stop }: TreesDeps,
  { index, tree, first, target }: { index: number; tree: string; first: number; target: Target },
): Promise<'proven' | 'wrong' | 'stopped'> {
  for (let from = first; !stop.aborted; from += LEAVES_AT_ONCE) {
    const leaves = await readLeaves(views, tree, from, Math.min(LEAVES_AT_ONCE, target.count - from));
    const growth = await nodes.grow(index, from, leaves);
    const isLast = from + leaves.length === target.count;
    if (isLast && !Buffer.from(target.root).equals(growth.root)) return 'wrong';
    await nodes.write(index, tree, growth, isLast);
    if (isLast) return 'proven';
    await turn();
  }
  return 'stopped';
}

/** Executions and unclaimed refunds become leaves of the same trees. */
const LEAF_TABLES = ['chain.archive_leaves', 'chain.unclaimed_refunds'] as const;

/** The leaves from `first` up to `end` that one of the tables has. */
const leavesIn = (views: TreesDeps['views'], table: string, tree: string, first: number, end: number) =>
  views
    .selectFrom(table as (typeof LEAF_TABLES)[0])
    .where('tree', '=', tree)
    .where('leaf_index', '>=', BigInt(first))
    .where('leaf_index', '<', BigInt(end));

/** True if the index has every leaf from `first` up to `end`. */
async function hasLeaves({ views }: TreesDeps, tree: string, first: number, end: number): Promise<boolean> {
  const counts = LEAF_TABLES.map((table) =>
    countRows(views, leavesIn(views, table, tree, first, end).select('leaf_index')),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0) === end - first;
}

/** The leaves of a range that the index has, in order. */
async function readLeaves(views: TreesDeps['views'], tree: string, first: number, most: number): Promise<Uint8Array[]> {
  const found = LEAF_TABLES.map((table) =>
    leavesIn(views, table, tree, first, first + most)
      .select(['leaf_index', 'leaf'])
      .execute(),
  );
  const rows = (await Promise.all(found)).flat().sort((one, other) => Number(one.leaf_index - other.leaf_index));
  return rows.map(({ leaf }) => Buffer.from(leaf, 'hex'));
}
