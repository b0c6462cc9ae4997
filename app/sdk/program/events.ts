/**
 * Transaction logs in, typed events out; pure. Any program can print bytes that look like an event, and nodes cut logs
 * at 10,000 bytes. So an event counts only if it was printed while the marketplace itself was running. The reader
 * reports if the log is complete; if it is not, read the accounts.
 */

import { bytesToHex } from '@noble/hashes/utils.js';
import type { PublicKey } from '@solana/web3.js';
import { Buffer } from 'buffer';
import { ByteReader } from './borsh.ts';
import type { MarketplaceEvent } from './eventFields.ts';
import { idl } from './idl/idl.ts';
import { codecOf } from './idlCodec.ts';

/** Event names by discriminator, the first eight bytes as one number. */
const NAME_BY_DISCRIMINATOR = new Map(
  idl.events.map(({ name, discriminator }) => [new ByteReader(Uint8Array.from(discriminator)).takeBig(false), name]),
);

const STEP = /^Program ([1-9A-Za-z]{32,44}) (?:invoke \[(\d+)\]|(success)|failed: .*)$/s;
const DATA = 'Program data: ';

/** The start or end of a program's invocation. */
interface Step {
  program: string;
  /** Null at its end. */
  depth: number | null;
  hasFailed: boolean;
}

/**
 * Steps by log line: matching a line costs several times as much as a look-up, and few lines differ. Cleared when full.
 */
const steps = new Map<string, Step>();
const MAX_STEPS = 1_000;

/** Matches the whole line: lines that programs print always start with "Program log: " or similar. */
function readStep(line: string): Step | null {
  if (!line.endsWith(']') && !line.endsWith(' success') && !line.includes(' failed: ')) return null;
  const known = steps.get(line);
  if (known) return known;
  const [, program, depth, success] = STEP.exec(line) ?? [];
  if (program === undefined) return null;
  const step = { program, depth: depth === undefined ? null : Number(depth), hasFailed: !depth && !success };
  // The reason of a failure may be long and different each time, so it is not stored.
  if (!step.hasFailed) {
    if (steps.size >= MAX_STEPS) steps.clear();
    steps.set(line, step);
  }
  return step;
}

/**
 * Reads the marketplace's events from the log of a transaction that succeeded.
 *
 * Each instruction of the marketplace has exactly one event and prints it. Those of leaves (`archive_executions`,
 * `move_unclaimed_refund`, `move_unclaimed_deposit`, `claim_refund`) send it to the program itself instead
 * (`decodeEventInstruction`), and the log shows only the call. `calls` are the data of these calls in order, from the
 * transaction's inner instructions.
 *
 * `complete` is false if lines are missing ("Log truncated", unbalanced calls), or if an invocation did not have
 * exactly one event. It is also false if a call of the program to itself is not in `calls`. The returned events can
 * then still be trusted, but others happened too. Throws for an event that this version does not know.
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

/** The first 8 bytes of a call that the program makes to itself: SHA-256 of "anchor:event", first 8 bytes reversed. */
const EVENT_CALL = 'e445a52e51cb9a1d';

/**
 * Decodes the event that the program carries in a call to itself, which is never truncated as logs are. Null if the
 * data are of another instruction. Only the program can make such a call. So an inner instruction of the program in a
 * succeeded transaction is genuine. Throws if the event is unknown or malformed.
 */
export function decodeEventInstruction(data: Uint8Array): MarketplaceEvent | null {
  return isEventInstruction(data) ? decodeEvent(data.subarray(8)) : null;
}

/** True if an instruction's data are those of a call that carries an event. */
export function isEventInstruction(data: Uint8Array): boolean {
  return bytesToHex(data.subarray(0, 8)) === EVENT_CALL;
}

/** Decodes one event from the bytes that `emit!` prints. Throws if it is unknown or malformed. */
export function decodeEvent(data: Uint8Array): MarketplaceEvent {
  const bytes = new ByteReader(data);
  const name = bytes.left < 8 ? undefined : NAME_BY_DISCRIMINATOR.get(bytes.takeBig(false));
  if (!name) throw new RangeError(`unknown event ${bytesToHex(data.subarray(0, 8))}`);
  const values = codecOf(name).read(bytes);
  if (bytes.left > 0) throw new RangeError(`event ${name} has ${bytes.left} bytes too many`);
  return { name, data: values } as MarketplaceEvent;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Throws RangeError if the text is not base64: Buffer would skip characters that it cannot read, and truncate wide
 * ones.
 */
function fromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw new RangeError('the data of an event are not base64');
  return Buffer.from(text, 'base64');
}
