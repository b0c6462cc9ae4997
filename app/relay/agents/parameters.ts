/** Callers' `parameters` against a creator's input schema, before money moves: all that is wrong, in words. */
import type { ErrorObject } from 'ajv';
import { LRUCache } from 'lru-cache';
import type { Schema } from '../../sdk/wire/schemas/rules.ts';
import { show } from '../parse.ts';
import { inThread } from '../workers.ts';
import { type CompiledSchema, compileSchema, MAX_WORK, TooMuchWork } from './schemas/compile.ts';

/** One thing that is wrong with `parameters`: where, as `parameters.name`, and what is right there. */
export interface ParameterFault {
  path: string;
  expected: string;
  /** What came instead, as it may stand in an answer. */
  got: string;
  /** The same in words for the caller. */
  message: string;
}

/** Everything that is wrong with `parameters`, of large ones what was found first; empty where they fit. */
export type ParameterCheck = (parameters: Record<string, unknown>) => ParameterFault[];

/** Larger parameters are told their first fault: each of a million values may have one. */
const MAX_FULLY_TOLD_VALUES = 1_000;
const MAX_FAULTS = 20;
/** As many forms of a union as a message names. */
const MAX_FORMS = 4;
/** Up to here parameters and schema are handled at once: 3 ms to compile the worst, or to read the worst. */
const SMALL_PARAMETERS = 8 * 1024;
const SMALL_SCHEMA = 2 * 1024;
/** Of a schema with patterns, which take longest to compile. */
const SMALL_PATTERNS = 256;
/** Work that is done at once, in units of compile.ts: about 3 ms. What is more begins again in a thread. */
const SMALL_WORK = 150_000;
/** Compiled checks that a thread keeps: about 100 KB each at the worst. */
const MAX_KEPT = 500;

const checkInThread = inThread('requests', import.meta.url, checkParametersNow);

/** Whether a schema compiles in so little time that nobody is held up by it. */
export function isSmallSchema(text: string): boolean {
  // An escape could spell the keyword otherwise.
  return text.length <= (/attern|\\u/.test(text) ? SMALL_PATTERNS : SMALL_SCHEMA);
}

/** The check of one listing's parameters, which come as JSON. It rejects with ApiError 503 where it cannot be made now. */
export function createParameterCheck(schema: Schema): (parameters: string) => Promise<ParameterFault[]> {
  let text: string | undefined;
  let quick: ParameterCheck | undefined;
  return async (parameters) => {
    // Lists read many schemas and execute few agents.
    text ??= JSON.stringify(schema);
    if (!isSmallSchema(text) || parameters.length > SMALL_PARAMETERS)
      return checkInThread({ schema: text, parameters });
    quick ??= compile(schema, SMALL_WORK);
    try {
      return quick(JSON.parse(parameters));
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      return checkInThread({ schema: text, parameters });
    }
  };
}

const kept = new LRUCache<string, ParameterCheck>({
  max: MAX_KEPT,
  memoMethod: (schema) => compileParameterCheck(JSON.parse(schema)),
});

export function checkParametersNow({ schema, parameters }: { schema: string; parameters: string }): ParameterFault[] {
  return kept.memo(schema)(JSON.parse(parameters));
}

/** Compiles a schema that `findInputSchemaFaults` has passed. */
export function compileParameterCheck(schema: Schema): ParameterCheck {
  const check = compile(schema, MAX_WORK);
  return (parameters) => {
    try {
      return check(parameters);
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      const expected = 'must be smaller: checking them against this agent’s schema takes too long';
      return [{ path: 'parameters', expected, got: show(parameters), message: `parameters ${expected}` }];
    }
  };
}

/** Throws TooMuchWork where more is to be done. */
function compile(schema: Schema, maxWork: number): ParameterCheck {
  const first = compileSchema(schema, { allErrors: false, maxWork });
  let all: CompiledSchema | undefined;
  return (parameters) => {
    const errors = first.validate(parameters);
    if (errors.length === 0) return [];
    if (!hasFewerValuesThan(parameters, MAX_FULLY_TOLD_VALUES)) return describe(errors, parameters);
    // Compiled when the first caller needs it, because most agents are called well.
    all ??= compileSchema(schema, { allErrors: true, maxWork });
    return describe(all.validate(parameters), parameters).slice(0, MAX_FAULTS);
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

/** A fault on the way to being told; `steps` lead to the value. */
interface Found {
  steps: string[];
  expected: string;
  words: string;
}

/**
 * Ajv names what is wrong with each form of a union, and after them the union. Whoever reads it wants one fault: that
 * none of the forms fits, and why.
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
    return { path, expected, got: show(at(parameters, steps)), message: `${path} ${words}` };
  });
}

function describeUnion(steps: string[], forms: Found[]): Found {
  const same = forms[0]?.steps ?? steps;
  // Where all forms miss in one place, such as a tag, that place is what is wrong.
  const isOnePlace = forms.every((form) => form.steps.join('/') === same.join('/'));
  const place = isOnePlace ? same : steps;
  const rules = forms.map((form) => {
    const inner = form.steps.slice(place.length).join('.');
    return isOnePlace ? form.expected : [inner, form.words].filter(Boolean).join(' ');
  });
  const different = [...new Set(rules)];
  const shown = different.slice(0, MAX_FORMS).join(', or ');
  const rest = different.length > MAX_FORMS ? ', or another form' : '';
  const expected =
    different.length === 0
      ? 'must fit exactly one form of the schema'
      : isOnePlace
        ? `${shown}${rest}`
        : `must fit one form of the schema: ${shown}${rest}`;
  return { steps: place, expected, words: expected };
}

function describeError(error: ErrorObject, steps: string[]): Found {
  const rule = (expected: string, words = expected, path = steps): Found => ({ steps: path, expected, words });
  switch (error.keyword) {
    case 'required':
      return rule('is required', 'is missing', [...steps, error.params.missingProperty]);
    case 'additionalProperties': {
      const path = [...steps, error.params.additionalProperty];
      return rule('no parameter of this name', 'is not a parameter of this agent', path);
    }
    case 'false schema':
      return rule('no parameter here', 'is not a parameter of this agent');
    case 'enum':
      return rule(`must be one of ${shorten(error.params.allowedValues)}`);
    case 'const':
      return rule(`must be ${shorten(error.params.allowedValue)}`);
    case 'type':
      return rule(`must be ${[error.params.type].flat().join(' or ')}`);
    case 'pattern':
      return rule(`must match the pattern ${shorten(error.params.pattern)}`);
    case 'propertyNames':
      return rule(`must not hold the name ${shorten(error.params.propertyName)}`);
    default:
      return rule(error.message ?? 'must fit the input schema');
  }
}

/** A value of the creator's in a message. */
function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}

function isWithin(steps: string[], outer: string[]): boolean {
  return outer.every((step, index) => steps[index] === step);
}

function stepsOf(instancePath: string): string[] {
  const steps = instancePath.split('/').slice(1);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function at(value: unknown, steps: string[]): unknown {
  return steps.reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined | null)?.[name], value);
}
