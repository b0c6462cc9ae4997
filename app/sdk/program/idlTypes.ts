/** The shape of an Anchor IDL, as far as this program's makes use of it. */

export type IdlType =
  | 'bool'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'i64'
  | 'string'
  | 'pubkey'
  | { option: IdlType }
  | { vec: IdlType }
  | { array: [item: IdlType, length: number] }
  | { defined: { name: string } };

export interface IdlField {
  name: string;
  type: IdlType;
}

export type IdlDefinition =
  | { kind: 'struct'; fields: IdlField[] }
  /** Without fields: the program has no other ones. */
  | { kind: 'enum'; variants: { name: string }[] };

export interface IdlAccount {
  name: string;
  signer?: boolean;
  writable?: boolean;
  /** Given as the program's own address where it is left out. */
  optional?: boolean;
  /** Where it is the same in every call. */
  address?: string;
  pda?: unknown;
  relations?: string[];
}

export interface IdlInstruction {
  name: string;
  /** The 8 bytes that begin its data. */
  discriminator: number[];
  accounts: IdlAccount[];
  args: IdlField[];
}

export interface ProgramIdl {
  /** Where the program is deployed, base58. */
  address: string;
  metadata: { name: string; version: string; spec: string; description: string };
  instructions: IdlInstruction[];
  accounts: { name: string; discriminator: number[] }[];
  events: { name: string; discriminator: number[] }[];
  errors: { code: number; name: string; msg: string }[];
  types: { name: string; type: IdlDefinition; repr?: unknown }[];
  constants: { name: string; type: string; value: string }[];
}
