/** Addresses that instructions name but that belong to the runtime: programs, the mint, a tree. No step changes them. */
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { SystemProgram } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import { MINT, TREE } from './cast.ts';
import { type Address, text } from './ledger.ts';

/** Signs the program's calls to itself. */
const [EVENTS] = program.findProgramAddress([Buffer.from('__event_authority')], program.PROGRAM_ID);
const EXTERNAL = new Set(
  [
    ...[TOKEN_PROGRAM_ID, ASSOCIATED_TOKEN_PROGRAM_ID, SystemProgram.programId, program.PROGRAM_ID],
    ...[program.findProgramData(), MINT, TREE, EVENTS],
  ].map(text),
);

export function isExternal(address: Address): boolean {
  return EXTERNAL.has(address);
}
