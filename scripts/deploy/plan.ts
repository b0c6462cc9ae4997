/** Computes the steps and the price of a deployment on this cluster. It only reads, and sends nothing. */
import type { AccountInfo, Connection, Keypair, PublicKey } from '@solana/web3.js';
import { describeInactive, inactiveFeatures, NEEDED_FEATURES } from '../../app/solana/features.ts';
import {
  BUFFER_HEADER,
  decodeBuffer,
  decodeProgramData,
  findProgramDataOf,
  isProgram,
  LEAST_EXTENSION,
  LOADER,
  PROGRAM_BYTES,
  PROGRAM_DATA_HEADER,
} from './loader.ts';
import { chunksOf, writeTransaction } from './write.ts';

/** If active, only SBPF v3 or newer can be deployed (SIMD-0500). */
const ONLY_V3 = { key: 'B8JJXCy5amZyWG9r7EnUYLwzXSXTxG7GZ1qZ1qggo83g', name: 'SIMD-0500', reason: '' };
const OLDEST_DEPLOYED = 3;
/** Offset of the flags in an ELF file. They are the SBPF version. */
const ELF_FLAGS = 48;
const ELF_HEADER = 64;

export interface Deployment {
  connection: Connection;
  /** Pays, and owns the buffer and the program. */
  wallet: Keypair;
  programId: PublicKey;
  /** The program's key, which signs the first deployment; null if not available. */
  program: Keypair | null;
  buffer: PublicKey;
  /** The program's file, as named in messages, and its content. */
  file: string;
  bytes: Buffer;
  skipFeatureCheck: boolean;
}

/** All amounts in lamports. */
export interface Plan {
  action: 'deploy' | 'upgrade' | 'none';
  /** True if an earlier run created the buffer. */
  bufferExists: boolean;
  /** Permanent rent that program and program data lack. Negative if they hold too much. */
  rent: number;
  /** Locked in the buffer and returned at the end. */
  bufferRent: number;
  /** Bytes by which the program's account is extended before an upgrade. */
  extension: number;
  transactions: number;
  fees: number;
  /** Total decrease of the wallet's balance at the end. */
  price: number;
  /** The largest decrease at any time on the way. */
  needed: number;
  balance: number;
}

/** Throws if the deployment cannot succeed, with advice what to do. */
export async function planDeployment(deployment: Deployment): Promise<Plan> {
  const { connection, wallet, programId, buffer, bytes } = deployment;
  requireElf(deployment);
  if (!deployment.skipFeatureCheck) await requireDeployable(deployment);
  const keys = [programId, findProgramDataOf(programId), buffer, wallet.publicKey];
  const [program = null, data = null, held = null, payer = null] = await connection.getMultipleAccountsInfo(keys);
  const balance = payer?.lamports ?? 0;
  const present = presentProgram(deployment, program, data);
  const nothing = { bufferExists: held !== null, rent: 0, bufferRent: 0, extension: 0, transactions: 0, fees: 0 };
  if (present && isSame(present.bytes, bytes)) return { action: 'none', ...nothing, price: 0, needed: 0, balance };
  if (present) requireAuthority(deployment, present.authority);
  const chunks = chunksOf(bytes, heldBytes(deployment, held));

  const rentOf = (length: number) => connection.getMinimumBalanceForRentExemption(length);
  const extension = present && bytes.length > present.bytes.length ? extensionTo(bytes, present.bytes) : 0;
  const room = PROGRAM_DATA_HEADER + (present ? present.bytes.length + extension : bytes.length);
  const bufferRent = held?.lamports ?? (await rentOf(BUFFER_HEADER + bytes.length));
  const dataRent = (await rentOf(room)) - (data?.lamports ?? 0);
  const programRent = present ? 0 : await rentOf(PROGRAM_BYTES);
  // The last transaction deploys or upgrades. The keys of a new buffer and a new program sign too.
  const transactions = (held ? 0 : 1) + chunks.length + (extension > 0 ? 1 : 0) + 1;
  const signatures = transactions + (held ? 0 : 1) + (present ? 0 : 1);
  const fees = signatures * (await feePerSignature(deployment));
  const rent = dataRent + programRent;
  const lent = held ? 0 : bufferRent;
  const returned = held ? bufferRent : 0;
  return {
    action: present ? 'upgrade' : 'deploy',
    bufferExists: held !== null,
    rent,
    bufferRent,
    extension,
    transactions,
    fees,
    price: fees + rent - returned,
    // The loader returns the buffer's lamports before it takes those of the program data. An extension comes earlier.
    needed: fees + lent + (present ? Math.max(0, dataRent) : programRent + Math.max(0, dataRent - bufferRent)),
    balance,
  };
}

