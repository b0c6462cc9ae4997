/**
 * Codecs by name, made from the generated IDL: for accounts, events and arguments of instructions. The IDL's snake_case
 * becomes camelCase, and an enum value is its variant's name in lower camel case. The caller chooses the type of an
 * address, so nothing here loads web3.js.
 */
import { concatBytes } from '@noble/hashes/utils.js';
import {
  arrayOf,
  ByteReader,
  bool,
  bytesOf,
  type Codec,
  enumOf,
  i64,
  listOf,
  optionOf,
  structOf,
  text,
  u8,
  u16,
  u32,
  u64,
} from './borsh.ts';
import { idl } from './idl/idl.ts';
import type { IdlDefinition, IdlType } from './idlTypes.ts';
import { toCamel } from './idlValues.ts';

/** The codecs of the program's types; `pubkey` reads and writes addresses. */
export function createIdlCodecs(pubkey: Codec<unknown>) {
  const primitives = { bool, u8, u16, u32, u64, i64, string: text, pubkey };
  /** Made on first use, because few programs need all. */
  const defined = new Map<string, Codec<unknown>>();

  function makeCodec(name: string): Codec<unknown> {
    const definition = definitionOf(name);
    if (definition.kind === 'enum') return enumOf(name, variantsOf(name)) as Codec<unknown>;
    const fields = Object.entries(fieldsOf(name)).map(([key, type]) => [key, codecOfType(type)]);
    return structOf(name, Object.fromEntries(fields)) as Codec<unknown>;
  }

  function codecOfType(type: IdlType): Codec<unknown> {
    if (typeof type === 'string') return primitives[type] as Codec<unknown>;
    if ('option' in type) return optionOf(codecOfType(type.option)) as Codec<unknown>;
    if ('vec' in type) return listOf(codecOfType(type.vec)) as Codec<unknown>;
    if ('defined' in type) return codecOf(type.defined.name);
    const [item, length] = type.array;
    return (item === 'u8' ? bytesOf(length) : arrayOf(codecOfType(item), length)) as Codec<unknown>;
  }

  /** The codec of a struct or enum of the IDL. Throws RangeError for an unknown name. */
  function codecOf(name: string): Codec<unknown> {
    let codec = defined.get(name);
    if (!codec) {
      codec = makeCodec(name);
      defined.set(name, codec);
    }
    return codec;
  }

  return {
    codecOf,
    codecOfType,

    /** Decodes a struct that has no discriminator. Throws RangeError if the bytes are more or less than it. */
    decodeFields(name: string, fields: Uint8Array): unknown {
      const bytes = new ByteReader(fields);
      const values = codecOf(name).read(bytes);
      if (bytes.left > 0) throw new RangeError(`the fields of a leaf have ${bytes.left} bytes too many`);
      return values;
    },

    /** Decodes an account's fields. Throws RangeError if the data are not an account of this name. */
    decodeAccountData(name: string, data: Uint8Array): unknown {
      const isOfName = startsWith(data, discriminatorOf(name));
      if (!isOfName) throw new RangeError(`not a ${name} account: discriminator mismatch`);
      // The bytes after the fields are space for text to grow.
      return codecOf(name).read(new ByteReader(data, 8));
    },

    /**
     * The data of an instruction: its discriminator and its arguments. Throws RangeError if they do not fit the IDL.
     */
    encodeInstruction(name: string, args: object): Uint8Array {
      const instruction = idl.instructions.find((candidate) => candidate.name === name);
      if (!instruction) throw new RangeError(`the program has no instruction ${name}`);
      const written = instruction.args.map(({ type }) => codecOfType(type).write(args));
      return concatBytes(Uint8Array.from(instruction.discriminator), ...written);
    },

    /**
     * Decodes an instruction of the program. Null if the instruction is unknown. Throws RangeError if the data are cut
     * short.
     */
    decodeInstruction(data: Uint8Array): { name: string; args: Record<string, unknown> } | null {
      const instruction = idl.instructions.find(({ discriminator }) => startsWith(data, discriminator));
      if (!instruction) return null;
      const bytes = new ByteReader(data, instruction.discriminator.length);
      const [args = {}] = instruction.args.map(({ type }) => codecOfType(type).read(bytes));
      return { name: instruction.name, args: args as Record<string, unknown> };
    },
  };
}

function definitionOf(name: string): IdlDefinition {
  const found = idl.types.find((candidate) => candidate.name === name);
  if (!found) throw new RangeError(`the program has no type ${name}`);
  return found.type;
}

/** A struct's fields with their types, in the program's order. */
export function fieldsOf(name: string): Record<string, IdlType> {
  const definition = definitionOf(name);
  if (definition.kind !== 'struct') throw new RangeError(`${name} is not a struct`);
  return Object.fromEntries(definition.fields.map((field) => [toCamel(field.name), field.type]));
}

/** An enum's variants; the byte of each is its index. */
export function variantsOf(name: string): string[] {
  const definition = definitionOf(name);
  if (definition.kind !== 'enum') throw new RangeError(`${name} is not an enum`);
  return definition.variants.map((variant) => lowerFirst(variant.name));
}

/** The first 8 bytes of every account of this name. */
export function discriminatorOf(name: string): Uint8Array {
  const account = idl.accounts.find((candidate) => candidate.name === name);
  if (!account) throw new RangeError(`the program has no account ${name}`);
  return Uint8Array.from(account.discriminator);
}

function startsWith(data: Uint8Array, head: ArrayLike<number>): boolean {
  return Array.prototype.every.call(head, (byte, index) => data[index] === byte);
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
