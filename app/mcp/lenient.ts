/**
 * Takes what public hosts and their models send: null for what is absent, and numbers, lists and objects as text. What
 * the tools describe stays as strict as it was. Arguments that do not fit get an answer that says what to do next.
 */
import { Transform } from 'node:stream';
import type { McpServer, StandardSchemaV1, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { own } from '../sdk/wire/own.ts';
import { failure } from './answers.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutNullMembers = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** A JSON-RPC message whose null members are absent. The members of a tool's arguments are left to the tool. */
export function withoutNulls(message: unknown): unknown {
  if (!isObject(message) || !('params' in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isObject(params)) return message;
  const given = withoutNullMembers(params);
  if (isObject(given.capabilities)) given.capabilities = withoutNullMembers(given.capabilities);
  if (typeof given.arguments === 'string') given.arguments = parsed(given.arguments) ?? given.arguments;
  return { ...rest, params: given };
}

/** Lines of JSON-RPC, each without its nulls. Broken lines are left to the reader. */
export function lenientLines(): Transform {
  let rest = '';
  return new Transform({
    decodeStrings: false,
    transform(chunk: Buffer | string, _encoding, done) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      done(null, lines.map((line) => `${lenientLine(line)}\n`).join(''));
    },
    flush: (done) => done(null, rest),
  });
}

function lenientLine(line: string): string {
  const message = parsed(line);
  return message === undefined ? line : JSON.stringify(withoutNulls(message));
}

/** Makes every tool that is added from now on lenient. */
export function makeLenient(server: McpServer): McpServer {
  const register = server.registerTool.bind(server) as (name: string, config: object, run: unknown) => never;
  server.registerTool = ((name: string, config: { inputSchema?: StandardSchemaWithJSON }, run: unknown) => {
    const { inputSchema } = config;
    return register(name, inputSchema ? { ...config, inputSchema: lenient(inputSchema) } : config, run);
  }) as typeof server.registerTool;
  return server;
}

/** The same schema, which first brings a tool's arguments into the form that it shows. */
function lenient(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const standard = schema['~standard'];
  const shown = standard.jsonSchema.input({ target: 'draft-2020-12' });
  return {
    '~standard': {
      ...standard,
      async validate(value) {
        // zod would drop it without a word, and the call would be paid without this parameter.
        const hidden = JSON.stringify(value ?? {}).includes('"__proto__":');
        const result = hidden
          ? { issues: [{ message: 'must not use the name __proto__' }] }
          : await standard.validate(fitted(value ?? {}, shown));
        return result.issues ? { issues: [{ message: refusalOf(result.issues, shown) }] } : result;
      },
    },
  };
}

function refusalOf(issues: readonly StandardSchemaV1.Issue[], { properties }: Json): string {
  const faults = issues.map(({ path = [], message }) => [...path, message].map(String).join(': '));
  const names = Object.keys(properties ?? {}).join(', ');
  const { content } = failure(`${faults.join('; ')}.`, `Correct this, then call again. The arguments are ${names}.`);
  return content[0]!.text;
}

function fitted(given: unknown, { properties, required }: Json): unknown {
  if (!isObject(given)) return given;
  const needed = Array.isArray(required) ? required : [];
  const entries = Object.entries(given).filter(([name, value]) => value !== null || needed.includes(name));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const property = own((properties ?? {}) as Record<string, Json>, name);
      return [name, property ? fit(value, property.type) : value];
    }),
  );
}

/** The value in the type that its schema shows, if it stands for one of this type. */
function fit(value: unknown, type: unknown): unknown {
  // A schema without a type is the one of an agent's parameters, which are an object.
  const types = type === undefined ? ['object'] : [type].flat();
  if (typeof value === 'number' && types.length === 1 && types[0] === 'string') return String(value);
  if (typeof value !== 'string' || types.includes('string')) return value;
  const meant = parsed(value);
  const kind = Array.isArray(meant) ? 'array' : typeof meant;
  if (meant !== null && types.some((one) => one === kind || (one === 'integer' && kind === 'number'))) return meant;
  if (!types.includes('array')) return value;
  const items = value.split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

/** The value of a JSON text; undefined for any other text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
