/**
 * Stores the result of each mutant as a line of JSON in target/mutants/results.jsonl, so that an interrupted run can
 * continue, and computes the final figures.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Verdict } from './mutant.ts';
import type { Mutant } from './relay.ts';
import { FOLDER } from './workspace.ts';

const FILE = join(FOLDER, 'results.jsonl');

interface Line extends Verdict {
  id: string;
  /** Hash of the tests, and of the code around the mutants. */
  tests: string;
}

export class Results {
  private readonly verdicts = new Map<string, Line>();

  constructor(private readonly tests: string) {
    if (!existsSync(FILE)) return;
    for (const text of readFileSync(FILE, 'utf8').split('\n').filter(Boolean)) {
      const line = JSON.parse(text) as Line;
      this.verdicts.set(line.id, line);
    }
  }

  get(id: string): Verdict | undefined {
    return this.verdicts.get(id);
  }

  /** True if the result is valid. A surviving mutant is repeated after the tests have changed. */
  isKnown(id: string): boolean {
    const line = this.verdicts.get(id);
    return line !== undefined && (line.outcome === 'killed' || line.tests === this.tests);
  }

  set(id: string, verdict: Verdict): void {
    const line: Line = { id, tests: this.tests, ...verdict };
    this.verdicts.set(id, line);
    appendFileSync(FILE, `${JSON.stringify(line)}\n`);
  }
}

/** The figures, and the mutants that survived or timed out. */
export function reportOf(mutants: Mutant[], results: Results) {
  const count = (outcome: Outcome) => mutants.filter(({ id }) => results.get(id)?.outcome === outcome).length;
  const [killed, survived, timedOut] = [count('killed'), count('survived'), count('timeout')];
  const ran = killed + survived + timedOut;
  return {
    ...{ mutants: mutants.length, killed, survived, timedOut, notRun: mutants.length - ran },
    /** Percentage killed of those that ran; null if none did. */
    score: ran === 0 ? null : Math.round((1000 * killed) / ran) / 10,
    living: mutants.flatMap(({ id, file, line, text }) => {
      const outcome = results.get(id)?.outcome;
      return !outcome || outcome === 'killed' ? [] : [{ place: `${file}:${line}`, text, outcome }];
    }),
  };
}

/** Formats the report as text. */
export function tableOf({ living, ...figures }: ReturnType<typeof reportOf>): string {
  const lines = Object.entries(figures).map(
    ([name, figure]) => `${name.padEnd(10)}${String(figure ?? '-').padStart(8)}`,
  );
  for (const { place, text, outcome } of living) lines.push('', `${outcome}  ${place}`, `  ${text}`);
  return lines.join('\n');
}
