/**
 * Codecs by name, made from the generated IDL: its accounts, and the arguments of its instructions. The IDL's snake_case
 * becomes camelCase, and a value of an enum is its variant's name, which begins with a small letter. What an address is
 * read as is told once: nothing here loads web3.js.
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
import type { IdlType } from './idlTypes.ts';

/** The codecs of the program's types, with addresses as `pubkey` reads and writes them. */
export function createIdlCodecs(pubkey: Codec<unknown>) {
  const primitives = { bool, u8, u16, u32, u64, i64, string: text, pubkey };
  /** Made when first asked for, as few programs need all. */
  const defined = new Map<string, Codec<unknown>>();

  function makeCodec(name: string): Codec<unknown> {
    const definition = idl.types.find((candidate) => candidate.name === name)?.type;
    if (!definition) throw new RangeError(`the program has no type ${name}`);
    if (definition.kind === 'enum') {
      const variants = definition.variants.map((variant) => lowerFirst(variant.name));
      return enumOf(name, variants) as Codec<unknown>;
    }
    const fields = definition.fields.map((field) => [toCamel(field.name), codecOfType(field.type)] as const);
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

  /** The codec of a struct or enum of the IDL. Throws RangeError where there is none of this name. */
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

    /** An account's fields. Throws RangeError where the data are not those of an account of this name. */
    decodeAccountData(name: string, data: Uint8Array): unknown {
      const isOfName = startsWith(data, discriminatorOf(name));
      if (!isOfName) throw new RangeError(`the data have not the discriminator of ${name}`);
      // What follows the fields is space that text may still grow into.
      return codecOf(name).read(new ByteReader(data, 8));
    },

    /** The data of an instruction: its discriminator and its arguments. Throws RangeError where they do not fit the IDL. */
    encodeInstruction(name: string, args: object): Uint8Array {
      const instruction = idl.instructions.find((candidate) => candidate.name === name);
      if (!instruction) throw new RangeError(`the program has no instruction ${name}`);
      const written = instruction.args.map(({ type }) => codecOfType(type).write(args));
      return concatBytes(Uint8Array.from(instruction.discriminator), ...written);
    },

    /** An instruction of the program as its data tell it; null where they are those of none. Throws RangeError where cut short. */
    decodeInstruction(data: Uint8Array): { name: string; args: Record<string, unknown> } | null {
      const instruction = idl.instructions.find(({ discriminator }) => startsWith(data, discriminator));
      if (!instruction) return null;
      const bytes = new ByteReader(data, instruction.discriminator.length);
      const [args = {}] = instruction.args.map(({ type }) => codecOfType(type).read(bytes));
      return { name: instruction.name, args: args as Record<string, unknown> };
    },
  };
}

/** The 8 bytes that begin every account of this name. */
export function discriminatorOf(name: string): Uint8Array {
  const account = idl.accounts.find((candidate) => candidate.name === name);
  if (!account) throw new RangeError(`the program has no account ${name}`);
  return Uint8Array.from(account.discriminator);
}

function startsWith(data: Uint8Array, head: ArrayLike<number>): boolean {
  return Array.prototype.every.call(head, (byte, index) => data[index] === byte);
}

function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
