/** Checks callers' `parameters` against a creator's input schema before money moves, and explains all faults. */
import type { ErrorObject } from 'ajv';
import { LRUCache } from 'lru-cache';
import { valueAt } from '../../sdk/wire/own.ts';
import type { Schema } from '../../sdk/wire/schemas/rules.ts';
import { show } from '../parse.ts';
import { type Ask, inThread } from '../workers.ts';
import { type CompiledSchema, compileSchema } from './schemas/compile.ts';
import { OutOfTime, SMALL_LIMIT_MS, WORK_LIMIT_MS, withinWork } from './schemas/timeLimit.ts';

/** One fault of `parameters`: the path, as `parameters.name`, and the expected value. */
export interface ParameterFault {
  path: string;
  expected: string;
  /** The actual value, safe to show in an answer. */
  got: string;
  /** The same as a sentence for the caller. */
  message: string;
}

/** All faults of `parameters`, or the first one of large parameters; empty if they fit. */
type ParameterCheck = (parameters: Record<string, unknown>) => ParameterFault[];

/** Larger parameters get only their first fault. */
const MAX_FULLY_TOLD_VALUES = 1_000;
const MAX_FAULTS = 20;
/** Maximum forms of a union in a message. */
const MAX_FORMS = 4;
/** Up to these sizes, compiling a schema and reading parameters take 3 ms at most. */
const SMALL_PARAMETERS = 8 * 1024;
const SMALL_SCHEMA = 2 * 1024;
/** For a schema with patterns, which take longest to compile. */
const SMALL_PATTERNS = 256;
/** After a small check took too long, the listing's checks run only in a thread for this long. */
const SLOW_MS = 60_000;
/** Compiled checks cached per thread: about 100 KB each at worst. */
const MAX_KEPT = 500;

const checkInThread = inThread(import.meta.url, checkParametersNow);

/** True if a schema compiles fast enough for the main thread. */
export function isSmallSchema(text: string): boolean {
  // An escape could hide the keyword.
  return text.length <= (/attern|\\u/.test(text) ? SMALL_PATTERNS : SMALL_SCHEMA);
}

/** Checks a listing's parameters, which come as JSON. Rejects with ApiError if it cannot run now. */
export type CheckParameters = (ask: Ask, parameters: string) => Promise<ParameterFault[]>;

export function createParameterCheck(schema: Schema): CheckParameters {
  let text: string | undefined;
  let check: ParameterCheck | undefined;
  let slowUntil = 0;

  return async (ask, parameters) => {
    // Built on first use: lists read many schemas and execute few agents.
    text ??= JSON.stringify(schema);
    if (isSmallSchema(text) && parameters.length <= SMALL_PARAMETERS && performance.now() >= slowUntil) {
      try {
        return withinWork(SMALL_LIMIT_MS, () => {
          const small = check ?? compileParameterCheck(schema);
          // An interrupted check is in an undefined state.
          check = undefined;
          const faults = small(JSON.parse(parameters));
          check = small;
          return faults;
        });
      } catch (error) {
        if (!(error instanceof OutOfTime)) throw error;
        slowUntil = performance.now() + SLOW_MS;
      }
    }
    return checkInThread(ask, { schema: text, parameters });
  };
}

const kept = new LRUCache<string, ParameterCheck>({ max: MAX_KEPT });

export function checkParametersNow({ schema, parameters }: { schema: string; parameters: string }): ParameterFault[] {
  const value = JSON.parse(parameters);
  try {
    return withinWork(WORK_LIMIT_MS, () => {
      const check = kept.get(schema) ?? compileParameterCheck(JSON.parse(schema));
      // An interrupted check is in an undefined state.
      kept.delete(schema);
      const faults = check(value);
      kept.set(schema, check);
      return faults;
    });
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    const expected = 'must be smaller: checking them against this agent’s schema takes too long';
    return [{ path: 'parameters', expected, got: show(value), message: `parameters ${expected}` }];
  }
}

