/** Runs last: fails for every error and event of the IDL that no test of this run has seen a VM produce. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { seen } from '../harness/vm/outcome.ts';

describe('coverage of the program', () => {
  it('every error was produced', () => {
    const missing = program.idl
      .errors!.map(({ code }) => program.errorFromCode(code)!.name)
      .filter((name) => !seen.errors.has(name));
    expect(missing).to.deep.equal([]);
  });

  it('every event was produced', () => {
    expect(program.idl.events!.map(({ name }) => name).filter((name) => !seen.events.has(name))).to.deep.equal([]);
  });
});
