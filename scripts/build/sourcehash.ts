// One number for everything that decides the bytes of the programs: their sources, manifests and lock file, and the
// build itself. BUILD.json carries it, so that a stale artifact is noticed without compiling anything.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './process.ts';

const FOLDERS = [
  'programs/marketplace/src',
  'tests/program/caller/src',
  'tests/program/verifier/src',
  'scripts/build',
  'scripts/idl',
];
const FILES = [
  'Cargo.lock',
  'Cargo.toml',
  'programs/marketplace/Cargo.toml',
  'tests/program/caller/Cargo.toml',
  'tests/program/verifier/Cargo.toml',
  'scripts/buildProgram.ts',
];

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** SHA-256 in hex over path, length and bytes of each file, in the order of the paths. */
export function sourceHash(): string {
  const hash = createHash('sha256');
  for (const path of [...FOLDERS.flatMap(filesBelow), ...FILES].sort()) {
    const bytes = readFileSync(join(ROOT, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}
