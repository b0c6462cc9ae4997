/** Turns settled records that can no longer change into leaves, twelve per transaction. */
import { PublicKey } from '@solana/web3.js';
import { isArchivable } from '../../sdk/program/archive.ts';
import { archiveExecutions, constants, decodeAccount } from '../../sdk/program/program.ts';
import { readMany } from '../chain/readMany.ts';
import { type ArchivesDeps, findOpenArchive, type OpenArchive } from './archives.ts';
import { type Candidate, ripeRecords } from './candidates.ts';
import { reasonOf } from './sending.ts';
import { inBatches, type SweepDeps, toldGone } from './sweeping.ts';

/** Archives the ripe records, if there is an archive with room. */
export function archiveRipe(deps: SweepDeps & ArchivesDeps, now: bigint): Promise<void> {
  return inBatches(deps, now, ripeRecords, constants.maxArchivedRecords, async (batch) => {
    const archive = await findOpenArchive(deps);
    if (!archive) return false;
    await archiveBatch(deps, archive, batch.slice(0, archive.room));
    return true;
  });
}

async function archiveBatch(deps: SweepDeps, archive: OpenArchive, batch: Candidate[]): Promise<void> {
  const { chain, sending, resting, log } = deps;
  const records = batch.map(({ address }) => new PublicKey(address));
  const read = await readMany(chain, records);
  const executions = records.flatMap((record, at) => {
    const account = read.accounts[at];
    const execution = account && decodeAccount('ExecutionRecord', account.data);
    if (account && execution && isArchivable(execution, read.now)) {
      return [{ record, rentSponsor: execution.rentSponsor, lamports: account.lamports }];
    }
    // Somebody else has archived it, or it is not ripe. The index does not know it yet.
    resting.rest(record.toBase58());
    return [];
  });
  if (executions.length === 0) return;
  const sent = await sending.send([archiveExecutions({ ...archive, executions })]);
  if (sent.kind === 'confirmed') {
    const gone = await toldGone(
      deps,
      executions.map(({ record, lamports }) => ({ address: record, lamports })),
    );
    log.info({ archive_index: archive.index, records: gone }, 'archived records');
  } else if (sent.kind !== 'expired') {
    // None can be archived now: sponsors cannot receive lamports, or somebody else archived them a moment ago.
    for (const { record } of executions) resting.rest(record.toBase58());
    log.warn({ archive_index: archive.index, fate: sent.kind, reason: reasonOf(sent) }, 'cannot archive records');
  }
}
