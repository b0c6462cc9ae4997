/** Finds the archive for the next leaves, and makes one if none exists or little room is left. */
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import {
  type Archive,
  constants,
  decodeOwn,
  findArchive,
  findSeededTree,
  makeArchive,
} from '../../sdk/program/program.ts';
import { readMany } from '../chain/readMany.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { Databases } from '../ledger/tables.ts';
import type { Resting } from './resting.ts';
import { reasonOf, type Sending } from './sending.ts';

export interface ArchivesDeps extends Pick<Databases, 'views'> {
  chain: Pick<RelayChain, 'authority' | 'connection' | 'read'>;
  sending: Pick<Sending, 'send'>;
  resting: Resting;
  /** Lamports that the relay authority must keep after paying for a tree. */
  minLamports: number;
  log: Logger;
}

export interface OpenArchive {
  index: number;
  tree: PublicKey;
  /** Leaves that still fit, at least one. */
  room: number;
}

/** The first archive with room; null if there is none and none was made. */
export async function findOpenArchive(deps: ArchivesDeps): Promise<OpenArchive | null> {
  const { chain, views } = deps;
  const { latest } = await views
    .selectFrom('chain.archives')
    .select((select) => select.fn.max<bigint | null>('archive_index').as('latest'))
    .executeTakeFirstOrThrow();
  // The archive before the latest may have room left. The index may not know the next one yet.
  const first = Math.max(0, Number(latest ?? 0n) - 1);
  const indices = [first, first + 1, first + 2];
  const { accounts } = await readMany(chain, indices.map(findArchive));
  const found = accounts.flatMap((account) => decodeOwn('Archive', account) ?? []);
  const last = found.at(-1);
  if (!last && first > 0) throw new Error(`the index has archive ${latest}, but the node does not have it`);
  if (!last || last.count >= constants.archiveSuccessorCount) await makeNext(deps, last ? last.index + 1 : 0);
  const open = found.find(({ count }) => count < constants.archiveCapacity) ?? (await readArchive(deps, last));
  return open && { index: open.index, tree: open.tree, room: constants.archiveCapacity - open.count };
}

/** The archive after the last; null if there is none. */
async function readArchive({ chain }: ArchivesDeps, last: Archive | undefined): Promise<Archive | null> {
  const { accounts } = await chain.read([findArchive(last ? last.index + 1 : 0)]);
  return decodeOwn('Archive', accounts[0]);
}

/** Makes the archive, unless that is not affordable, or already done by somebody else. */
async function makeNext(deps: ArchivesDeps, index: number): Promise<void> {
  const { chain, sending, resting, minLamports, log } = deps;
  const address = findArchive(index).toBase58();
  if (resting.rests(address)) return;
  const payer = chain.authority;
  const [lamports, held, balance] = await Promise.all([
    chain.connection.getMinimumBalanceForRentExemption(constants.archiveTreeBytes),
    chain.connection.getBalance(findSeededTree(payer, index)),
    chain.connection.getBalance(payer),
  ]);
  if (balance - (lamports - held) < minLamports) {
    resting.rest(address);
    log.warn(
      { archive_index: index, lamports },
      'the relay authority has too little SOL for the tree of the next archive',
    );
    return;
  }
  const sent = await sending.send(makeArchive({ payer, index, lamports, held }));
  if (sent.kind === 'confirmed') {
    log.info({ archive_index: index, lamports: lamports - held }, 'created an archive');
    return;
  }
  // One that came too late says nothing about the account.
  if (sent.kind !== 'expired') resting.rest(address);
  log.warn({ archive_index: index, outcome: sent.kind, reason: reasonOf(sent) }, 'cannot create the next archive');
}
