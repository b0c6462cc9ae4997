/**
 * A hook for a run of all tests of the program: after the last of them it fails for every error and event of the IDL
 * that none of them has seen a VM produce, and for every error that an instruction returned without documenting it, or
 * documents and never returned.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { seen } from '../harness/vm/outcome.ts';

interface Documented {
  name: string;
  docs: string[];
}

/** With their documentation, which the IDL as loaded leaves out. */
const { instructions }: { instructions: Documented[] } = JSON.parse(
  readFileSync('app/sdk/program/idl/marketplace.json', 'utf8'),
);

after(() => {
  const errors = program.idl.errors!.map(({ code }) => program.errorFromCode(code)!.name);
  const events = program.idl.events!.map(({ name }) => name);
  const missing = {
    errors: errors.filter((name) => !seen.errors.has(name)),
    events: events.filter((name) => !seen.events.has(name)),
  };
  expect(missing, 'errors and events that no test has produced').to.deep.equal({ errors: [], events: [] });
  const refusals = [...seen.refusals].filter((refusal) => errors.includes(errorOf(refusal)));
  const documented = new Set(instructions.flatMap((instruction) => documentedErrors(instruction, errors)));
  const undocumented = refusals.filter((refusal) => !documented.has(refusal) && !OF_ALL.test(refusal)).sort();
  expect(undocumented, 'errors that an instruction returned and does not document').to.deep.equal([]);
  const unseen = [...documented].filter((refusal) => !seen.refusals.has(refusal) && !OF_SETTINGS.test(refusal)).sort();
  expect(unseen, 'errors that an instruction documents and no test has seen it return').to.deep.equal([]);
});

/** What the program documents for all instructions. */
const OF_ALL = /(Unsound|Insolvent|Overspent|ArithmeticOverflow)$/;
/** All settings are checked in one place, so that it is enough to see each bound once. */
const OF_SETTINGS = /OutOfBounds$/;

const errorOf = (refusal: string) => refusal.split(': ')[1]!;

/** `instruction: error` for each name behind `Errors:`. */
function documentedErrors({ name, docs }: Documented, errors: string[]): string[] {
  const listed = /Errors: ([^.]*)\./.exec(docs.join(' '))?.[1] ?? '';
  const names = listed.split(', ').filter((word) => word !== '');
  const bounds = errors.filter((error) => OF_SETTINGS.test(error));
  return names
    .flatMap((error) => (error === 'the OutOfBounds errors' ? bounds : error))
    .map((error) => `${name}: ${error}`);
}
