/**
 * A root hook for a run of all tests of the program, by mocha's `--require`: after the last of them it fails for every
 * error and event of the IDL that none of them has seen a VM produce.
 */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { seen } from '../harness/vm/outcome.ts';

export const mochaHooks = {
  afterAll(): void {
    const errors = program.idl.errors!.map(({ code }) => program.errorFromCode(code)!.name);
    const events = program.idl.events!.map(({ name }) => name);
    const missing = {
      errors: errors.filter((name) => !seen.errors.has(name)),
      events: events.filter((name) => !seen.events.has(name)),
    };
    expect(missing, 'errors and events that no test has produced').to.deep.equal({ errors: [], events: [] });
  },
};
