/** A creator's schema as the relay takes it, or what it says against it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compileParameterCheck } from '../../../../app/relay/agents/parameters.ts';
import { findInputSchemaFaults } from '../../../../app/sdk/wire/schemas/faults.ts';

/** What emit.py and others wrote. */
export const EMITTED = JSON.parse(readFileSync(join(import.meta.dirname, 'emitted.json'), 'utf8'));

export type Json = Record<string, unknown>;

/** The check of a schema that is accepted. */
export function accept(schema: unknown) {
  expect(findInputSchemaFaults(schema as Json, 'input_schema')).to.deep.equal([]);
  const check = compileParameterCheck(schema as Json);
  return (parameters: Json) => check(parameters).map(({ message }) => message);
}

export const faultsOf = (schema: Json) =>
  findInputSchemaFaults(schema, 'input_schema').map(({ path, expected }) => `${path} ${expected}`);

export const ofA = (a: unknown, more: Json = {}): Json => ({ type: 'object', properties: { a }, ...more });
