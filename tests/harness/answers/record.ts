/** Stores the validator's answers in the repository, one line per question. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answers } from './ask.ts';

const RECORD = join(import.meta.dirname, '..', '..', 'local', 'answers.json');

export function readAnswers(): Answers {
  return JSON.parse(readFileSync(RECORD, 'utf8'));
}

export function writeAnswers(answers: Answers): void {
  const lines = Object.entries(answers).map(([name, answer]) => `${JSON.stringify(name)}: ${JSON.stringify(answer)}`);
  writeFileSync(RECORD, `{\n${lines.join(',\n')}\n}\n`);
}
