/**
 * Copies the project and gives it another program id, as a user does who holds the id's key: in `declare_id!`, the IDL
 * and the program. Compiling takes minutes, so the id and the addresses that the compiler derives from it are replaced
 * in the binary instead.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Keypair, PublicKey } from '@solana/web3.js';
import {
  findConfig,
  findEventAuthority,
  findTreasury,
  findUnclaimed,
  PROGRAM_ID,
} from '../../app/sdk/program/program.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['app', 'examples', 'indexer', 'migrations', 'programs', 'scripts'];
const FILES = 'Anchor.toml Cargo.toml clients/python/README.md package-lock.json package.json tsconfig.json'.split(' ');
const NOT_COPIED = ['node_modules', 'target'];
const ARTIFACT = 'programs/marketplace/artifact/marketplace.so';
const IDL = 'app/sdk/program/idl';

/** Addresses that the compiler derives from the program id, by seed. */
const DERIVED: [string, PublicKey][] = [
  ['config', findConfig()],
  ['treasury', findTreasury()],
  ['unclaimed', findUnclaimed()],
  ['__event_authority', findEventAuthority()],
];

/** Copies the project to an empty folder. The copy still has the committed id. */
export function copyProject(folder: string): void {
  for (const name of [...FOLDERS, ...FILES]) {
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !NOT_COPIED.includes(basename(path)),
    });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** A key whose derived addresses have the same bumps as the committed ones, which the binary contains. */
export function generateProgramKey(): Keypair {
  const bumps = DERIVED.map(([seed]) => derive(seed, PROGRAM_ID)[1]);
  for (;;) {
    const key = Keypair.generate();
    if (DERIVED.every(([seed], at) => derive(seed, key.publicKey)[1] === bumps[at])) return key;
  }
}

/** Has the effect of `npm run build:program` with this id in `declare_id!`. */
export function buildWithId(folder: string, id: PublicKey): void {
  const moved: [PublicKey, PublicKey][] = DERIVED.map(([seed, address]) => [address, derive(seed, id)[0]]);
  moved.push([PROGRAM_ID, id]);
  const program = join(folder, ARTIFACT);
  const bytes = readFileSync(program);
  for (const [from, to] of moved) replaceAddress(bytes, from, to);
  writeFileSync(program, bytes);
  for (const name of ['marketplace.json', 'marketplace.ts', 'idl.ts']) {
    const file = join(folder, IDL, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      moved.reduce((now, [from, to]) => now.replaceAll(from.toBase58(), to.toBase58()), text),
    );
  }
}

const derive = (seed: string, programId: PublicKey) => PublicKey.findProgramAddressSync([Buffer.from(seed)], programId);

/** The binary contains addresses as a whole, and in instructions as words of four bytes. */
export function replaceAddress(bytes: Buffer, from: PublicKey, to: PublicKey): void {
  const [old, fresh] = [Buffer.from(from.toBytes()), Buffer.from(to.toBytes())];
  for (let word = 0; word < old.length; word += 4) {
    const wanted = old.subarray(word, word + 4);
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 4))
      fresh.copy(bytes, at, word, word + 4);
  }
}
