/**
 * A reader's terminal. Blocks of the pages are pasted into it one after another, in a folder that looks like the
 * repository, while `npm start` runs. Variables survive from block to block. Commands put into the background with `&`
 * run until the end.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Block, blocksOf, ROOT } from './markdown.ts';

/** A command that prints nothing for this long hangs. */
const PATIENCE_MS = 120_000;
/** How often a silent command is checked. */
const CHECK_MS = 1_000;

/** Replacements for words such as ADDRESS. */
export type Fillings = Record<string, string>;

/**
 * `folder` is empty or holds a copy of the project; it outlives the terminal. `dataDir` is the network's. `test` is the
 * test file: only blocks marked as run by it are pasted.
 */
export function createTerminal(folder: string, dataDir: string, test: string) {
  const pasted = new Set<string>();
  const shells: ChildProcess[] = [];
  for (const name of ['app', 'scripts', 'node_modules', 'package.json', 'tsconfig.json']) {
    if (!existsSync(join(folder, name))) symlinkSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(dataDir, join(folder, '.local'));
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
  mkdirSync(join(folder, 'shell'));
  writeFileSync(join(folder, 'shell', 'variables'), '');

  const nameOf = ({ page, line }: Block): string => `${page}:${line}`;
  const ours = (page: string): Block[] =>
    blocksOf(page).filter(({ mark, language }) => mark === `run by ${test}` && language === 'sh');

  /** Runs a command as a shell does and returns its output. Throws with the output if it fails. */
  async function type(text: string): Promise<string> {
    // Each command has its own output files, because background processes of earlier commands go on writing.
    const nth = shells.length;
    const file = (name: string): string => join(folder, 'shell', name);
    const printed = (): string[] => ['stdout', 'stderr'].map((name) => readFileSync(file(`${name}-${nth}`), 'utf8'));
    for (const name of ['stdout', 'stderr']) writeFileSync(file(`${name}-${nth}`), '');
    writeFileSync(file('block'), `set -a\n. shell/variables\nset -e\n${text}\nexport -p > shell/variables\n`);
    // Output goes to files: a background process would keep a pipe open.
    const script = `exec > shell/stdout-${nth} 2> shell/stderr-${nth}; . shell/block`;
    const { DATA_DIR, MARKETPLACE_URL, SOLANA_RPC_URL, SOLANA_WS_URL, SOLANA_KEYPAIR, INIT_CWD, ...env } = process.env;
    const shell = spawn('sh', ['-c', script], { cwd: folder, env, detached: true, stdio: 'ignore' });
    shells.push(shell);
    let code: number | null | undefined;
    const ended = once(shell, 'exit').then(([status]) => {
      code = status;
    });
    let [seen, seenAt] = ['', Date.now()];
    while (code === undefined && Date.now() - seenAt < PATIENCE_MS) {
      await Promise.race([ended, delay(CHECK_MS)]);
      const now = printed().join('');
      if (now !== seen) [seen, seenAt] = [now, Date.now()];
    }
    const [stdout = '', stderr = ''] = printed();
    expect(code, `${text}\n${stdout}\n${stderr}`).to.equal(0);
    return stdout;
  }

  return {
    type,
    /** Pastes the next block of the page that this test runs. Throws if a word to be replaced is missing. */
    paste(page: string, fillings: Fillings = {}): Promise<string> {
      const block = ours(page).find((candidate) => !pasted.has(nameOf(candidate)));
      if (!block) throw new Error(`${page} has no other block that ${test} runs`);
      pasted.add(nameOf(block));
      let { text } = block;
      for (const [word, value] of Object.entries(fillings)) {
        expect(text, nameOf(block)).to.include(word);
        text = text.replaceAll(word, value);
      }
      return type(text);
    },
    /** Blocks of these pages that are marked as run by this test, but were not. */
    left: (pages: string[]): string[] =>
      pages
        .flatMap(ours)
        .map(nameOf)
        .filter((name) => !pasted.has(name)),
    /** The output of the latest command and of its background processes so far. */
    printed: (): string =>
      ['stdout', 'stderr']
        .map((name) => readFileSync(join(folder, 'shell', `${name}-${shells.length - 1}`), 'utf8'))
        .join(''),
    /** Kills the background processes. */
    close(): void {
      for (const { pid } of shells) {
        try {
          process.kill(-pid!, 'SIGKILL');
        } catch {
          // None of its processes is left.
        }
      }
    },
  };
}
