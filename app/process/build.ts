/** What runs: the release by package.json, and the commit by the checkout's Git files, without a Git. */
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** Digits of a commit that are shown. */
const SHOWN = 12;

export interface Build {
  release: string;
  /** The first digits of the commit; null without Git files. */
  build: string | null;
}

function readRelease(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

function readCommit(): string | null {
  try {
    const [own, shared] = readFolders();
    const head = readText(own, 'HEAD');
    const [, ref] = /^ref: (.+)$/.exec(head) ?? [];
    return (ref === undefined ? head : readRef(shared, ref)).slice(0, SHOWN);
  } catch {
    return null;
  }
}

const readText = (...path: string[]): string => readFileSync(join(...path), 'utf8').trim();

/** The folder of HEAD, and that of the refs, which is another one in a linked worktree. */
function readFolders(): [own: string, shared: string] {
  const git = join(ROOT, '.git');
  if (statSync(git).isDirectory()) return [git, git];
  const own = resolve(ROOT, readText(git).replace(/^gitdir: /, ''));
  return [own, resolve(own, readText(own, 'commondir'))];
}

function readRef(folder: string, ref: string): string {
  try {
    return readText(folder, ref);
  } catch {
    const line = readText(folder, 'packed-refs')
      .split('\n')
      .find((one) => one.endsWith(` ${ref}`));
    if (line === undefined) throw new Error(`no commit of ${ref}`);
    return line;
  }
}

export const BUILD: Build = { release: readRelease(), build: readCommit() };
