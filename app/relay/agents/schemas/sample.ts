/**
 * Builds minimal parameters for an input schema, as an example: required properties only, as short as the bounds allow,
 * with the first form of a union. Further rules, such as a pattern, are not guessed.
 */

import Big from 'big.js';
import { own } from '../../../sdk/wire/own.ts';
import { isObject, resolveRef, type Schema } from '../../../sdk/wire/schemas/rules.ts';
import { ownWork } from '../../workers.ts';
import type { CheckParameters } from '../parameters.ts';

/** More items than an example needs; a schema that requires more has no sample. */
const MAX_ITEMS = 100;
const MAX_TEXT = 10_000;
/** Of the creator's own examples, so many are tried: each is checked against the schema. */
const MAX_EXAMPLES = 3;
/** Schemas, their properties and characters of text in one sample: lists within lists would grow without bound. */
const MAX_SIZE = 20_000;

const FORMATTED: Record<string, string> = {
  date: '2026-01-01',
  time: '00:00:00Z',
  'date-time': '2026-01-01T00:00:00Z',
  duration: 'PT1S',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** Example parameters. `fits` is false if the schema accepts none of the samples. */
export async function sampleParameters(
  root: Schema,
  check: CheckParameters,
): Promise<{ parameters: Schema; fits: boolean }> {
  const candidates = [...listOf(root.examples).slice(0, MAX_EXAMPLES), ...sampleWithin(root)].filter(isObject);
  for (const parameters of candidates) {
    if ((await check(ownWork, JSON.stringify(parameters))).length === 0) return { parameters, fits: true };
  }
  return { parameters: candidates.at(-1) ?? {}, fits: false };
}

/** The schema that references start from, and the remaining size of the sample. */
interface Whole {
  root: Schema;
  left: number;
}

class TooLarge extends Error {}

function spend(whole: Whole, size: number): void {
  whole.left -= size;
  if (whole.left < 0) throw new TooLarge();
}

/** The sample; empty if it would be too large. */
function sampleWithin(root: Schema): unknown[] {
  try {
    return [sampleOf(root, { root, left: MAX_SIZE })];
  } catch (error) {
    if (error instanceof TooLarge) return [];
    throw error;
  }
}

function sampleOf(given: unknown, whole: Whole): unknown {
  const schema = settle(given, whole);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [example] = listOf(schema.examples);
  if (example !== undefined) return example;
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, whole);
    case 'array':
      return sampleArray(schema, whole);
    case 'number':
    case 'integer':
      return sampleNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return own(FORMATTED, String(schema.format)) ?? sampleText(schema, whole);
  }
}

function sampleText({ minLength = 1 }: Schema, whole: Whole): string {
  const length = Math.min(Math.max(1, Number(minLength)), MAX_TEXT);
  spend(whole, length);
  return 'x'.repeat(length);
}

/** One schema without references and unions: all required parts, and the first form of each union. */
function settle(given: unknown, whole: Whole): Schema {
  if (!isObject(given)) return {};
  const { $ref, allOf, anyOf, oneOf, ...beside } = given;
  spend(whole, 1 + Object.keys(beside.properties ?? {}).length);
  const parts = [
    ...(typeof $ref === 'string' ? [resolveRef(whole.root, $ref)] : []),
    ...listOf(allOf),
    ...listOf(anyOf).slice(0, 1),
    ...listOf(oneOf).slice(0, 1),
  ].map((part) => settle(part, whole));
  // Keywords beside a reference or a union, such as a default, are more specific and win.
  const all = [...parts, beside];
  return {
    ...Object.assign({}, ...all),
    required: all.flatMap((part) => listOf(part.required)),
    properties: Object.assign({}, ...all.map((part) => part.properties)),
  };
}

function typeOf(schema: Schema): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type !== undefined) return type;
  if (listOf(schema.required).length > 0 || Object.keys(schema.properties as object).length > 0) return 'object';
  return schema.items !== undefined || schema.prefixItems !== undefined ? 'array' : 'string';
}

function sampleObject({ properties, required, additionalProperties }: Schema, whole: Whole): Schema {
  const known = properties as Record<string, unknown>;
  const names = new Set(listOf(required).map(String));
  return Object.fromEntries(
    [...names].map((name) => [name, sampleOf(own(known, name) ?? additionalProperties, whole)]),
  );
}

function sampleArray({ prefixItems, items, minItems }: Schema, whole: Whole): unknown[] {
  const first = listOf(prefixItems);
  return Array.from({ length: Math.min(Number(minItems ?? 0), MAX_ITEMS) }, (_, index) =>
    sampleOf(index < first.length ? first[index] : items, whole),
  );
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The whole number, or the multiple, that is within the bounds and nearest to 0. */
function sampleNumber(schema: Schema): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<
    string,
    number | undefined
  >;
  const step = Big(multipleOf ?? 1);
  const within = (bound: number | undefined) => (bound === undefined ? [] : [stepsTo(bound, step, Big.roundUp)]);
  const beyond = (bound: number | undefined, side: 1 | -1) =>
    bound === undefined ? [] : [stepsTo(bound, step, Big.roundDown).plus(side)];
  const least = [...within(minimum), ...beyond(exclusiveMinimum, 1)].filter((steps) => steps.gt(0));
  const most = [...within(maximum), ...beyond(exclusiveMaximum, -1)].filter((steps) => steps.lt(0));
  const furthest = [...least, ...most].sort((one, other) => other.abs().cmp(one.abs()))[0] ?? Big(0);
  return furthest.times(step).toNumber();
}

/** Number of steps from 0 to the bound; `mode` rounds away from 0 or towards it. */
function stepsTo(bound: number, step: Big, mode: typeof Big.roundUp | typeof Big.roundDown): Big {
  return Big(bound).div(step).round(0, mode);
}
