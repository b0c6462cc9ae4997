/**
 * Transaction logs in, typed events out; pure. A log is only as good as its lines: any program can print bytes that look
 * like an event, and nodes cut logs at 10,000 bytes. So an event counts only where it was printed while the marketplace
 * itself was running, and the reader says whether the log is complete; where it is not, read the accounts.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import type { PublicKey } from '@solana/web3.js';
import { Buffer } from 'buffer';
import { ByteReader, type Codec, structOf } from './borsh.ts';
import { EVENT_FIELDS, type EventName, type MarketplaceEvent } from './eventFields.ts';
import { idl } from './idl/idl.ts';

/** By the eight bytes that an event begins with, as one number. */
const NAME_BY_DISCRIMINATOR = new Map<bigint, EventName>(
  idl.events.flatMap(({ name, discriminator }) =>
    name in EVENT_FIELDS ? [[new ByteReader(Uint8Array.from(discriminator)).takeBig(false), name as EventName]] : [],
  ),
);

const CODECS = Object.fromEntries(
  Object.entries(EVENT_FIELDS).map(([name, fields]) => [name, structOf<Record<string, Codec<unknown>>>(name, fields)]),
) as Record<EventName, Codec<Record<string, unknown>>>;

const STEP = /^Program ([1-9A-Za-z]{32,44}) (?:invoke \[(\d+)\]|(success)|failed: .*)$/s;
const DATA = 'Program data: ';

/** A program begins, or ends. */
interface Step {
  program: string;
  /** Null where it ends. */
  depth: number | null;
  hasFailed: boolean;
}

/** By their lines, of which there are few: to match one costs several times what finding it does. Forgotten when there are many. */
const steps = new Map<string, Step>();
const MAX_STEPS = 1_000;

/** Matches the line whole: what programs print themselves always begins with "Program log: " or the like. */
function readStep(line: string): Step | null {
  if (!line.endsWith(']') && !line.endsWith(' success') && !line.includes(' failed: ')) return null;
  const known = steps.get(line);
  if (known) return known;
  const [, program, depth, success] = STEP.exec(line) ?? [];
  if (program === undefined) return null;
  const step = { program, depth: depth === undefined ? null : Number(depth), hasFailed: !depth && !success };
  // Why one has failed may be said at length, and differently each time.
  if (!step.hasFailed) {
    if (steps.size >= MAX_STEPS) steps.clear();
    steps.set(line, step);
  }
  return step;
}

/**
 * Reads the marketplace's events from the log of a transaction that succeeded.
 *
 * Each instruction of the marketplace prints exactly one event, but `archive_executions`: it sends its event to the
 * program itself (`decodeEventInstruction`), and the log shows only that it did. `calls` are the data of these calls in
 * their order, as the transaction's inner instructions have them.
 *
 * `complete` is false when lines are missing ("Log truncated", unbalanced calls), when an invocation did not have exactly
 * one event, or when a call of the program to itself is not among `calls`. The events given then are those that can
 * still be trusted, but others happened too. Throws when an event is one that this version does not know.
 */
export function readEvents(
  logs: readonly string[],
  programId: PublicKey | string,
  calls: readonly Uint8Array[] = [],
): { events: MarketplaceEvent[]; complete: boolean } {
  const ours = programId.toString();
  const events: MarketplaceEvent[] = [];
  const stack: { program: string | undefined; events: number; carries: boolean }[] = [];
  let carried = 0;
  for (const line of logs) {
    if (line === 'Log truncated') return { events, complete: false };
    const frame = stack.at(-1);
    if (line.startsWith(DATA)) {
      if (frame?.program !== ours) continue;
      frame.events += 1;
      events.push(decodeEvent(fromBase64(line.slice(DATA.length))));
      continue;
    }
    const step = readStep(line);
    if (!step) continue;
    const { program, depth, hasFailed } = step;
    if (depth === null) {
      if (frame?.program !== program || hasFailed) return { events, complete: false };
      if (program === ours && frame.events !== (frame.carries ? 0 : 1)) return { events, complete: false };
      stack.pop();
      continue;
    }
    if (depth !== stack.length + 1) return { events, complete: false };
    const carries = program === ours && frame?.program === ours;
    if (carries) {
      const event = decodeEventInstruction(calls[carried] ?? new Uint8Array());
      if (!event) return { events, complete: false };
      events.push(event);
      carried += 1;
      frame.events += 1;
    }
    stack.push({ program, events: 0, carries });
  }
  return { events, complete: stack.length === 0 && carried === calls.length };
}

/** What begins the data of a call that the program makes to itself: SHA-256 of "anchor:event", its first 8 bytes backwards. */
const EVENT_CALL = 'e445a52e51cb9a1d';

/**
 * Decodes the event that the program carries in a call to itself, which is never cut short as logs are; null where the
 * data are of another instruction. Only the program can make such a call, so one found among the inner instructions of
 * a transaction that succeeded, with the program as its program, is true. Throws where the event is unknown or malformed.
 */
export function decodeEventInstruction(data: Uint8Array): MarketplaceEvent | null {
  return isEventInstruction(data) ? decodeEvent(data.subarray(8)) : null;
}

/** Whether an instruction's data are those of a call by which the program carries an event. */
export function isEventInstruction(data: Uint8Array): boolean {
  return bytesToHex(data.subarray(0, 8)) === EVENT_CALL;
}

/** Decodes one event from the bytes that `emit!` prints. Throws when it is none of the known ones, or malformed. */
export function decodeEvent(data: Uint8Array): MarketplaceEvent {
  const bytes = new ByteReader(data);
  const name = bytes.left < 8 ? undefined : NAME_BY_DISCRIMINATOR.get(bytes.takeBig(false));
  if (!name) throw new RangeError(`unknown event ${bytesToHex(data.subarray(0, 8))}`);
  const values = CODECS[name].read(bytes);
  if (bytes.left > 0) throw new RangeError(`event ${name} has ${bytes.left} bytes too many`);
  return { name, data: values } as MarketplaceEvent;
}

/** Throws RangeError where the text is not base64: Buffer passes over what it cannot read, and takes the letters of URLs. */
function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  const isWhole = bytes.length === (text.length / 4) * 3 - padding;
  if (!isWhole || text.includes('-') || text.includes('_')) throw new RangeError('the data of an event are not base64');
  return bytes;
}
