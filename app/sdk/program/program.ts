/**
 * The program for clients: addresses, instruction builders, account readers, error names. Everything is pure and
 * synchronous, without connection or keypair, and sends nothing. Relay, CLI, local network, dashboard and tests all
 * build their transactions here.
 */
import { idl } from './idl/idl.ts';

export * from './accounts.ts';
export * from './addresses.ts';
export * from './archiveInstructions.ts';
export * from './configInstructions.ts';
export * from './depositInstructions.ts';
export * from './disputeInstructions.ts';
export * from './executionInstructions.ts';
export * from './grantInstructions.ts';
export { idl } from './idl/idl.ts';
export { decodeInstruction } from './idlCodec.ts';
export * from './listingInstructions.ts';
export * from './unclaimedInstructions.ts';

export interface ProgramError {
  code: number;
  name: string;
  msg: string;
}

const ERRORS = new Map<number, ProgramError>(
  idl.errors.map(({ code, name, msg }) => [code, { code, name: name.charAt(0).toUpperCase() + name.slice(1), msg }]),
);

/** The program's error for a custom code (6000 and up); null for codes of other programs. */
export function errorFromCode(code: number): ProgramError | null {
  return ERRORS.get(code) ?? null;
}
