/**
 * Converts a transaction's outcome to comparable values: the error's name, whichever program or VM raised it, the
 * marketplace's events, and compute units. It also records all errors and events of this process, for the test that
 * fails if one was never produced.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import anchor from '@coral-xyz/anchor';
import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { Ed25519Program, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { errorFromCode, idl, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { coder, fromBorsh } from './anchorCoder.ts';

/** Address of the program in tests/program/caller. */
export const TEST_CALLER_ID = new PublicKey('HpeSYtSP9Z93JaFza7iBsKE2z2uiQ2rN9mymtc9ktipT');

export interface SeenEvent {
  name: string;
  /** Fields in camelCase, as in decoded accounts. */
  data: Record<string, unknown>;
}

export interface TransactionError {
  /**
   * Our and Anchor's errors by name; others `token:4`, `system:1`, `ed25519:InvalidSignature`, or the runtime's name.
   */
  name: string;
  /** The custom code; null for errors of the runtime. */
  code: number | null;
  /** Index of the failed instruction; null if none failed. */
  instruction: number | null;
}

export interface Outcome {
  ok: boolean;
  error: TransactionError | null;
  events: SeenEvent[];
  logs: string[];
  /** Calls made by programs. Empty in bankrun. */
  calls: RawCall[];
  computeUnits: number;
  /** Size of the signed transaction. */
  bytes: number;
}

/** A failure as reported by a VM: the instruction's index, and a custom code or a name. */
export interface RawFailure {
  instruction: number | null;
  code: number | null;
  name: string;
}

/** An instruction called by a program. */
export interface RawCall {
  programId: PublicKey;
  data: Uint8Array;
}

const ANCHOR_ERRORS = new Map(Object.entries(anchor.LangErrorCode).map(([name, code]) => [Number(code), name]));
/** The runtime's PrecompileError variants, in order. */
const PRECOMPILE_ERRORS = [
  'InvalidPublicKey',
  'InvalidRecoveryId',
  'InvalidSignature',
  'InvalidDataOffsets',
  'InvalidInstructionDataSize',
];
/** The runtime reports a failed CPI first in the program that raised it, then in each caller. */
const FAILED = /^Program (\w+) failed: custom program error: 0x([0-9a-f]+)$/;

/** LiteSVM prints failures in Rust's debug form: `err: InstructionError(1, Custom(6000))`. */
export function readDebugError(text: string): RawFailure {
  const match = /err: InstructionError\((\d+), (?:Custom\((\d+)\)|(\w+))/.exec(text);
  if (!match) return { instruction: null, code: null, name: /err: (\w+)/.exec(text)?.[1] ?? text };
  return { instruction: Number(match[1]), code: match[2] ? Number(match[2]) : null, name: match[3] ?? 'Custom' };
}

/** Bankrun prints them in display form: `Error processing Instruction 1: custom program error: 0x1770`. */
export function readDisplayError(text: string): RawFailure {
  const match = /Error processing Instruction (\d+): (?:custom program error: 0x([0-9a-f]+)|(.*))$/.exec(text);
  if (!match) return { instruction: null, code: null, name: text };
  const [, instruction, code, name] = match;
  return { instruction: Number(instruction), code: code ? Number.parseInt(code, 16) : null, name: name ?? 'Custom' };
}

/** Names the failure by the program that raised it. */
export function nameFailure(
  failure: RawFailure,
  instructions: TransactionInstruction[],
  logs: string[],
): TransactionError {
  const { code, instruction } = failure;
  if (code === null) return { name: failure.name, code, instruction };
  const line = logs.map((log) => FAILED.exec(log)).find((match) => match && Number.parseInt(match[2]!, 16) === code);
  const origin = line?.[1] ?? instructions[instruction ?? 0]?.programId.toBase58() ?? '';
  return { name: nameCode(origin, code), code, instruction };
}

function nameCode(origin: string, code: number): string {
  if (origin === PROGRAM_ID.toBase58() || origin === TEST_CALLER_ID.toBase58()) {
    return errorFromCode(code)?.name ?? ANCHOR_ERRORS.get(code) ?? `unknown:${code}`;
  }
  if (origin === TOKEN_PROGRAM_ID.toBase58()) return `token:${code}`;
  if (origin === SystemProgram.programId.toBase58()) return `system:${code}`;
  if (origin === Ed25519Program.programId.toBase58()) return `ed25519:${PRECOMPILE_ERRORS[code] ?? code}`;
  return `${origin}:${code}`;
}

const INVOKE = /^Program (\w+) invoke \[\d+\]$/;
const RETURN = /^Program (\w+) (success|failed.*)$/;
const DATA = 'Program data: ';

/** The marketplace's events: data lines printed while the marketplace is the running program. */
export function readOurEvents(logs: string[]): SeenEvent[] {
  const stack: string[] = [];
  const events: SeenEvent[] = [];
  for (const log of logs) {
    const invoked = INVOKE.exec(log)?.[1];
    if (invoked) stack.push(invoked);
    else if (RETURN.test(log)) stack.pop();
    else if (log.startsWith(DATA) && stack.at(-1) === PROGRAM_ID.toBase58()) {
      const event = coder.events.decode(log.slice(DATA.length));
      if (!event) throw new Error(`the marketplace printed data that is no event: ${log}`);
      events.push({ name: event.name, data: fromBorsh(event.data) as Record<string, unknown> });
    }
  }
  return events;
}

/** Prefix of the data of a program's event call to itself: the first 8 bytes of SHA-256 of "anchor:event", reversed. */
const EVENT_CALL = createHash('sha256').update('anchor:event').digest().subarray(0, 8).reverse();

/** The marketplace's events that it carried in calls to itself. */
export function readCalledEvents(calls: RawCall[]): SeenEvent[] {
  return calls.flatMap(({ programId, data }) => {
    if (!programId.equals(PROGRAM_ID) || !EVENT_CALL.equals(data.subarray(0, 8))) return [];
    const event = coder.events.decode(Buffer.from(data.subarray(8)).toString('base64'));
    if (!event) throw new Error('the marketplace called itself with data that are no event');
    return [{ name: event.name, data: fromBorsh(event.data) as Record<string, unknown> }];
  });
}

/** Errors and events that this process has produced on a VM. */
export const seen = {
  errors: new Set<string>(),
  events: new Set<string>(),
  /** `instruction: error`, for instructions sent directly to the marketplace. */
  refusals: new Set<string>(),
};

/** Records the error or the events of a transaction. Events of a failed one are ignored. */
export function remember(outcome: Outcome, instructions: TransactionInstruction[]): Outcome {
  const { error } = outcome;
  if (error) seen.errors.add(error.name);
  const refused = instructions[error?.instruction ?? -1];
  if (error && refused?.programId.equals(PROGRAM_ID)) {
    const name = idl.instructions.find(({ discriminator }) =>
      Buffer.from(discriminator).equals(refused.data.subarray(0, 8)),
    )?.name;
    if (name) seen.refusals.add(`${name}: ${error.name}`);
  }
  if (outcome.ok) for (const event of outcome.events) seen.events.add(event.name);
  return outcome;
}

/** Writes the process's coverage to target/coverage at its end, to compare runs. */
export function keepCoverage(vm: string): void {
  process.once('exit', () => {
    mkdirSync('target/coverage', { recursive: true });
    const coverage = { errors: [...seen.errors].sort(), events: [...seen.events].sort() };
    writeFileSync(`target/coverage/${vm}-${process.pid}.json`, `${JSON.stringify(coverage, null, 2)}\n`);
  });
}
