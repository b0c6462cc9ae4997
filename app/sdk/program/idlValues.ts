/** The types of the program's values, derived from the IDL. */
import type { PublicKey } from '@solana/web3.js';
import type { LiteralIdl } from './idl/idl.ts';
import type { IdlField } from './idlTypes.ts';

/** A field's TypeScript name: `listing_id` is `listingId`. */
export type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The same at run time. */
export const toCamel = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

type Definition = LiteralIdl['types'][number];

/** The names of the IDL's structs and enums. */
export type TypeName = Definition['name'];

type FieldOf<Name extends TypeName> = Extract<Definition, { name: Name }>['type'] extends {
  fields: readonly (infer Field extends IdlField)[];
}
  ? Field
  : never;

/** A struct's fields: u64 and i64 as bigint, smaller integers as number, byte arrays as Uint8Array. */
export type StructOf<Name extends TypeName, Address = PublicKey> = {
  [Field in FieldOf<Name> as CamelCase<Field['name']>]: FieldValue<Field['type'], Address>;
};

/** An enum's values: the names of its variants in lower camel case. */
export type EnumOf<Name extends TypeName> = Extract<Definition, { name: Name }>['type'] extends {
  variants: readonly { name: infer Variant extends string }[];
}
  ? Uncapitalize<Variant>
  : never;

type FieldValue<Type, Address> = Type extends 'u64' | 'i64'
  ? bigint
  : Type extends 'u8' | 'u16' | 'u32'
    ? number
    : Type extends 'bool'
      ? boolean
      : Type extends 'string'
        ? string
        : Type extends 'pubkey'
          ? Address
          : Type extends { option: infer Item }
            ? FieldValue<Item, Address> | null
            : Type extends { array: readonly ['u8', number] }
              ? Uint8Array
              : Type extends { array: readonly [infer Item, number] } | { vec: infer Item }
                ? FieldValue<Item, Address>[]
                : Type extends { defined: { name: infer Name extends TypeName } }
                  ? [EnumOf<Name>] extends [never]
                    ? StructOf<Name, Address>
                    : EnumOf<Name>
                  : never;
