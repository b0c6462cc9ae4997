/**
 * Builds the nodes of the archives' trees from the leaves in the index. Nodes are shown only after the tree's own
 * account has the root that they give.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { ArchiveRow } from '../../../indexer/tables.ts';
import { readArchiveRoots, readArchiveTree } from '../../sdk/program/archive.ts';
import { constants } from '../../sdk/program/program.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { ArchiveNodes, Growth } from '../ledger/archiveNodes.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

/** Leaves per database transaction: about 20 ms, the longest that a call may wait for it. */
const LEAVES_AT_ONCE = 512;

export interface TreesDeps {
  chain: Pick<RelayChain, 'read'>;
  views: Kysely<LedgerDatabase>;
  nodes: ArchiveNodes;
  stop: AbortSignal;
  log: Logger;
}

/** Indexes of archives whose leaves do not make their tree's root. */
export type Mismatched = Set<number>;

/** Follows every tree up to the end of the index. */
export async function followTrees(deps: TreesDeps, mismatched: Mismatched): Promise<void> {
  const archives = await deps.views.selectFrom('chain.archives').selectAll().orderBy('archive_index').execute();
  for (const archive of archives) await followTree(deps, archive, mismatched);
}

async function followTree(deps: TreesDeps, archive: ArchiveRow, mismatched: Mismatched): Promise<void> {
  const index = Number(archive.archive_index);
  while (!deps.stop.aborted) {
    const built = await deps.nodes.read(index, archive.tree);
    // Nodes of another tree belong to a chain that no longer exists.
    if (!built) await deps.nodes.drop(index);
    const leaves = await nextLeaves(deps, archive.tree, built?.leafCount ?? 0);
    if (leaves.length === 0) return;
    const growth = await deps.nodes.grow(index, built?.leafCount ?? 0, leaves.slice(0, LEAVES_AT_ONCE));
    if (leaves.length > LEAVES_AT_ONCE) {
      // Not proven yet: more leaves follow, and the account stores only the latest roots.
      await deps.nodes.write(index, archive.tree, growth, false);
      await turn();
      continue;
    }
    const verdict = await judge(deps, archive.tree, growth, leaves.length);
    if (verdict === 'unknown') return;
    if (verdict === 'proven') {
      await deps.nodes.write(index, archive.tree, growth, true);
      mismatched.delete(index);
      return;
    }
    deps.log.error(
      { archive_index: index, tree: archive.tree },
      'the root computed from the leaves in the index differs from the root on-chain',
    );
    const isFirst = !mismatched.has(index);
    mismatched.add(index);
    // After a restart of the cluster the leaves may be others, and reading them again corrects this. It is tried once: a
    // second time an operator must correct it.
    if (!isFirst) return;
    await deps.nodes.drop(index);
  }
}

/** The leaves from `first` on, without a gap. One more than a batch shows that there are more. */
async function nextLeaves({ views }: TreesDeps, tree: string, first: number): Promise<Uint8Array[]> {
  const rows = await views
    .selectFrom('chain.archive_leaves')
    .select(['leaf_index', 'leaf'])
    .where('tree', '=', tree)
    .where('leaf_index', '>=', BigInt(first))
    .orderBy('leaf_index')
    .limit(LEAVES_AT_ONCE + 1)
    .execute();
  const gap = rows.findIndex(({ leaf_index }, at) => leaf_index !== BigInt(first + at));
  return rows.slice(0, gap < 0 ? rows.length : gap).map(({ leaf }) => Buffer.from(leaf, 'hex'));
}

/** `proven` if the tree's account has, or recently had, the root of these leaves; `unknown` if it is too far off. */
async function judge(
  { chain }: TreesDeps,
  tree: string,
  growth: Growth,
  added: number,
): Promise<'proven' | 'wrong' | 'unknown'> {
  const { accounts } = await chain.read([new PublicKey(tree)]);
  const data = accounts[0]?.data;
  if (!data) return 'unknown';
  if (readArchiveRoots(data).some((root) => Buffer.from(root).equals(growth.root))) return 'proven';
  const ahead = readArchiveTree(data).count - (growth.first + added);
  return ahead < 0 || ahead >= constants.archiveBuffer ? 'unknown' : 'wrong';
}
