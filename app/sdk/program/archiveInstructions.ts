/** Instructions of the archive: create a tree, and turn ended executions into leaves. Part of program.ts. */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID } from './accounts.ts';
import { findArchive } from './addresses.ts';
import { constants } from './constants.ts';
import { buildInstruction } from './instruction.ts';

/** The archive of a leaf; one with room for a new leaf. */
export interface LeafPlace {
  archiveIndex: number;
  /** As stored in the archive. */
  tree: PublicKey;
}

export interface ProvenPlace extends LeafPlace {
  leafIndex: number;
  /**
   * The siblings on the leaf's path, from the bottom up. Only the first `constants.archiveProofNodes` are used, because
   * the tree's account has the others.
   */
  proof: readonly Uint8Array[];
}

export interface CreateTreeAccountInput {
  payer: PublicKey;
  /** Address of a new keypair, which signs. */
  tree: PublicKey;
  /** Rent of `constants.archiveTreeBytes` bytes on this cluster. */
  lamports: number;
}

/** Creates a tree's account; must come before `createArchive`. Signs: payer, tree. */
export function createTreeAccount({ payer, tree, lamports }: CreateTreeAccountInput): TransactionInstruction {
  const space = constants.archiveTreeBytes;
  const accounts = { fromPubkey: payer, newAccountPubkey: tree };
  return SystemProgram.createAccount({ ...accounts, lamports, space, programId: PROGRAM_ID });
}

export interface CreateArchiveInput {
  payer: PublicKey;
  /** Made by `createTreeAccount` and not yet in use. */
  tree: PublicKey;
  /** 0, or the next index after an archive that is nine tenths full. */
  index: number;
}

/** Registers an archive and its tree. Signs: payer. */
export function createArchive(input: CreateArchiveInput): TransactionInstruction {
  const { index } = input;
  // Anchor takes the program's own address for an omitted account.
  const previous = index === 0 ? PROGRAM_ID : findArchive(index - 1);
  return buildInstruction('create_archive', { ...input, archive: findArchive(index), previous });
}

const treeSeed = (index: number): string => `archive ${index}`;

/** Address of the tree that `makeArchive` creates for this payer. It needs no keypair. */
export function findSeededTree(payer: PublicKey, index: number): PublicKey {
  return new PublicKey(sha256(concatBytes(payer.toBytes(), utf8ToBytes(treeSeed(index)), PROGRAM_ID.toBytes())));
}

export interface MakeArchiveInput {
  payer: PublicKey;
  /** 0, or the next index after an archive that is nine tenths full. */
  index: number;
  /** Rent of `constants.archiveTreeBytes` bytes on this cluster. */
  lamports: number;
  /** Lamports already at the tree's address: anyone may have sent some. */
  held: number;
}

/** Creates a tree at the payer's seeded address and registers its archive, in one transaction. Signs: payer. */
export function makeArchive({ payer, index, lamports, held }: MakeArchiveInput): TransactionInstruction[] {
  const tree = findSeededTree(payer, index);
  const missing = lamports - held;
  return [
    ...(missing > 0 ? [SystemProgram.transfer({ fromPubkey: payer, toPubkey: tree, lamports: missing })] : []),
    // Unlike creating an account, this works if the address already holds lamports.
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
  /** The archive's index. */
  index: number;
  /** As stored in the archive. */
  tree: PublicKey;
  /** At most `constants.maxArchivedRecords`; executions that cannot be archived now are skipped. */
  executions: { record: PublicKey; rentSponsor: PublicKey }[];
}

/** Turns ended executions into leaves and returns their rent to their sponsors. Nobody signs. */
export function archiveExecutions({ index, tree, executions }: ArchiveExecutionsInput): TransactionInstruction {
  const instruction = buildInstruction('archive_executions', { archive: findArchive(index), tree });
  for (const pubkey of executions.flatMap(({ record, rentSponsor }) => [record, rentSponsor])) {
    instruction.keys.push({ pubkey, isSigner: false, isWritable: true });
  }
  return instruction;
}
