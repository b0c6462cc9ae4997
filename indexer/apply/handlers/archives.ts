/** Events of archives: trees of ended executions whose records are closed. */
import { archiveLeaf } from '../../../app/sdk/program/archive.ts';
import { base58, hex } from '../columns.ts';
import { archiveRow, executionRow } from '../rows.ts';
import { changeRow, writeArchivedExecution, writeClaim, writeRow } from '../write.ts';
import type { Handlers } from './handler.ts';

export const archives = {
  ArchiveCreated(unit, data, { slot }) {
    writeRow(unit, 'archives', archiveRow(data.archive, { ...data, count: 0 }, slot));
  },

  ExecutionsArchived(unit, data, { signature, slot }) {
    const tree = base58(data.tree);
    const leafCount = BigInt(data.firstIndex + data.executions.length);
    changeRow(unit, 'archives', base58(data.archive), { leaf_count: leafCount, slot });
    for (const [at, { record, execution }] of data.executions.entries()) {
      const row = executionRow(record, execution, slot);
      writeArchivedExecution(unit, { ...row, closed: 1n });
      // A leaf never changes.
      if (unit.rows.archive_leaves.get(row.record)) continue;
      unit.rows.archive_leaves.put({
        tree,
        leaf_index: BigInt(data.firstIndex + at),
        record: row.record,
        execution_id: row.execution_id,
        leaf: hex(archiveLeaf(record, execution)),
        signature,
        slot,
      });
    }
  },

  RefundClaimed: writeClaim,
} satisfies Partial<Handlers>;
