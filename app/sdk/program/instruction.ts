/** Builds instructions: accounts, flags and argument layout come from the generated IDL. */

import type { PublicKey } from '@solana/web3.js';
import { SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { Buffer } from 'buffer';
import { PROGRAM_ID } from './accounts.ts';
import { findConfig, findEventAuthority, findProgramData, findTreasury, findUnclaimed } from './addresses.ts';
import { idl } from './idl/idl.ts';
import { encodeInstruction } from './idlCodec.ts';
import { KeptAddress } from './pubkey.ts';
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from './token.ts';

/** Accounts by their names in the IDL. */
export type AccountValues = Record<string, PublicKey>;

/** Addresses that are the same for all instructions; an instruction's own accounts are added. */
const SHARED_ACCOUNTS: AccountValues = {
  config: findConfig(),
  treasury: findTreasury(),
  unclaimed: findUnclaimed(),
  program_data: findProgramData(),
  event_authority: findEventAuthority(),
  program: PROGRAM_ID,
  token_program: TOKEN_PROGRAM_ID,
  associated_token_program: ASSOCIATED_TOKEN_PROGRAM_ID,
  system_program: new KeptAddress(SystemProgram.programId.toBytes()),
};

/**
 * One instruction of the program. Accounts have the IDL's order and flags, so a builder cannot forget or swap one. An
 * optional argument that is not set must be null. Throws RangeError if an account or an argument is missing, or if an
 * argument does not fit its type.
 */
export function buildInstruction(name: string, accounts: AccountValues, args: object): TransactionInstruction {
  const instruction = idl.instructions.find((candidate) => candidate.name === name);
  if (!instruction) throw new RangeError(`the program has no instruction ${name}`);
  const given: AccountValues = { ...SHARED_ACCOUNTS, ...accounts };
  const keys = instruction.accounts.map((account) => {
    const pubkey = given[account.name];
    if (!pubkey) throw new RangeError(`${name} needs the account ${account.name}`);
    return {
      pubkey,
      isSigner: account.signer === true,
      isWritable: account.writable === true,
    };
  });
  // web3.js needs a Buffer. Browsers get it from the package of that name; Node has it built in.
  const data = Buffer.from(encodeInstruction(name, args));
  return new TransactionInstruction({ programId: PROGRAM_ID, keys, data });
}
