/**
 * The relay's log. Only listed fields pass, each in its own format. So the log never contains a key, or text of callers
 * or creators. Unlisted fields are dropped everywhere.
 */
import pino, { type DestinationStream, type Logger } from 'pino';
import { logToStandard } from '../process/logDestination.ts';
import { originOf } from '../sdk/wire/secrets.ts';

const MAX_TEXT = 300;
const MAX_FRAMES = 8;

type Allow = (value: unknown) => unknown;

const number: Allow = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const matching =
  (pattern: RegExp): Allow =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined;

/** Names of errors, methods, procedures, states. */
const word = matching(/^[A-Za-z_.]{1,64}$/);
const base58 = matching(/^[1-9A-HJ-NP-Za-km-z]{32,88}$/);
const uuid = matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
/** A node's place in the setting and its host, never the path or query, which may contain a key. */
const nodeName = matching(/^\d+:[A-Za-z0-9.:[\]-]{1,120}$/);
/** A declared route, never the requested path. */
const route = matching(/^[a-z0-9/:_.-]{1,80}$/);

/** The messages of these errors quote their input. */
const QUOTING = new Set(['SyntaxError', 'ZodError']);
/** The key in the URL of a node: in its query or its path. */
const SECRET = /api-key=[^&\s]+/g;
const URLS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s()]+/gi;
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\u201c[^\u201d]*\u201d/g;
const FRAME = /^\s+at (?:[\w.<>[\] ]+\()?(?:file:|node:|\/)[^()\s]*:\d+:\d+\)?$/;

/** The error and its location, without any quoted text of its message. */
const fault: Allow = (value) => {
  const lines = textOf(value).split('\n');
  const frames = lines.filter((line) => FRAME.test(line)).slice(0, MAX_FRAMES);
  const message = lines.filter((line) => !FRAME.test(line)).join(' ');
  const name = /^[A-Z][A-Za-z]*/.exec(message)?.[0] ?? '';
  const told = QUOTING.has(name)
    ? name
    : message.replace(QUOTED, '…').replace(URLS, originOf).replace(SECRET, 'api-key=…').slice(0, MAX_TEXT);
  return [told, ...frames.map((line) => line.trim())].join('\n');
};

/** Some libraries reject with objects that are not errors. */
function textOf(value: unknown): string {
  if (value instanceof Error) return value.stack ?? String(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return `${value.constructor?.name ?? 'Object'}: ${'message' in value ? value.message : 'without a message'}`;
}

/** The list: every field, and its allowed values. */
export const FIELDS: Record<string, Allow> = {
  request_id: uuid,
  state: word,
  step: word,
  slot: number,
  finality_ms: number,
  age_ms: number,
  restart_slot: number,
  signatures: (value) => (Array.isArray(value) ? value.map(base58) : undefined),
  table: word,
  keys: (value) => (Array.isArray(value) ? value.map(base58) : undefined),
  price: matching(/^\d{1,20}$/),
  node: nodeName,
  nodes: (value) => (Array.isArray(value) ? value.map(nodeName) : undefined),
  subject: matching(/^[a-z ]{1,40}$/),
  method: word,
  route,
  status: number,
  /** Of an error. */
  code: word,
  /** How an execution ended. */
  outcome: word,
  ms: number,
  release: matching(/^[0-9A-Za-z.+-]{1,40}$/),
  build: matching(/^[0-9a-f]{12}$/),
  procedure: word,
  execution_id: uuid,
  listing: base58,
  listings: number,
  source: base58,
  wallet: base58,
  named: base58,
  signature: base58,
  authority: base58,
  key_id: matching(/^[0-9a-f]{32}$/),
  endpoint: matching(/^we_[0-9a-f]{24}$/),
  type: word,
  error: fault,
  program_error: word,
  becomes: word,
  reason: fault,
  dropped: number,
  waiting: number,
  unread: number,
  retryMs: number,
  lamports: number,
  hours: number,
  free_bytes: number,
  archive_index: number,
  tree: base58,
  records: number,
  accounts: number,
  signal: word,
  url: matching(/^https?:\/\/[^/]+$/),
};

/** Only the fields that the list allows. */
function allowed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined && Object.hasOwn(FIELDS, name)) kept[name] = FIELDS[name]!(value);
  }
  return kept;
}

export function createLog(level: string, destination: DestinationStream = logToStandard(1)): Logger {
  const options: pino.LoggerOptions = {
    level,
    hooks: {
      logMethod([first, second], method) {
        if (typeof first === 'string') return method.call(this, first);
        const fields = (first as unknown) instanceof Error ? { error: first } : { ...(first as object) };
        // Without a message, pino would log the message of the error.
        method.call(this, allowed(fields), typeof second === 'string' ? second : 'fault');
      },
    },
  };
  return pino(options, destination);
}
