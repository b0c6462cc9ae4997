/** Unclaimed refunds with the proofs by which their callers claim them. */
import { bytesToHex } from '@noble/hashes/utils.js';
import { PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import type { UnclaimedRefundRow } from '../../../indexer/queries/tables.ts';
import { encodeUnclaimed, unclaimedLeaf, unclaimedProofRoot } from '../../sdk/program/archive.ts';
import type { UnclaimedRefund as LeafFields } from '../../sdk/program/program.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { UnclaimedProof, UnclaimedRefund } from '../../sdk/wire/wire.ts';
import { readProof } from '../ledger/archiveNodes.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

/** A row as an answer shows it. */
export const toUnclaimed = (row: UnclaimedRefundRow): UnclaimedRefund => ({
  source: row.source,
  amount_usdc: toUsdc(row.amount),
  unclaimed_at: toTime(row.unclaimed_at),
  claimed_at: row.claimed_at === null ? null : toTime(row.claimed_at),
});

/** The fields of a row's leaf. */
export const leafFieldsOf = (row: UnclaimedRefundRow): LeafFields => ({
  source: new PublicKey(row.source),
  caller: new PublicKey(row.caller),
  amount: row.amount,
  unclaimedAt: row.unclaimed_at,
});

/**
 * The refunds of this record or deposit whose leaves are proven, oldest first. `views` has ledger.db, with index.db
 * attached as `chain`.
 */
export async function unclaimedOf(views: Kysely<LedgerDatabase>, source: string): Promise<UnclaimedProof[]> {
  const rows = await views
    .selectFrom('chain.unclaimed_refunds as u')
    .innerJoin('chain.archives as a', 'a.tree', 'u.tree')
    .selectAll('u')
    .select(['a.archive', 'a.archive_index'])
    .where('u.source', '=', source)
    .orderBy('u.unclaimed_at')
    .execute();
  const proofs: UnclaimedProof[] = [];
  for (const { archive, archive_index, ...row } of rows) {
    const index = Number(row.leaf_index);
    const stored = await readProof(views, { archiveIndex: archive_index, tree: row.tree }, index);
    // Without its transaction, it was claimed before the index saw its leaf.
    if (!stored || row.signature === null) continue;
    const { proof, root } = stored;
    const refund = leafFieldsOf(row);
    const leaf = bytesToHex(unclaimedLeaf(refund));
    const leadsTo = bytesToHex(unclaimedProofRoot({ refund, index, proof }));
    if (leaf !== row.leaf || leadsTo !== bytesToHex(root)) continue;
    proofs.push({
      ...toUnclaimed(row),
      caller: row.caller,
      archive,
      archive_index: Number(archive_index),
      tree: row.tree,
      leaf_index: index,
      fields: Buffer.from(encodeUnclaimed(refund)).toString('base64'),
      leaf,
      proof: proof.map(bytesToHex),
      root: leadsTo,
      transaction: row.signature,
    });
  }
  return proofs;
}
