/** A stranger's values through a schema: what does not fit becomes one ApiError that names it and says what is right. */
import type { z } from 'zod';
import { ApiError } from './errors.ts';
import type { JsonError } from './json.ts';

/** Parses `value`. Throws ApiError 400; `noun` is what its members are called, such as "query parameter". */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, noun: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ApiError('invalid_request', explain(parsed.error, value, noun, knownNames(schema)));
}

/** The first thing that is wrong, in words. */
export function explain(error: z.ZodError, value: unknown, noun: string, known: string[] = []): string {
  const issue = error.issues[0];
  if (!issue) return `The ${noun}s are not valid`;
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const name = [path, issue.keys[0]].filter(Boolean).join('.');
    const hint = path === '' && known.length > 0 ? `; there are ${known.join(', ')}` : '';
    return `There is no ${noun} ${quote(name)}${hint}`;
  }
  if (path === '') return `The ${noun}s are not valid: ${issue.message}`;
  if (issue.code === 'invalid_type' && at(value, issue.path) === undefined)
    return `The ${noun} ${quote(path)} is missing`;
  const rule = /^must /.test(issue.message) ? issue.message : `is not valid: ${issue.message}`;
  return `The ${noun} ${quote(path)} ${rule}`;
}

/** ApiError 400 for a body that is not the JSON it must be. */
export function bodyFault(error: JsonError): ApiError {
  return new ApiError('invalid_request', `The body must be a JSON object: ${error.message}`);
}

function at(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<PropertyKey, unknown> | undefined)?.[step], value);
}

function knownNames(schema: z.ZodType): string[] {
  return Object.keys((schema as { shape?: object }).shape ?? {});
}

/** A name as it may stand in a message: short, on one line. */
function quote(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}...` : name);
}
