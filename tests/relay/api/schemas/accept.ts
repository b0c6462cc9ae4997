/** Checks a creator's schema as the relay does, or returns its faults. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compileParameterCheck } from '../../../../app/relay/agents/parameters.ts';
import { findInputSchemaFaults } from '../../../../app/sdk/wire/schemas/faults.ts';

/** The schemas that emit.py and other tools emitted. */
export const EMITTED = JSON.parse(readFileSync(join(import.meta.dirname, 'emitted.json'), 'utf8'));

export type Json = Record<string, unknown>;

/** Asserts that the schema is accepted, and returns its parameter check. */
export function accept(schema: unknown) {
  expect(findInputSchemaFaults(schema as Json, 'input_schema')).to.deep.equal([]);
  const check = compileParameterCheck(schema as Json);
  return (parameters: Json) => check(parameters).map(({ message }) => message);
}

export const faultsOf = (schema: Json) =>
  findInputSchemaFaults(schema, 'input_schema').map(({ path, expected }) => `${path} ${expected}`);

export const ofA = (a: unknown, more: Json = {}): Json => ({ type: 'object', properties: { a }, ...more });
