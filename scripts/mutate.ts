/**
 * `npm run mutate`: changes the relay where it handles money, one place at a time, and looks for a test that fails then.
 *
 * Claims, endings and deposits are changed in a copy of their sources. Results are kept in target/mutants, so the next
 * run continues from there. A mutant that survived or timed out is repeated only after the tests have changed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Verdict } from './mutate/mutant.ts';
import { findMutants, type Mutant } from './mutate/relay.ts';
import { Results, reportOf, tableOf } from './mutate/results.ts';
import { judge } from './mutate/tests.ts';
import { copyTree, FOLDER, rewrite, TREE } from './mutate/workspace.ts';
import { runScript, toMinutes } from './options.ts';

interface Options {
  minutes: number;
  file: string;
  json?: true;
}

/** Judges the mutant in the copy. Restores the file afterwards. */
async function judgeMutant({ file, edit, tests }: Mutant): Promise<Verdict> {
  const text = readFileSync(join(TREE, file), 'utf8');
  const { start, end, replacement } = edit;
  try {
    rewrite(file, text.slice(0, start) + replacement + text.slice(end));
    return await judge(tests);
  } finally {
    rewrite(file, text);
  }
}

/** Throws unless the tests pass without a mutation. */
async function requirePassing(results: Results, tests: string[]): Promise<void> {
  const id = `unchanged ${tests.join(', ')}`;
  if (results.get(id)?.outcome === 'survived' && results.isKnown(id)) return;
  console.error(`Running ${tests.join(', ')}, unchanged ...`);
  const verdict = await judge(tests);
  results.set(id, verdict);
  if (verdict.outcome !== 'survived') throw new Error(`The tests fail before any mutation: ${verdict.by ?? ''}`);
}

const digestOf = (id: string): string => createHash('sha256').update(id).digest('hex');

function tell(mutant: Mutant, { outcome, by, seconds }: Verdict): void {
  const killer = by ? `  by ${by.slice(0, 100)}` : '';
  console.error(`  ${outcome} ${mutant.file}:${mutant.line} ${mutant.text.slice(0, 80)} (${seconds} s)${killer}`);
}

async function mutate({ minutes, file, json }: Options): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  mkdirSync(FOLDER, { recursive: true });
  const results = new Results(copyTree());
  const mutants = findMutants().filter((mutant) => mutant.file.includes(file));
  // In the order of a hash, so that what a limited time allows is a sample of all.
  const left = mutants
    .filter((mutant) => !results.isKnown(mutant.id))
    .sort((a, b) => (digestOf(a.id) < digestOf(b.id) ? -1 : 1));
  console.error(`${left.length} of ${mutants.length} changes of the relay to test ...`);
  for (const mutant of left) {
    if (performance.now() >= end) break;
    await requirePassing(results, mutant.tests);
    const verdict = await judgeMutant(mutant);
    results.set(mutant.id, verdict);
    tell(mutant, verdict);
  }
  const report = reportOf(mutants, results);
  console.log(json ? JSON.stringify(report, null, 2) : tableOf(report));
  if (report.living.length > 0) process.exitCode = 1;
}

// Exiting also ends the running tests.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
await runScript(
  new Command('npm run mutate --')
    .description(
      "Mutation testing: changes the relay's claims, endings and deposits, one place at a time, and runs tests until one fails. Exit code 1 if a mutant survived.",
    )
    .option('--minutes <n>', 'start no new mutant after this time; the next run continues there', toMinutes, 60)
    .option('--file <part>', 'only files with this in their path, such as settle', '')
    .option('--json', 'print the result as one JSON object')
    .action(mutate),
);
