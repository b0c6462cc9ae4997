/**
 * A hook that runs after all tests of the program. It fails for every error and event of the IDL that no test has
 * produced on a VM. It also fails for errors that an instruction returned without documenting them, or documents but
 * never returned.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { seen } from '../harness/vm/outcome.ts';

interface Documented {
  name: string;
  docs: string[];
}

/** Instructions with their documentation, which the IDL in the SDK leaves out. */
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

/** Errors that the program documents for all instructions. */
const OF_ALL = /(Unsound|Insolvent|Overspent|ArithmeticOverflow)$/;
/** Bounds of settings. All instructions check them by the same code, so each error must be seen only once. */
const OF_SETTINGS = /OutOfBounds$/;

const errorOf = (refusal: string) => refusal.split(': ')[1]!;

/** `instruction: error` for each name after `Errors:`. */
function documentedErrors({ name, docs }: Documented, errors: string[]): string[] {
  const listed = /Errors: ([^.]*)\./.exec(docs.join(' '))?.[1] ?? '';
  const names = listed.split(', ').filter((word) => word !== '');
  const bounds = errors.filter((error) => OF_SETTINGS.test(error));
  return names
    .flatMap((error) => (error === 'the OutOfBounds errors' ? bounds : error))
    .map((error) => `${name}: ${error}`);
}
