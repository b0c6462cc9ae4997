/** Instructions of the archive: make a tree, turn ended executions into its leaves. Part of program.ts. */
import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID } from './accounts.ts';
import { findArchive } from './addresses.ts';
import { constants } from './constants.ts';
import { buildInstruction } from './instruction.ts';

export interface CreateTreeAccountInput {
  payer: PublicKey;
  /** A new keypair's address, which signs. */
  tree: PublicKey;
  /** Rent of `constants.archiveTreeBytes` bytes, as the cluster has it. */
  lamports: number;
}

/** Makes a tree's account, to come before `createArchive`. Signs: payer, tree. */
export function createTreeAccount({ payer, tree, lamports }: CreateTreeAccountInput): TransactionInstruction {
  const space = constants.archiveTreeBytes;
  const accounts = { fromPubkey: payer, newAccountPubkey: tree };
  return SystemProgram.createAccount({ ...accounts, lamports, space, programId: PROGRAM_ID });
}

export interface CreateArchiveInput {
  payer: PublicKey;
  /** Made by `createTreeAccount`, and nothing else's. */
  tree: PublicKey;
  /** 0, or the next after one that is nine tenths full. */
  index: number;
}

/** Registers an archive and its tree. Signs: payer. */
export function createArchive({ payer, tree, index }: CreateArchiveInput): TransactionInstruction {
  // Anchor takes the program's own address for an account that is not there.
  const previous = index === 0 ? PROGRAM_ID : findArchive(index - 1);
  return buildInstruction('create_archive', { payer, tree, archive: findArchive(index), previous }, { index });
}

export interface ArchiveExecutionsInput {
  /** The archive's place in the line. */
  index: number;
  /** As the archive has it. */
  tree: PublicKey;
  /** At most `constants.maxArchivedRecords`; those that cannot be archived now are skipped. */
  executions: { record: PublicKey; rentSponsor: PublicKey }[];
}

/** Turns ended executions into leaves and gives their rent back to their sponsors. Nobody signs. */
export function archiveExecutions({ index, tree, executions }: ArchiveExecutionsInput): TransactionInstruction {
  const instruction = buildInstruction('archive_executions', { archive: findArchive(index), tree }, {});
  for (const pubkey of executions.flatMap(({ record, rentSponsor }) => [record, rentSponsor])) {
    instruction.keys.push({ pubkey, isSigner: false, isWritable: true });
  }
  return instruction;
}
