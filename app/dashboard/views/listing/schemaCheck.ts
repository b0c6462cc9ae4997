/** The rules of schemas for the editor. RE2 makes it large, so it is loaded only where schemas are edited. */
import { findInputSchemaFaults, findSchemaFaults, type SchemaFault } from '../../../sdk/wire/schemas/faults.ts';
import type { Schema } from '../../../sdk/wire/schemas/rules.ts';
import type { JsonFault } from '../../parts/jsonEditor.tsx';
import { type DraftErrors, readSchema } from './draft.ts';

type Find = (schema: Schema, where: string) => SchemaFault[];

const checkBy = (find: Find) => (value: unknown) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ path: '', message: 'must be a JSON Schema object' }];
  }
  // The root's name is empty, so faults of the root have an empty path.
  return find(value as Schema, '').map(
    ({ path, expected }): JsonFault => ({ path: path.replace(/^\./, ''), message: expected }),
  );
};

export const checkInput = checkBy(findInputSchemaFaults);
export const checkOutput = checkBy(findSchemaFaults);

/** The first fault of each of the two schemas. */
export function findSchemaErrors(input: string, output: string): DraftErrors {
  const first = (text: string, check: typeof checkInput) => {
    const [fault] = check(readSchema(text));
    return fault && `${fault.path} ${fault.message}`.trim();
  };
  const [inputFault, outputFault] = [first(input, checkInput), first(output, checkOutput)];
  return { ...(inputFault && { input_schema: inputFault }), ...(outputFault && { output_schema: outputFault }) };
}
