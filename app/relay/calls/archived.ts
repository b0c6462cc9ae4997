/**
 * Archived executions: their records are leaves of an archive, with a proof for anyone. The fields come from the
 * index's row, which no longer changes. A row that does not hash to its leaf, or whose proof does not lead to the root,
 * is not shown.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import { PublicKey } from '@solana/web3.js';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { recordOf } from '../../../indexer/queries/record.ts';
import type { ExecutionRow, UnclaimedRefundRow } from '../../../indexer/queries/tables.ts';
import {
  archiveLeaf,
  archiveProofRoot,
  encodeArchived,
  encodeUnclaimed,
  unclaimedLeaf,
} from '../../sdk/program/archive.ts';
import { ARCHIVE_PAGE, type ArchiveLine, type ExecutionArchive } from '../../sdk/wire/wire.ts';
import { retryLater } from '../errors.ts';
import { readProof } from '../ledger/archiveNodes.ts';
import type { Databases, LedgerDatabase } from '../ledger/tables.ts';
import { leafFieldsOf } from './unclaimed.ts';

type ArchivedDeps = Pick<Databases, 'views'>;

/** Seconds until a client asks again for leaves that the index lacks. */
const RETRY_SECONDS = 60;

/**
 * An archived execution's leaf and proof; null if it has no leaf, its tree is not proven yet, or the index lacks leaves
 * of the tree (the proven root is then outdated).
 */
export async function archiveOf({ views }: ArchivedDeps, executionId: string): Promise<ExecutionArchive | null> {
  const found = await views
    .selectFrom('chain.archive_leaves as l')
    .innerJoin('chain.archives as a', 'a.tree', 'l.tree')
    .select(['a.archive', 'a.archive_index', 'l.tree', 'l.leaf_index', 'l.record', 'l.leaf', 'l.signature'])
    .where('l.execution_id', '=', executionId)
    .executeTakeFirst();
  if (!found) return null;
  const row = await views
    .selectFrom('chain.executions')
    .selectAll()
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  const index = Number(found.leaf_index);
  const stored = await readProof(views, { archiveIndex: found.archive_index, tree: found.tree }, index);
  if (!row || !stored || (await lacksLeaf(views, sql`archives.tree = ${found.tree}`))) return null;
  const record = new PublicKey(found.record);
  const execution = recordOf(row);
  const { proof, root } = stored;
  const leaf = bytesToHex(archiveLeaf(record, execution));
  const leadsTo = bytesToHex(archiveProofRoot({ record, execution, index, proof }));
  if (leaf !== found.leaf || leadsTo !== bytesToHex(root)) return null;
  return {
    archive: found.archive,
    archive_index: Number(found.archive_index),
    tree: found.tree,
    leaf_index: index,
    record: found.record,
    fields: base64Of(encodeArchived(execution)),
    leaf,
    proof: proof.map(bytesToHex),
    root: leadsTo,
    transaction: found.signature,
  };
}

/** True if one of these archives counts more leaves than the index has. */
async function lacksLeaf(views: Kysely<LedgerDatabase>, which: RawBuilder<unknown>): Promise<boolean> {
  const built = sql`(SELECT coalesce(max(t.leaf_count), 0) FROM archive_trees AS t WHERE t.tree = archives.tree)`;
  const countOf = (table: string) => sql`(SELECT count(*) FROM ${sql.table(table)} AS l
    WHERE l.tree = archives.tree AND l.leaf_index >= ${built})`;
  const leaves = sql`${countOf('chain.archive_leaves')} + ${countOf('chain.unclaimed_refunds')}`;
  const { rows } = await sql`SELECT 1 FROM ${sql.table('chain.archives')} AS archives
    WHERE ${which} AND archives.leaf_count - ${built} > ${leaves} LIMIT 1`.execute(views);
  return rows.length > 0;
}

/**
 * Throws ApiError if what was not found may be among leaves that the index lacks: of the archive with this index, or of
 * any.
 */
export async function requireLeaves({ views }: ArchivedDeps, index?: string): Promise<void> {
  const which = index === undefined ? sql`1 = 1` : sql`archives.archive_index = ${indexOf(index)}`;
  if (!(await lacksLeaf(views, which))) return;
  throw retryLater('The index lacks a transaction that may have added leaves.', RETRY_SECONDS);
}

/** The index of an archive in a path; null if the text is none. */
const indexOf = (text: string): bigint | null => (/^(0|[1-9][0-9]{0,4})$/.test(text) ? BigInt(text) : null);

/** A page of an archive's leaves from `first` on; null if there is no such archive, or its tree is not proven. */
export async function leavesOf({ views }: ArchivedDeps, index: string, first: number): Promise<ArchiveLine[] | null> {
  const archiveIndex = indexOf(index);
  if (archiveIndex === null) return null;
  const tree = await views
    .selectFrom('archive_trees')
    .selectAll()
    .where('archive_index', '=', archiveIndex)
    .where('is_proven', '=', 1n)
    .executeTakeFirst();
  if (!tree) return null;
  // The leaves of a proven tree have no gap.
  const end = BigInt(Math.min(first + ARCHIVE_PAGE, Number(tree.leaf_count)));
  const rows = await views
    .selectFrom('chain.archive_leaves as l')
    .innerJoin('chain.executions as e', 'e.execution_id', 'l.execution_id')
    .selectAll('e')
    .select(['l.leaf_index', 'l.leaf'])
    .where('l.tree', '=', tree.tree)
    .where('l.leaf_index', '>=', BigInt(first))
    .where('l.leaf_index', '<', end)
    .execute();
  const refunds = await views
    .selectFrom('chain.unclaimed_refunds')
    .selectAll()
    .where('tree', '=', tree.tree)
    .where('leaf_index', '>=', BigInt(first))
    .where('leaf_index', '<', end)
    .execute();
  const lines: ArchiveLine[] = [...rows.map(lineOf), ...refunds.map(unclaimedLineOf)];
  return lines.sort((one, other) => one.leaf_index - other.leaf_index);
}

function lineOf({ leaf_index, leaf, ...row }: ExecutionRow & { leaf_index: bigint; leaf: string }): ArchiveLine {
  const execution = recordOf(row);
  if (bytesToHex(archiveLeaf(new PublicKey(row.record), execution)) !== leaf) {
    throw new Error(`the row of execution ${row.execution_id} does not match its leaf`);
  }
  return { leaf_index: Number(leaf_index), record: row.record, fields: base64Of(encodeArchived(execution)) };
}

function unclaimedLineOf(row: UnclaimedRefundRow): ArchiveLine {
  const refund = leafFieldsOf(row);
  if (bytesToHex(unclaimedLeaf(refund)) !== row.leaf)
    throw new Error(`the row of refund ${row.claim} does not match its leaf`);
  return { leaf_index: Number(row.leaf_index), unclaimed: base64Of(encodeUnclaimed(refund)) };
}

const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
