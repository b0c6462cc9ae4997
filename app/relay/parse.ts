/**
 * Checks untrusted values against a schema. A value that does not fit becomes one ApiError with its name and the rule.
 */
import type { z } from 'zod';
import { parseAddress } from '../sdk/program/program.ts';
import type { RequestIssue } from '../sdk/wire/errorDetails.ts';
import { valueAt } from '../sdk/wire/own.ts';
import { ApiError } from './errors.ts';
import { JsonError, parseJsonObject } from './json.ts';

type Part = RequestIssue['in'];

/** The noun for a member of each part of a request. */
const NOUNS: Record<Part, string> = { body: 'field', query: 'query parameter', header: 'header' };
/** zod's names of types, in words. */
const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};
/** Maximum faults in one answer. */
const MAX_ISSUES = 20;
const MAX_SHOWN = 60;

/** True for the base58 text of an address. */
export function isAddress(text: string): boolean {
  try {
    return parseAddress(text).toBase58() === text;
  } catch {
    return false;
  }
}

/** Query parameters as text. Throws ApiError 400 if one is given twice. */
export function readQuery(url: string): Record<string, string> {
  const start = url.indexOf('?');
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(start < 0 ? '' : url.slice(start + 1))) {
    if (name in query) {
      const shown = name.slice(0, MAX_SHOWN);
      throw invalid(`The query parameter ${JSON.stringify(shown)} is given more than once`, {
        in: 'query',
        path: shown,
        expected: 'must be given once',
        got: show([query[name], value]),
      });
    }
    query[name] = value;
  }
  return { ...query };
}

/** Throws ApiError 400 if the address has a query: a misspelt parameter must not be ignored. */
export function requireNoQuery(url: string): void {
  const [name] = Object.keys(readQuery(url));
  if (name === undefined) return;
  const path = name.slice(0, MAX_SHOWN);
  const issue = { in: 'query', path, expected: 'no query parameter', got: 'one' } as const;
  throw invalid(`This route has no query parameter ${JSON.stringify(path)}`, issue);
}

/** Parses a part of a request. Throws ApiError 400 with all faults in its details. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, part: Part): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(explain(parsed.error, value, part, knownNames(schema)), ...issuesOf(parsed.error, value, part));
}

/** ApiError 400 with a message for people and issues for programs. */
export function invalid(message: string, ...issues: RequestIssue[]): ApiError<'invalid_request'> {
  return new ApiError('invalid_request', message, { details: { issues: issues.slice(0, MAX_ISSUES) } });
}

/** ApiError 400 for one field of the body that breaks a rule. */
export function invalidField(path: string, expected: string, value: unknown): ApiError<'invalid_request'> {
  return invalid(`The field ${JSON.stringify(path)} ${expected}`, { in: 'body', path, expected, got: show(value) });
}

/** The result of a reading that may have failed. It can pass between threads, or be thrown later. */
export type Reading<Value> = { value: Value } | { refusal: { message: string; issues: RequestIssue[] } };

/** The result of `read`, or the ApiError 400 that it throws. */
export function tryReading<Value>(read: () => Value): Reading<Value> {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    const { issues } = (error as ApiError<'invalid_request'>).details as { issues: RequestIssue[] };
    return { refusal: { message: error.message, issues } };
  }
}

/** The value of a reading. Throws ApiError 400 if it failed. */
export function requireValue<Value>(reading: Reading<Value>): Value {
  if ('value' in reading) return reading.value;
  throw invalid(reading.refusal.message, ...reading.refusal.issues);
}

/** The first fault, in words. */
export function explain(error: z.ZodError, value: unknown, part: Part, known: string[] = []): string {
  const noun = NOUNS[part];
  const issue = error.issues[0];
  if (!issue) return `The ${noun}s are not valid`;
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const name = [path, issue.keys[0]].filter(Boolean).join('.');
    const hint = path === '' && known.length > 0 ? `. Allowed: ${known.join(', ')}` : '';
    return `Unknown ${noun} ${quote(name)}${hint}`;
  }
  if (path === '') return `The ${noun}s are not valid: ${issue.message}`;
  if (isMissing(issue, value)) return `The ${noun} ${quote(path)} is missing`;
  const rule = ruleOf(issue);
  return `The ${noun} ${quote(path)} ${/^must /.test(rule) ? rule : `is not valid: ${rule}`}; got ${show(valueAt(value, issue.path))}`;
}

/** All faults, for programs. */
export function issuesOf(error: z.ZodError, value: unknown, part: Part): RequestIssue[] {
  return error.issues.flatMap((issue): RequestIssue[] => {
    if (issue.code !== 'unrecognized_keys') {
      const expected = isMissing(issue, value) ? mustBe(issue) : ruleOf(issue);
      return [
        { in: part, path: shorten(issue.path.map(String).join('.')), expected, got: show(valueAt(value, issue.path)) },
      ];
    }
    return issue.keys.map((key) => {
      const path = [...issue.path, key];
      const expected = `no ${NOUNS[part]} with this name`;
      return { in: part, path: shorten(path.map(String).join('.')), expected, got: show(valueAt(value, path)) };
    });
  });
}

/** The JSON object of a body. Throws ApiError 400 if it is not one. */
export function readObject(bytes: Uint8Array): Record<string, unknown> {
  try {
    return parseJsonObject(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw jsonFault(error, 'a JSON object');
    throw error;
  }
}

/** ApiError 400 for a body that is not the expected `what`. */
export function jsonFault(error: JsonError, what: string): ApiError<'invalid_request'> {
  if (error.wrong) {
    const { expected, got } = error.wrong;
    const path = shorten(error.wrong.path);
    return invalid(`The field ${JSON.stringify(path)} ${expected}`, { in: 'body', path, expected, got });
  }
  const expected = `must be ${what} in UTF-8, at most 64 levels deep, without duplicate names in an object`;
  return invalid(`The body must be ${what}: ${error.message}`, { in: 'body', path: '', expected, got: error.message });
}

/** A value for an answer: a short one as JSON, a longer one as its type and length. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `a ${typeof value} of ${String(value).length} characters`;
}

/** The broken rule: the schema's own words, or plain ones in place of zod's. */
function ruleOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' && issue.message.startsWith('Invalid input') ? mustBe(issue) : issue.message;
}

function mustBe({ expected }: z.core.$ZodIssueInvalidType): string {
  return `must be ${TYPES[expected] ?? `a ${expected}`}`;
}

function isMissing(issue: z.core.$ZodIssue, value: unknown): issue is z.core.$ZodIssueInvalidType {
  return issue.code === 'invalid_type' && valueAt(value, issue.path) === undefined;
}

function knownNames(schema: z.ZodType): string[] {
  return Object.keys((schema as { shape?: object }).shape ?? {});
}

/** A name for a message: short, on one line. */
function quote(name: string): string {
  return JSON.stringify(shorten(name));
}

function shorten(name: string): string {
  return name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}...` : name;
}
