/** The parts of an Anchor IDL that this program's IDL uses. */

export type IdlType =
  | 'bool'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'i64'
  | 'string'
  | 'pubkey'
  | { readonly option: IdlType }
  | { readonly vec: IdlType }
  | { readonly array: readonly [item: IdlType, length: number] }
  | { readonly defined: { readonly name: string } };

export interface IdlField {
  readonly name: string;
  readonly type: IdlType;
}

export type IdlDefinition =
  | { readonly kind: 'struct'; readonly fields: readonly IdlField[] }
  /** Variants have no fields, because the program uses none with fields. */
  | { readonly kind: 'enum'; readonly variants: readonly { readonly name: string }[] };

export interface IdlAccount {
  readonly name: string;
  readonly signer?: boolean;
  readonly writable?: boolean;
  /** If omitted, the program's own address is passed. */
  readonly optional?: boolean;
  /** Set if it is the same in every call. */
  readonly address?: string;
  readonly pda?: unknown;
  readonly relations?: readonly string[];
}

export interface IdlInstruction {
  readonly name: string;
  /** The first 8 bytes of its data. */
  readonly discriminator: readonly number[];
  readonly accounts: readonly IdlAccount[];
  readonly args: readonly IdlField[];
}

export interface ProgramIdl {
  /** Address of the program, base58. */
  readonly address: string;
  readonly metadata: {
    readonly name: string;
    readonly version: string;
    readonly spec: string;
    readonly description: string;
  };
  readonly instructions: readonly IdlInstruction[];
  readonly accounts: readonly { readonly name: string; readonly discriminator: readonly number[] }[];
  readonly events: readonly { readonly name: string; readonly discriminator: readonly number[] }[];
  readonly errors: readonly { readonly code: number; readonly name: string; readonly msg: string }[];
  readonly types: readonly { readonly name: string; readonly type: IdlDefinition; readonly repr?: unknown }[];
  readonly constants: readonly { readonly name: string; readonly type: string; readonly value: string }[];
}
