/**
 * The sweeper's work by hand: any wallet that pays the fees can archive settled executions, and close refunded ones and
 * ended disputes. Both return the rent to its sponsors. The chain alone shows what can be done.
 */
import type { Connection, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { closableFrom, isArchivable } from '../program/archive.ts';
import {
  type Archive,
  archiveExecutions,
  closeDispute,
  closeExecution,
  constants,
  decodeOwn,
  findArchive,
  findSeededTree,
  makeArchive,
  ownAccount,
  RECORD_OFFSETS,
  RECORD_STATUS_BYTE,
} from '../program/program.ts';
import { findAccounts, readClock } from './connection.ts';
import type { Progress } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import type { Signer } from './signer.ts';

/** Closings per transaction: each takes about 80 of the 1,232 bytes, if it has its own sponsor. */
const CLOSED_AT_ONCE = 12;
/** A node's limit of accounts per request. */
const READ_AT_ONCE = 100;

/** An account that can be archived or closed, and its instruction. */
interface Goer {
  address: PublicKey;
  lamports: number;
  instruction: TransactionInstruction;
}

export interface RunArchiveOptions {
  /** Pays the fees, and a tree if one is needed. Any wallet. */
  wallet: Signer;
  /** True to allow paying for a tree: 0.56 SOL at 5,080 lamports a byte, which is not returned. */
  makesTree: boolean;
  onProgress?: Progress;
}

/** Archives and closes everything possible now, once. Amounts are lamports. */
export async function runArchive({ connection, config }: MarketplaceChain, options: RunArchiveOptions) {
  const { wallet, onProgress } = options;
  const done = { archived: 0, closed: 0, returned_lamports: 0, trees_made: 0, transactions: [] as string[] };
  const now = await readClock(connection);
  const paid = [RECORD_OFFSETS.status, RECORD_STATUS_BYTE.completed] as const;
  const settled = (await findAccounts(connection, 'ExecutionRecord', paid)).filter(({ fields }) =>
    isArchivable(fields, config.recordSeconds, now),
  );
  onProgress?.(`${settled.length} settled records can be archived.`);
  let waiting = settled;
  while (waiting.length > 0) {
    const archive = await findRoom(connection, options, done);
    const room = Math.min(constants.maxArchivedRecords, constants.archiveCapacity - archive.count);
    const batch = waiting.slice(0, room);
    waiting = waiting.slice(room);
    const executions = batch.map(({ address, fields }) => ({ record: address, rentSponsor: fields.rentSponsor }));
    const sent = await attempt(connection, wallet, [archiveExecutions({ ...archive, executions })], onProgress);
    if (!sent) continue;
    done.transactions.push(sent);
    const gone = await goneOf(connection, batch);
    done.archived += gone.length;
    done.returned_lamports += sumOf(gone);
    onProgress?.(`Archived ${done.archived} of ${settled.length}.`);
  }
  const goers = [...(await findRefunded(connection, now)), ...(await findDisputes(connection, now))];
  onProgress?.(`${goers.length} refunded records and ended disputes can be closed.`);
  for (const batch of inBatches(goers, CLOSED_AT_ONCE)) {
    // If somebody else closed one of them, the whole batch fails.
    const together = await attempt(connection, wallet, batch.map(instructionOf), undefined);
    const alone = together ? [] : inBatches(batch, 1);
    const sent = [together];
    for (const one of alone) sent.push(await attempt(connection, wallet, one.map(instructionOf), onProgress));
    done.transactions.push(...sent.filter((signature) => signature !== null));
    const gone = await goneOf(connection, batch);
    done.closed += gone.length;
    done.returned_lamports += sumOf(gone);
  }
  return done;
}

/**
 * Sends the instructions. Null if the chain refuses them, because somebody else was first or an account cannot be
 * closed.
 */
async function attempt(
  connection: Connection,
  wallet: Signer,
  instructions: TransactionInstruction[],
  onProgress: Progress | undefined,
): Promise<string | null> {
  try {
    return await sendTransaction(connection, instructions, wallet);
  } catch (error) {
    // A wallet without SOL, or one that does not sign, would fail for the next batch too.
    if (!(error instanceof Refusal) || ENDING.includes(error.code ?? '')) throw error;
    onProgress?.(error.message);
    return null;
  }
}

const ENDING = ['funds_missing', 'not_signed', 'outcome_unknown'];

/**
 * The first archive with room, created if there is none. Throws Refusal if it would have to be created and `makesTree`
 * is false.
 */
async function findRoom(
  connection: Connection,
  { wallet, makesTree, onProgress }: RunArchiveOptions,
  done: { trees_made: number; transactions: string[] },
): Promise<Archive> {
  const archives = await readArchives(connection);
  const open = archives.find(({ count }) => count < constants.archiveCapacity);
  if (open) return open;
  const payer = wallet.publicKey;
  const index = archives.length;
  const lamports = await connection.getMinimumBalanceForRentExemption(constants.archiveTreeBytes);
  if (!makesTree) {
    throw new Refusal(
      `Archive ${index} must be created first; its tree costs ${lamports} lamports. To create it, use --make-tree.`,
    );
  }
  onProgress?.(`Creating archive ${index}; its tree costs ${lamports} lamports.`);
  const held = await connection.getBalance(findSeededTree(payer, index));
  done.transactions.push(await sendTransaction(connection, makeArchive({ payer, index, lamports, held }), wallet));
  done.trees_made += 1;
  const archive = decodeOwn('Archive', await connection.getAccountInfo(findArchive(index)));
  if (!archive) throw new Error(`the node does not show archive ${index}, which was created`);
  return archive;
}

/** All archives, in order. */
export async function readArchives(connection: Connection): Promise<Archive[]> {
  const archives: Archive[] = [];
  for (let isLast = false; !isLast; ) {
    const addresses = Array.from({ length: READ_AT_ONCE }, (_, at) => findArchive(archives.length + at));
    const accounts = await connection.getMultipleAccountsInfo(addresses);
    const found = accounts.flatMap((account) => decodeOwn('Archive', account) ?? []);
    archives.push(...found);
    isLast = found.length < READ_AT_ONCE;
  }
  return archives;
}

async function findRefunded(connection: Connection, now: bigint): Promise<Goer[]> {
  const status = [RECORD_OFFSETS.status, RECORD_STATUS_BYTE.refunded] as const;
  const refunded = await findAccounts(connection, 'ExecutionRecord', status);
  return refunded.flatMap(({ address, lamports, fields }) => {
    if (now < closableFrom(fields)) return [];
    const { executionId, rentSponsor } = fields;
    return [{ address, lamports, instruction: closeExecution({ executionId, rentSponsor }) }];
  });
}

async function findDisputes(connection: Connection, now: bigint): Promise<Goer[]> {
  const disputes = await findAccounts(connection, 'Dispute');
  return disputes.flatMap(({ address, lamports, fields: { outcome, owed, resolvedAt, executionId, rentSponsor } }) => {
    const isKept = outcome === 'open' || owed > 0n || now < resolvedAt + BigInt(constants.endedDisputeSeconds);
    return isKept ? [] : [{ address, lamports, instruction: closeDispute({ executionId, rentSponsor }) }];
  });
}

/** The entries whose accounts no longer exist. */
async function goneOf<Named extends { address: PublicKey }>(connection: Connection, named: Named[]): Promise<Named[]> {
  const accounts = await connection.getMultipleAccountsInfo(named.map(({ address }) => address));
  return named.filter((_, at) => ownAccount(accounts[at]) === null);
}

const instructionOf = ({ instruction }: Goer): TransactionInstruction => instruction;

function sumOf(accounts: { lamports: number }[]): number {
  return accounts.reduce((sum, { lamports }) => sum + lamports, 0);
}

function inBatches<Item>(items: Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
