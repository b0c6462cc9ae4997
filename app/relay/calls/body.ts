/**
 * Reads the body of a paid call: its fields, the canonical text of its parameters, and the hashes that identify it. The
 * parameters themselves are never kept as values, because a million small ones take long to copy.
 */
import canonicalize from 'canonicalize';
import { canonicalRequest } from '../../sdk/receipt/receipt.ts';
import { ExecuteBody, StartBody } from '../../sdk/wire/wire.ts';
import { digestOf } from '../digest.ts';
import { JsonError, parseJsonObject } from '../json.ts';
import { jsonFault, parse, type Reading, tryReading } from '../parse.ts';
import { type Ask, inThread } from '../workers.ts';

/** Up to this size a body is parsed in the main thread: 3 ms at worst, 0.1 ms for an ordinary one. */
const SMALL_BYTES = 8 * 1024;

/** `parameters` are canonical JSON by RFC 8785. `requestHash` is the hex SHA-256 of task and parameters. */
export type Canonical<Body> = Omit<Body, 'parameters'> & { parameters: string; requestHash: string };

/** The identity of a repeated request, read before its body is validated. */
export interface BodyIdentity {
  /** Hex SHA-256 of agent and canonical body. */
  fingerprint: string;
  /** Empty if there is no task. */
  requestHash: string;
  async: boolean;
}

/** `agentId` is null if the call cannot be repeated. */
interface ExecuteInput {
  bytes: Uint8Array;
  agentId: string | null;
}

/** `identity` is null if it is not requested, or if the bytes are not a JSON object. */
interface ExecuteReading {
  body: Reading<Canonical<ExecuteBody>>;
  identity: BodyIdentity | null;
}

const executeInThread = inThread(import.meta.url, readExecuteNow);
const startInThread = inThread(import.meta.url, readStartNow);

/**
 * Reads the body of `execute`, with its identity if `agentId` is given. Rejects with ApiError 503 if large bodies
 * cannot be read now.
 */
export async function readExecuteBody(ask: Ask, input: ExecuteInput): Promise<ExecuteReading> {
  return input.bytes.length <= SMALL_BYTES ? readExecuteNow(input) : executeInThread(ask, input);
}

/** Reads the body of `start`. Rejects like `readExecuteBody`. */
export async function readStartBody(ask: Ask, bytes: Uint8Array): Promise<Reading<Canonical<StartBody>>> {
  return bytes.length <= SMALL_BYTES ? readStartNow(bytes) : startInThread(ask, bytes);
}

export function readExecuteNow({ bytes, agentId }: ExecuteInput): ExecuteReading {
  const object = readOnce(bytes);
  const text = parametersOnce(object);
  return {
    body: tryReading(() => toCanonical(parse(ExecuteBody, object(), 'body'), text())),
    identity: agentId === null ? null : identify(agentId, object, text),
  };
}

export function readStartNow(bytes: Uint8Array): Reading<Canonical<StartBody>> {
  const object = readOnce(bytes);
  const text = parametersOnce(object);
  return tryReading(() => toCanonical(parse(StartBody, object(), 'body'), text()));
}

/** Parses the JSON object in the bytes. Each call of the result returns it, or throws the fault as ApiError 400. */
function readOnce(bytes: Uint8Array): () => Record<string, unknown> {
  try {
    const object = parseJsonObject(bytes);
    return () => object;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return () => {
      throw jsonFault(error, 'a JSON object');
    };
  }
}

/** The canonical text of the object's parameters, made once: a million small ones take long. */
function parametersOnce(object: () => Record<string, unknown>): () => string {
  let text: string | undefined;
  return () => {
    const { parameters = {} } = object();
    text ??= canonicalize(parameters)!;
    return text;
  };
}

function toCanonical<Body extends { task: string; parameters: object }>(
  body: Body,
  parameters: string,
): Canonical<Body> {
  return { ...body, parameters, requestHash: digestOf(requestText(body.task, parameters)) };
}

/** Like `canonicalRequest` of receipt.ts, for parameters that are canonical already. */
function requestText(task: string, parameters: string): string {
  return canonicalRequest(task, {}).replace('{}', () => parameters);
}

function identify(agentId: string, object: () => Record<string, unknown>, text: () => string): BodyIdentity | null {
  const reading = tryReading(object);
  if (!('value' in reading)) return null;
  const body = reading.value;
  const { task, parameters } = body;
  const isPlain = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  return {
    fingerprint: digestOf(`${agentId}\n${canonicalBody(body, text)}`),
    requestHash: typeof task === 'string' ? digestOf(requestText(task, isPlain ? text() : '{}')) : '',
    async: body.async === true,
  };
}

/** Canonical JSON by RFC 8785: names in the order of their UTF-16 code units. */
function canonicalBody(body: Record<string, unknown>, parameters: () => string): string {
  const textOf = (name: string) => (name === 'parameters' ? parameters() : canonicalize(body[name]));
  const members = Object.keys(body)
    // It changes only how the call is answered.
    .filter((name) => name !== 'stream')
    .sort()
    .map((name) => `${JSON.stringify(name)}:${textOf(name)}`);
  return `{${members.join(',')}}`;
}
