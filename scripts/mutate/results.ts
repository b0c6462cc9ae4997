/**
 * Stores the result of each mutant as a line of JSON in target/mutants/results.jsonl, so that an interrupted run can
 * continue, and computes the final figures.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant, Outcome, Verdict } from './mutant.ts';
import { type Copy, FOLDER } from './workspace.ts';

const FILE = join(FOLDER, 'results.jsonl');

/** A mutant that no test can kill. Identified by file and text, because line numbers change. */
interface Explained {
  /** The end of the file's path. */
  file: string;
  /** The condition or constraint, as shown in the report. */
  text: string;
  why: string;
}

const EXPLAINED: Explained[] = [
  {
    file: 'state/config.rs',
    text: 'tiers.len() <= self.tiers.len()',
    why: 'the account has room for four tiers; a count of five makes used_tiers empty, which the invariant refuses with the same error',
  },
];

interface Line extends Copy, Verdict {
  id: string;
}

export class Results {
  private readonly verdicts = new Map<string, Line>();

  /** Loads the results for exactly this program. */
  constructor(private readonly copy: Copy) {
    if (!existsSync(FILE)) return;
    for (const text of readFileSync(FILE, 'utf8').split('\n').filter(Boolean)) {
      const line = JSON.parse(text) as Line;
      if (line.program === copy.program) this.verdicts.set(line.id, line);
    }
  }

  get(id: string): Verdict | undefined {
    return this.verdicts.get(id);
  }

  /** True if the result is valid. A surviving mutant is repeated after the tests have changed. */
  isKnown(id: string): boolean {
    const line = this.verdicts.get(id);
    if (!line) return false;
    return !['survived', 'timeout'].includes(line.outcome) || line.tests === this.copy.tests;
  }

  set(id: string, verdict: Verdict): void {
    const line: Line = { id, ...this.copy, ...verdict };
    this.verdicts.set(id, line);
    appendFileSync(FILE, `${JSON.stringify(line)}\n`);
  }
}

export interface Score {
  mutants: number;
  killed: number;
  survived: number;
  timedOut: number;
  absent: number;
  notRun: number;
  /** Percentage killed of those that ran; null if none did. */
  score: number | null;
}

export interface Living {
  place: string;
  text: string;
  outcome: Outcome;
  /** Why no test can kill it; null if unknown. */
  why: string | null;
}

export interface Report {
  scores: Partial<Record<Mutant['kind'], Score>>;
  /** Mutants that survived, timed out, or are not in the binary. */
  living: Living[];
}

export function scoreOf(mutants: Mutant[], results: Results): Score {
  const count = (outcome: Outcome) => mutants.filter((mutant) => results.get(mutant.id)?.outcome === outcome).length;
  const killed = count('killed');
  const survived = count('survived');
  const timedOut = count('timeout');
  const ran = killed + survived + timedOut;
  const absent = count('absent');
  const notRun = mutants.length - ran - absent;
  const score = ran === 0 ? null : Math.round((1000 * killed) / ran) / 10;
  return { mutants: mutants.length, killed, survived, timedOut, absent, notRun, score };
}

export function livingOf(mutants: Mutant[], results: Results): Living[] {
  return mutants.flatMap((mutant) => {
    const outcome = results.get(mutant.id)?.outcome;
    if (!outcome || outcome === 'killed') return [];
    const why = EXPLAINED.find(({ file, text }) => mutant.file.endsWith(file) && mutant.text === text)?.why ?? null;
    return [{ place: `${mutant.file}:${mutant.line}`, text: mutant.text, outcome, why }];
  });
}

/** Formats the report as text. */
export function tableOf({ scores, living }: Report): string {
  const heads = ['Mutants', 'all', 'killed', 'survived', 'timed out', 'absent', 'not run', 'score'];
  const rows = Object.entries(scores).map(([kind, one]) => {
    const { mutants, killed, survived, timedOut, absent, notRun, score } = one;
    return [kind, mutants, killed, survived, timedOut, absent, notRun, score === null ? '-' : `${score} %`];
  });
  const lines = [heads, ...rows].map((cells) => cells.map((cell) => String(cell).padStart(10)).join(''));
  for (const { place, text, outcome, why } of living) {
    lines.push(
      '',
      `${outcome}  ${place}`,
      `  ${text}`,
      `  ${why ?? 'NOT EXPLAINED: add a test that fails without it.'}`,
    );
  }
  return lines.join('\n');
}
