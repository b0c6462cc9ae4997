/** Instructions of the archive: make a tree, turn ended executions into its leaves. Part of program.ts. */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
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

const treeSeed = (index: number): string => `archive ${index}`;

/** Where `makeArchive` makes the tree of this payer: an address that needs no keypair of its own. */
export function findSeededTree(payer: PublicKey, index: number): PublicKey {
  return new PublicKey(sha256(concatBytes(payer.toBytes(), utf8ToBytes(treeSeed(index)), PROGRAM_ID.toBytes())));
}

export interface MakeArchiveInput {
  payer: PublicKey;
  /** 0, or the next after one that is nine tenths full. */
  index: number;
  /** Rent of `constants.archiveTreeBytes` bytes, as the cluster has it. */
  lamports: number;
  /** What the tree's address holds already: anyone can have sent something there. */
  held: number;
}

/** Makes a tree at the payer's seeded address and registers its archive, in one transaction. Signs: payer. */
export function makeArchive({ payer, index, lamports, held }: MakeArchiveInput): TransactionInstruction[] {
  const tree = findSeededTree(payer, index);
  const missing = lamports - held;
  return [
    ...(missing > 0 ? [SystemProgram.transfer({ fromPubkey: payer, toPubkey: tree, lamports: missing })] : []),
    // Unlike the making of an account this works where lamports lie at the address already.
    SystemProgram.allocate({
      accountPubkey: tree,
      basePubkey: payer,
      seed: treeSeed(index),
      space: constants.archiveTreeBytes,
      programId: PROGRAM_ID,
    }),
    createArchive({ payer, tree, index }),
  ];
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
