/**
 * The copy of the repository under target/mutants, in which mutants are built and tested. The working tree may change
 * during a run of an hour, and a mutant must never be mistaken for the program.
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
const PROGRAM = ['programs', 'scripts/idl', 'Cargo.toml', 'Cargo.lock'];
const TESTS = [
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
const SOURCES = 'programs/marketplace/src';

/** Sorted paths, relative to `root`, of all files at or below `path`. Empty if it does not exist. */
export function filesBelow(path: string, root = TREE): string[] {
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

/** Hashes that identify results: of the mutated files, and of the files that test them. */
export interface Copy {
  program: string;
  tests: string;
}

/** Synchronizes the copy with the working tree. Unchanged files are not touched, so cargo does not rebuild them. */
export function copyTree(): Copy {
  const wanted = [...PROGRAM, ...TESTS].flatMap((path) => filesBelow(path, ROOT));
  const stale = new Set([...PROGRAM, ...TESTS].flatMap((path) => filesBelow(path)));
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
  const rust = [SOURCES, 'Cargo.lock', 'Cargo.toml', 'programs/marketplace/Cargo.toml'];
  return {
    program: hashOf(rust.flatMap((path) => filesBelow(path))),
    tests: hashOf(['tests', 'app'].flatMap((path) => filesBelow(path))),
  };
}

/** Paths, relative to the root, and contents of the program's Rust files. */
export function readSources(): { file: string; text: string }[] {
  const files = filesBelow(SOURCES).filter((file) => file.endsWith('.rs') && !file.endsWith('/tests.rs'));
  return files.map((file) => ({ file, text: readFileSync(join(TREE, file), 'utf8') }));
}

/** Writes a file of the copy, for example a source with one changed operator. */
export function rewrite(file: string, text: string): void {
  writeFileSync(join(TREE, file), text);
}
