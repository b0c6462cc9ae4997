/**
 * Turns settled records that can no longer change into leaves, as many per transaction as fit: 48 in one of version 1,
 * else twelve.
 */
import { PublicKey } from '@solana/web3.js';
import { chunks } from '../../process/chunks.ts';
import { isArchivable } from '../../sdk/program/archive.ts';
import { archiveExecutions, constants, decodeAccount, decodeOwn, findConfig } from '../../sdk/program/program.ts';
import { readMany } from '../chain/readMany.ts';
import { fitsVersionOne } from '../chain/versionOne.ts';
import { type ArchivesDeps, findOpenArchive, type OpenArchive } from './archives.ts';
import { type Candidate, ripeRecords } from './candidates.ts';
import { reasonOf, type Sent } from './sending.ts';
import { inBatches, reportedGone, type SweepDeps } from './sweeping.ts';

/**
 * Records in one transaction: four instructions. Version 1 holds 64 addresses, and the archive's own and those of
 * different rent sponsors count, too.
 */
const TOGETHER = 4 * constants.maxArchivedRecords;

/** Archives the ripe records, if there is an archive with room. */
export function archiveRipe(deps: SweepDeps & ArchivesDeps, now: bigint): Promise<void> {
  let found: Promise<OpenArchive | null> | null = null;
  return inBatches(deps, now, ripeRecords, TOGETHER, async (batch) => {
    found ??= findOpenArchive(deps);
    const archive = await found;
    if (!archive || archive.room === 0) return false;
    const fitting = batch.slice(0, archive.room);
    archive.room -= fitting.length;
    await archiveBatch(deps, archive, fitting);
    return true;
  });
}

const isFull = (sent: Sent): boolean => reasonOf(sent) === 'ArchiveFull';

/** If they cannot be archived together, each part is tried alone, down to one record. */
async function archiveBatch(deps: SweepDeps, archive: OpenArchive, batch: Candidate[]): Promise<void> {
  const { chain, sending, resting, log } = deps;
  const records = batch.map(({ address }) => new PublicKey(address));
  const read = await readMany(chain, [findConfig(), ...records]);
  const [config, ...accounts] = read.accounts;
  const { recordSeconds } = decodeAccount('Config', config!.data);
  const ripe = batch.flatMap((candidate, at) => {
    const account = accounts[at];
    const execution = decodeOwn('ExecutionRecord', account);
    if (account && execution && isArchivable(execution, recordSeconds, read.now)) {
      return [{ candidate, record: records[at]!, rentSponsor: execution.rentSponsor, lamports: account.lamports }];
    }
    // Somebody else has archived it, or it is not ripe. The index does not know it yet.
    resting.rest(candidate.address);
    return [];
  });
  if (ripe.length === 0) return;
  const { index, tree } = archive;
  const instructions = chunks(ripe, constants.maxArchivedRecords).map((executions) =>
    archiveExecutions({ index, tree, executions }),
  );
  const archiveParts = async (size: number) => {
    for (const part of chunks(ripe, size)) {
      const candidates = part.map(({ candidate }) => candidate);
      await archiveBatch(deps, archive, candidates);
    }
  };
  const half = Math.ceil(ripe.length / 2);
  if (instructions.length > 1 && !fitsVersionOne(instructions, chain.authority)) return archiveParts(half);
  const sent = await (instructions.length > 1 ? sending.sendMany(instructions) : sending.send(instructions));
  if (sent === null) return archiveParts(constants.maxArchivedRecords);
  if (sent.kind === 'expired') return;
  if (sent.kind === 'confirmed') {
    const gone = await reportedGone(
      deps,
      ripe.map(({ record, lamports }) => ({ address: record, lamports })),
    );
    log.info({ archive_index: index, records: gone }, 'archived records');
  } else if (isFull(sent)) {
    // Another deployment has filled it. The next round finds its successor.
    archive.room = 0;
  } else if (ripe.length > 1) {
    await archiveParts(half);
  } else {
    // Its sponsor cannot receive lamports, or somebody else archived it a moment ago.
    resting.rest(ripe[0]!.candidate.address);
    log.warn({ archive_index: index, outcome: sent.kind, reason: reasonOf(sent) }, 'cannot archive a record');
  }
}
