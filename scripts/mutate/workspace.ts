/**
 * The copy of the repository that mutants are made and tested in, under target/mutants: the working tree may change
 * while a run of an hour goes on, and a mutant must never be mistaken for the program.
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
/** The copy. */
export const TREE = join(FOLDER, 'tree');
const PROGRAM = ['programs', 'scripts/idl', 'Cargo.toml', 'Cargo.lock'];
const TESTS = [
  'tests',
  'app',
  'indexer',
  'migrations',
  'scripts',
  'package.json',
  'tsconfig.json',
  '.mocharc.json',
  'ARCHITECTURE.md',
];
const SOURCES = 'programs/marketplace/src';

/** Paths of all files at or below one, from `root`, sorted; none where there is nothing. */
export function filesBelow(path: string, root = TREE): string[] {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found ? [path] : [];
  const names = readdirSync(join(root, path)).filter((name) => name !== 'node_modules' && name !== 'target');
  return names.sort().flatMap((name) => filesBelow(`${path}/${name}`, root));
}

/** SHA-256 in hex over paths and bytes. */
function hashOf(files: string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(TREE, file)));
  return hash.digest('hex');
}

/** The hashes by which results are kept: of what is mutated, and of what tests it. */
export interface Copy {
  program: string;
  tests: string;
}

/** Makes the copy the same as the working tree. A file that is the same stays untouched, so that cargo knows it. */
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

/** The program's Rust files, paths from the root, with their texts. */
export function readSources(): { file: string; text: string }[] {
  const files = filesBelow(SOURCES).filter((file) => file.endsWith('.rs'));
  return files.map((file) => ({ file, text: readFileSync(join(TREE, file), 'utf8') }));
}

/** Writes a file of the copy, such as a source without one constraint. */
export function rewrite(file: string, text: string): void {
  writeFileSync(join(TREE, file), text);
}
