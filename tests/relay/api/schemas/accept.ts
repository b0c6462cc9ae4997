/** Checks a creator's schema as the relay does, or returns its faults. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compileParameterCheck } from '../../../../app/relay/agents/parameters.ts';
import { findInputSchemaFaults } from '../../../../app/sdk/wire/schemas/faults.ts';
import { type EmittedType, emitTypes } from './zod.ts';

export type Json = Record<string, unknown>;

interface Emitted {
  version: string;
  types: EmittedType[];
}

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, 'emitted', `${name}.json`), 'utf8'));

/** What emit.py wrote with pydantic. Of the oldest of three minor versions there are the types that differ. */
export const PYDANTIC: Emitted[] = ['pydantic-2.14', 'pydantic-2.12'].map(read);
/** Models as a whole, by the newest version. */
export const MODELS: { input: Json; openai: { tool: { function: { parameters: Json } } } } = read('pydantic-2.14');
/** What zod emits: the installed version, and an older one where it differs. */
export const ZOD: Emitted[] = [read('zod-4.4'), { version: 'as installed', types: emitTypes() }];

/** Asserts that the schema is accepted, and returns its parameter check. */
export function accept(schema: unknown) {
  expect(findInputSchemaFaults(schema as Json, 'input_schema')).to.deep.equal([]);
  const check = compileParameterCheck(schema as Json);
  return (parameters: Json) => check(parameters).map(({ message }) => message);
}

export const faultsOf = (schema: Json) =>
  findInputSchemaFaults(schema, 'input_schema').map(({ path, expected }) => `${path} ${expected}`);

export const ofA = (a: unknown, more: Json = {}): Json => ({ type: 'object', properties: { a }, ...more });
