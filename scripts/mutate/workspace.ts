/**
 * The copy of the repository under target/mutants, in which mutants are tested. The working tree may change
 * during a run of an hour, and a mutant must never be mistaken for the relay.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../build/process.ts';

export const FOLDER = join(ROOT, 'target/mutants');
/** Path of the copy. */
export const TREE = join(FOLDER, 'tree');
const COPIED = [
  'programs',
  'tests',
  'app',
  'indexer',
  'migrations',
  'scripts',
  'examples',
  'clients',
  'docs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  '.mocharc.json',
  'ARCHITECTURE.md',
];

/** Sorted paths, relative to `root`, of all files at or below `path`. Empty if it does not exist. */
function filesBelow(path: string, root = TREE): string[] {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found ? [path] : [];
  const names = readdirSync(join(root, path)).filter((name) => name !== 'node_modules' && name !== 'target');
  return names.sort().flatMap((name) => filesBelow(`${path}/${name}`, root));
}

/** SHA-256 in hex over paths and contents. */
function hashOf(files: string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(TREE, file)));
  return hash.digest('hex');
}

/** Synchronizes the copy with the working tree. Returns the hash of tests and code. */
export function copyTree(): string {
  const wanted = COPIED.flatMap((path) => filesBelow(path, ROOT));
  const stale = new Set(COPIED.flatMap((path) => filesBelow(path)));
  for (const file of wanted) {
    stale.delete(file);
    const bytes = readFileSync(join(ROOT, file));
    const copy = join(TREE, file);
    if (existsSync(copy) && readFileSync(copy).equals(bytes)) continue;
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, bytes);
  }
  for (const file of stale) rmSync(join(TREE, file));
  const modules = join(TREE, 'node_modules');
  if (!existsSync(modules)) symlinkSync(join(ROOT, 'node_modules'), modules);
  return hashOf(['tests', 'app'].flatMap((path) => filesBelow(path)));
}

/** Writes a file of the copy, for example a source with one changed operator. */
export function rewrite(file: string, text: string): void {
  writeFileSync(join(TREE, file), text);
}
