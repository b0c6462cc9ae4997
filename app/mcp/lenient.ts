/**
 * Takes what public hosts and their models send: null or nothing for what is absent, and numbers, lists and objects as
 * text. What the tools describe stays as strict as it was. Arguments that do not fit get an answer that says what to do
 * next.
 */
import { Transform } from 'node:stream';
import type { McpServer, StandardSchemaV1, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { own } from '../sdk/wire/own.ts';
import { parseJson } from '../sdk/wire/strictJson.ts';
import { failure } from './answers.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutNullMembers = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** Without null members at any depth. */
const withoutAnyNull = (value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(withoutNullMembers(value)).map(([name, one]) => [name, withoutAnyNull(one)]))
    : value;

const MEMBERS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
/** What an `initialize` may leave out. */
const HOST = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} };
const UNNAMED = { name: 'unknown', version: 'unknown' };

/**
 * A JSON-RPC message whose null members are absent, without members that the protocol does not have. The members of a
 * tool's arguments are left to the tool.
 */
export function lenientMessage(message: unknown): unknown {
  if (!isObject(message) || typeof message.method !== 'string') return message;
  const kept = Object.fromEntries(Object.entries(message).filter(([name]) => MEMBERS.includes(name)));
  const { params, id, ...rest } = kept;
  const isNotice = id === undefined || (id === null && message.method.startsWith('notifications/'));
  return { ...rest, ...(!isNotice && { id }), ...withParams(message.method, params) };
}

function withParams(method: string, params: unknown): { params?: unknown } {
  if (method === 'initialize') {
    const { clientInfo, ...given } = { ...HOST, ...(withoutAnyNull(params) as Json) };
    return { params: { ...given, clientInfo: isObject(clientInfo) ? { ...UNNAMED, ...clientInfo } : clientInfo } };
  }
  if (params === null || params === undefined || isNothing(params)) return {};
  if (!isObject(params)) return { params };
  const given = withoutNullMembers(params);
  if (typeof given.arguments === 'string') given.arguments = meantBy(given.arguments) ?? given.arguments;
  if (isNothing(given.arguments)) delete given.arguments;
  return { params: given };
}

/** An empty text, or the empty list that some languages write for an empty object. */
const isNothing = (value: unknown): boolean => value === '' || (Array.isArray(value) && value.length === 0);

/** Lines of JSON-RPC, each as `lenientMessage`. Broken lines are left to the reader. */
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
  const message = parsed(line.replace(/^\uFEFF/, ''));
  return message === undefined ? line : JSON.stringify(lenientMessage(message));
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
  const entries = Object.entries(given).map(([name, value]): [string, unknown] => {
    const property = own((properties ?? {}) as Record<string, Json>, name);
    return [name, property ? fit(value, property) : value];
  });
  // Models fill optional arguments with nothing instead of leaving them out.
  return Object.fromEntries(
    entries.filter(([name, value]) => (value !== null && value !== '') || needed.includes(name)),
  );
}

/** The value in the type that its schema shows, if it stands for one of this type. */
function fit(value: unknown, { type, pattern }: Json): unknown {
  // A schema without a type is the one of an agent's parameters, which are an object.
  const types = type === undefined ? ['object'] : [type].flat();
  if (typeof value === 'number' && types.length === 1 && types[0] === 'string') return String(value);
  if (isNothing(value) && types.includes('object') && !types.includes('array')) return {};
  if (typeof value !== 'string') return value;
  if (types.includes('string')) return pattern === undefined ? value : value.trim();
  const meant = meantBy(value);
  const kind = Array.isArray(meant) ? 'array' : typeof meant;
  if (meant === null || types.some((one) => one === kind || (one === 'integer' && kind === 'number'))) return meant;
  if (!types.includes('array')) return value;
  // A list with commas, also as Python writes it.
  const items = value.replace(/^\s*\[(.*)\]\s*$/s, '$1').split(',');
  return items.map((item) => item.trim().replace(/^(['"])(.*)\1$/, '$2')).filter((item) => item !== '');
}

/**
 * The value of a JSON text, also if it was written as JSON twice; undefined for any other text, and for JSON with more
 * than one meaning, such as a repeated name: the call would be paid with one of them.
 */
function meantBy(text: string): unknown {
  const meant = parsed(text, parseStrictly);
  return typeof meant === 'string' ? parsed(meant, parseStrictly) : meant;
}

const parseStrictly = (text: string) => parseJson(Buffer.from(text));

function parsed(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
