/** Runs the tests that a mutant names until one fails. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Verdict } from './mutant.ts';
import { FOLDER, TREE } from './workspace.ts';

/** Enough for any of these files on a busy machine. */
const LIMIT_MS = 15 * 60_000;
const REPORT = join(FOLDER, 'report.json');
const MOCHA = join(createRequire(import.meta.url).resolve('mocha/package.json'), '..', 'bin', 'mocha.js');

interface Ended {
  code: number | null;
  output: string;
  timedOut: boolean;
}

/** Runs a command in the copy. At the time limit, kills it and all processes it started. */
function runLimited(command: string, args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: TREE, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended: Ended = { code: null, output: '', timedOut: false };
    const keep = (chunk: Buffer) => {
      ended.output = (ended.output + chunk).slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const end = () => {
      if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = setTimeout(() => {
      ended.timedOut = true;
      end();
    }, LIMIT_MS);
    process.once('exit', end);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      process.off('exit', end);
      resolve({ ...ended, code });
    });
  });
}

/** Runs these tests of the relay on the present copy, file by file, until the first failure. */
export async function judge(tests: string[]): Promise<Verdict> {
  const started = performance.now();
  const verdict = (outcome: Verdict['outcome'], by?: string): Verdict => {
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    return { outcome, seconds, ...(by !== undefined && { by }) };
  };
  for (const path of tests) {
    rmSync(REPORT, { force: true });
    const reporter = ['--bail', '--reporter', 'json', '--reporter-option', `output=${REPORT}`];
    const ended = await runLimited(process.execPath, [MOCHA, ...reporter, path]);
    if (ended.timedOut) return verdict('timeout');
    if (ended.code !== 0) return verdict('killed', failureOf(ended));
  }
  return verdict('survived');
}

/** The title of the first test that failed. A crashed process leaves no report. */
function failureOf({ output }: Ended): string {
  try {
    const { failures } = JSON.parse(readFileSync(REPORT, 'utf8')) as { failures: { fullTitle: string }[] };
    if (failures[0]) return failures[0].fullTitle;
  } catch {
    // Said below.
  }
  return `the test process ended: ${/^.*Error: .*$/m.exec(output)?.[0] ?? output.trim().slice(-200)}`;
}
