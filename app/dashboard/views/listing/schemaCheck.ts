/** The rules of schemas for the editor. RE2 makes it large, so it is loaded only where schemas are edited. */
import { findInputSchemaFaults, findSchemaFaults, type SchemaFault } from '../../../sdk/wire/schemas/faults.ts';
import type { Schema } from '../../../sdk/wire/schemas/rules.ts';
import type { JsonFault } from '../../parts/jsonEditor.tsx';

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