/** Compiles a schema that `findInputSchemaFaults` has passed. Neither this nor the check has a time limit. */
export function compileParameterCheck(schema: Schema): ParameterCheck {
  const first = compileSchema(schema, { allErrors: false });
  let all: CompiledSchema | undefined;
  return (parameters) => {
    const faultsBy = (compiled: CompiledSchema) => describe(compiled(parameters), parameters).slice(0, MAX_FAULTS);
    const faults = faultsBy(first);
    // Large parameters may have a fault in each of a million values.
    if (faults.length === 0 || !hasFewerValuesThan(parameters, MAX_FULLY_TOLD_VALUES)) return faults;
    // Compiled on the first fault, because most calls have none.
    all ??= compileSchema(schema, { allErrors: true });
    return faultsBy(all);
  };
}

function hasFewerValuesThan(value: unknown, most: number): boolean {
  let left = most;
  const visit = (one: unknown): boolean => {
    left -= 1;
    if (left <= 0) return false;
    return typeof one !== 'object' || one === null || Object.values(one).every(visit);
  };
  return visit(value);
}

/** A fault before it becomes text; `steps` lead to the value. */
interface Found {
  steps: string[];
  expected: string;
  words: string;
}

/**
 * Ajv reports the faults of each form of a union, and then the union. The reader needs one fault: that no form fits,
 * and why.
 */
function describe(errors: ErrorObject[], parameters: Record<string, unknown>): ParameterFault[] {
  const found: Found[] = [];
  for (const error of errors) {
    const steps = stepsOf(error.instancePath);
    const isUnion = error.keyword === 'anyOf' || error.keyword === 'oneOf';
    if (isUnion) {
      const forms: Found[] = [];
      while (found.length > 0 && isWithin(found.at(-1)!.steps, steps)) forms.unshift(found.pop()!);
      found.push(describeUnion(steps, forms));
    } else found.push(describeError(error, steps));
  }
  const told = new Map(found.map((fault) => [`${fault.steps.join('.')} ${fault.words}`, fault]));
  return [...told.values()].map(({ steps, expected, words }) => {
    const path = ['parameters', ...steps].join('.');
    return { path, expected, got: show(valueAt(parameters, steps)), message: `${path} ${words}` };
  });
}

function describeUnion(steps: string[], forms: Found[]): Found {
  const same = forms[0]?.steps ?? steps;
  // If all forms fail at the same place, such as a tag, that place is the fault.
  const isOnePlace = forms.every((form) => form.steps.join('/') === same.join('/'));
  const place = isOnePlace ? same : steps;
  const rules = forms.map((form) => {
    const inner = form.steps.slice(place.length).join('.');
    return isOnePlace ? form.expected : [inner, form.words].filter(Boolean).join(' ');
  });
  const different = [...new Set(rules)];
  const shown = different.slice(0, MAX_FORMS).join(', or ');
  const rest = different.length > MAX_FORMS ? ', or another alternative' : '';
  const expected =
    different.length === 0
      ? 'must match exactly one alternative of the schema'
      : isOnePlace
        ? `${shown}${rest}`
        : `must match one alternative of the schema: ${shown}${rest}`;
  return { steps: place, expected, words: expected };
}

function describeError(error: ErrorObject, steps: string[]): Found {
  const rule = (expected: string, words = expected, path = steps): Found => ({ steps: path, expected, words });
  switch (error.keyword) {
    case 'required':
      return rule('is required', 'is missing', [...steps, error.params.missingProperty]);
    case 'additionalProperties': {
      const path = [...steps, error.params.additionalProperty];
      return rule('no parameter with this name', 'is not a parameter of this agent', path);
    }
    case 'false schema':
      return rule('no parameter at this path', 'is not a parameter of this agent');
    case 'enum':
      return rule(`must be one of ${shorten(error.params.allowedValues)}`);
    case 'const':
      return rule(`must be ${shorten(error.params.allowedValue)}`);
    case 'type':
      return rule(`must be ${[error.params.type].flat().join(' or ')}`);
    case 'pattern':
      return rule(`must match the pattern ${shorten(error.params.pattern)}`);
    case 'propertyNames':
      return rule(`must not contain the name ${shorten(error.params.propertyName)}`);
    default:
      return rule(error.message ?? 'must fit the input schema');
  }
}

/** Shortens a creator's value for a message. */
function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  // The cut may be within a character, whose half some programs cannot print.
  return text.length > 300 ? `${text.slice(0, 300).toWellFormed()}...` : text;
}

function isWithin(steps: string[], outer: string[]): boolean {
  return outer.every((step, index) => steps[index] === step);
}

function stepsOf(instancePath: string): string[] {
  const steps = instancePath.split('/').slice(1);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
