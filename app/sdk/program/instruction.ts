/** Builds instructions: accounts, flags and argument layout come from the generated IDL. */

import { type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { Buffer } from 'buffer';
import { PROGRAM_ID } from './accounts.ts';
import { findConfig, findEventAuthority, findProgramData, findTreasury, findUnclaimed } from './addresses.ts';
import { idl } from './idl/idl.ts';
import { encodeInstruction } from './idlCodec.ts';
import { toCamel } from './idlValues.ts';
import { KeptAddress } from './pubkey.ts';
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from './token.ts';

/** Addresses that are the same for all instructions. */
const SHARED_ACCOUNTS: Record<string, PublicKey> = {
  config: findConfig(),
  treasury: findTreasury(),
  unclaimed: findUnclaimed(),
  programData: findProgramData(),
  eventAuthority: findEventAuthority(),
  program: PROGRAM_ID,
  tokenProgram: TOKEN_PROGRAM_ID,
  associatedTokenProgram: ASSOCIATED_TOKEN_PROGRAM_ID,
  systemProgram: new KeptAddress(SystemProgram.programId.toBytes()),
};

/**
 * One instruction of the program. `accounts` are by their names in the IDL in camelCase, and `args` are the same object
 * unless an account and an argument have the same name; other values in them do not matter. Accounts have the IDL's
 * order and flags, so a builder cannot forget or swap one. An optional argument that is not set must be null. Throws
 * RangeError if an account or an argument is missing, or if an argument does not fit its type.
 */
export function buildInstruction(name: string, accounts: object, args = accounts): TransactionInstruction {
  const instruction = idl.instructions.find((candidate) => candidate.name === name);
  if (!instruction) throw new RangeError(`the program has no instruction ${name}`);
  const given: Partial<Record<string, PublicKey>> = { ...accounts, ...SHARED_ACCOUNTS };
  const keys = instruction.accounts.map((account) => {
    const pubkey = given[toCamel(account.name)];
    if (!pubkey) throw new RangeError(`${name} needs the account ${account.name}`);
    return { pubkey, isSigner: account.signer === true, isWritable: account.writable === true };
  });
  // web3.js needs a Buffer. Browsers get it from the package of that name; Node has it built in.
  const data = Buffer.from(encodeInstruction(name, args));
  return new TransactionInstruction({ programId: PROGRAM_ID, keys, data });
}