/** Throws if the file is no program, or was compiled for another id: it would refuse every instruction. */
function requireElf({ bytes, file, programId }: Deployment): void {
  const isElf = bytes.length >= ELF_HEADER && bytes.subarray(0, 4).toString('latin1') === '\x7fELF';
  if (!isElf) throw new Error(`${file} is not a program: it is not an ELF file.`);
  if (bytes.includes(Buffer.from(programId.toBytes()))) return;
  throw new Error(
    `${file} was not compiled for the program id ${programId}, so every instruction would fail. Set declare_id! to ${programId} in programs/marketplace/src/lib.rs, then run npm run build:program (docs/devnet.md).`,
  );
}

async function requireDeployable({ connection, bytes, file }: Deployment): Promise<void> {
  const version = bytes.readUInt32LE(ELF_FLAGS);
  const inactive = await inactiveFeatures(connection, [...NEEDED_FEATURES, ONLY_V3]);
  const missing = inactive.filter((feature) => feature !== ONLY_V3);
  if (missing.length > 0) throw new Error(`${describeInactive(missing)}\nNothing was spent.`);
  if (version >= OLDEST_DEPLOYED || inactive.includes(ONLY_V3)) return;
  throw new Error(
    `${file} is SBPF v${version}, and this cluster accepts only v${OLDEST_DEPLOYED} or newer (feature ${ONLY_V3.key}, SIMD-0500). Nothing was spent. To build one of v${OLDEST_DEPLOYED}, run npm run build:program.`,
  );
}

/** The deployed program; null if there is none. Throws if none can be deployed to this address. */
function presentProgram(
  { programId, program: key }: Deployment,
  program: AccountInfo<Buffer> | null,
  data: AccountInfo<Buffer> | null,
): ReturnType<typeof decodeProgramData> {
  if (program === null && data !== null) {
    throw new Error(
      `Somebody sent lamports to ${findProgramDataOf(programId)}, so the loader can no longer deploy ${programId}. Use another program keypair.`,
    );
  }
  if (program === null) {
    if (key) return null;
    throw new Error(
      `There is no program at ${programId} yet, and the program's key must sign the first deployment. Give the key with --program-keypair FILE. If you do not have it, use a new key (docs/devnet.md).`,
    );
  }
  if (!program.owner.equals(LOADER) || !isProgram(program.data)) {
    throw new Error(`${programId} is already used by an account of ${program.owner}. Use another program keypair.`);
  }
  const decoded = data && decodeProgramData(data.data);
  if (decoded) return decoded;
  throw new Error(
    `The program ${programId} was closed, and its address cannot be used again. Use another program keypair.`,
  );
}

function requireAuthority({ programId, wallet }: Deployment, authority: PublicKey | null): void {
  if (authority?.equals(wallet.publicKey)) return;
  const who = authority
    ? `its upgrade authority is ${authority}, and ANCHOR_WALLET is ${wallet.publicKey}`
    : 'it is immutable';
  throw new Error(
    `Another version of the program ${programId} is deployed, and this wallet cannot upgrade it: ${who}.`,
  );
}

/** Compares the bytes. The spare space behind a program is zeros. */
function isSame(present: Buffer, bytes: Buffer): boolean {
  return present.subarray(0, bytes.length).equals(bytes) && present.subarray(bytes.length).every((byte) => byte === 0);
}

function extensionTo(bytes: Buffer, present: Buffer): number {
  return Math.max(bytes.length - present.length, LEAST_EXTENSION);
}

/** The content of the buffer; zeros if it does not exist yet. Throws if the buffer cannot be used. */
function heldBytes({ buffer, wallet, bytes }: Deployment, account: AccountInfo<Buffer> | null): Buffer {
  if (account === null) return Buffer.alloc(bytes.length);
  const { authority, bytes: held } = requireBuffer(buffer, wallet.publicKey, account);
  if (held.length === bytes.length) return held;
  throw new Error(
    `The buffer ${buffer} of ${authority} was created for a program of ${held.length} bytes, but this program has ${bytes.length}. Return its lamports with --close-buffer, then try again.`,
  );
}

/** Throws if the account is not a buffer of this wallet. */
export function requireBuffer(
  buffer: PublicKey,
  wallet: PublicKey,
  account: AccountInfo<Buffer>,
): { authority: PublicKey; bytes: Buffer } {
  const decoded = account.owner.equals(LOADER) ? decodeBuffer(account.data) : null;
  if (!decoded) throw new Error(`${buffer} is not a buffer. Give another keypair with --buffer-keypair.`);
  const { authority, bytes } = decoded;
  if (authority?.equals(wallet)) return { authority, bytes };
  throw new Error(
    `The buffer ${buffer} belongs to ${authority ?? 'nobody'}, and ANCHOR_WALLET is ${wallet}. Give another keypair with --buffer-keypair.`,
  );
}

async function feePerSignature({ connection, wallet, buffer }: Deployment): Promise<number> {
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = writeTransaction(wallet.publicKey, buffer, { offset: 0, bytes: Buffer.alloc(1) }, blockhash);
  const { value } = await connection.getFeeForMessage(transaction.compileMessage());
  if (value === null)
    throw new Error('The node does not report the fee of a transaction. Try again, or use another node.');
  return value;
}
