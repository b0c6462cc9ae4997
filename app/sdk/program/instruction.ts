/** How every builder makes its instruction: accounts, flags and argument layout come from the generated IDL. */
import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import type { PublicKey } from '@solana/web3.js';
import { SYSVAR_INSTRUCTIONS_PUBKEY, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { coder, PROGRAM_ID, toBorsh } from './accounts.ts';
import { findConfig, findProgramData, findTreasury } from './addresses.ts';
import idlJson from './idl/marketplace.json' with { type: 'json' };
import { KeptAddress } from './keptAddress.ts';

/** Accounts by the name that the IDL gives them. */
export type AccountValues = Record<string, PublicKey>;

/** Every address that is the same for all instructions; an instruction's own accounts come on top. */
const SHARED_ACCOUNTS: AccountValues = {
  config: findConfig(),
  treasury: findTreasury(),
  program_data: findProgramData(),
  instructions: new KeptAddress(SYSVAR_INSTRUCTIONS_PUBKEY.toBytes()),
  token_program: new KeptAddress(TOKEN_PROGRAM_ID.toBytes()),
  system_program: new KeptAddress(SystemProgram.programId.toBytes()),
};

/**
 * One instruction of the program: accounts in the IDL's order and with its flags, so that a builder cannot forget or swap
 * one. An optional argument that is not set must be null. Throws RangeError where an account is missing.
 */
export function buildInstruction(name: string, accounts: AccountValues, args: object): TransactionInstruction {
  const instruction = idlJson.instructions.find((candidate) => candidate.name === name);
  if (!instruction) throw new RangeError(`the program has no instruction ${name}`);
  const given: AccountValues = { ...SHARED_ACCOUNTS, ...accounts };
  const keys = instruction.accounts.map((account) => {
    const pubkey = given[account.name];
    if (!pubkey) throw new RangeError(`${name} needs the account ${account.name}`);
    return {
      pubkey,
      isSigner: 'signer' in account && account.signer === true,
      isWritable: 'writable' in account && account.writable === true,
    };
  });
  const data = coder.instruction.encode(name, instruction.args.length === 0 ? {} : { args: toBorsh(args) });
  return new TransactionInstruction({ programId: PROGRAM_ID, keys, data });
}

/** A fieldless enum value as Anchor encodes it. */
export function variant(name: string): object {
  return { [name.charAt(0).toUpperCase() + name.slice(1)]: {} };
}
