/** What runs: the release by package.json, and the commit of the checkout. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** Digits of a commit that are shown. */
const SHOWN = 12;

export interface Build {
  release: string;
  /** The first digits of the commit; null without Git or its files, as in the image. */
  build: string | null;
}

function readRelease(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

function readCommit(): string | null {
  try {
    // With the folder named, Git does not mind that the files belong to another user.
    const words = ['--git-dir', join(ROOT, '.git'), 'rev-parse', 'HEAD'];
    return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).slice(0, SHOWN);
  } catch {
    return null;
  }
}

export const BUILD: Build = { release: readRelease(), build: readCommit() };
