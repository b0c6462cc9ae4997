/**
 * Borsh, in which the program writes accounts and events and reads arguments: a codec for each type of the IDL that it
 * uses. Integers of 64 bits are bigint, smaller ones number, byte arrays Uint8Array. What an address becomes is its
 * reader's choice: PublicKey in pubkey.ts, text for whoever reads without web3.js.
 */
import { concatBytes } from '@noble/hashes/utils.js';
import type { IdlType } from './idlTypes.ts';

/** Reads and writes the values of one type; `type` is what the IDL calls it. */
export interface Codec<T> {
  type: IdlType;
  /** Throws RangeError where the bytes end too early or stand for no value. */
  read(bytes: ByteReader): T;
  /** The bytes of a value. Throws RangeError where it does not fit the type. */
  write(value: T): Uint8Array;
}

export type ValueOf<C> = C extends Codec<infer T> ? T : never;

/** Walks over bytes; throws RangeError where they end too early. */
export class ByteReader {
  private readonly data: Uint8Array;
  private readonly view: DataView;
  private at: number;

  constructor(data: Uint8Array, at = 0) {
    this.data = data;
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    this.at = at;
  }

  get left(): number {
    return this.data.length - this.at;
  }

  /** A copy of the next bytes, so that a small value does not keep the whole in memory. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const at = this.pass(length);
    const taken = new Uint8Array(length);
    // Most are 16 or 32 bytes, for which a view to copy from would cost more than the copy.
    if (length > 64) taken.set(this.data.subarray(at, at + length));
    else for (let index = 0; index < length; index += 1) taken[index] = this.data[at + index]!;
    return taken;
  }

  /** Goes on behind these bytes, some fours of them, where they are the next ones. */
  skip(bytes: DataView): boolean {
    const { at, view } = this;
    const length = bytes.byteLength;
    if (length > this.left) return false;
    for (let index = 0; index < length; index += 4) {
      if (bytes.getInt32(index) !== view.getInt32(at + index)) return false;
    }
    this.at += length;
    return true;
  }

  /** An unsigned integer of the next two bytes, which are still to be read; 0 where they are not there. */
  peek(): number {
    return (this.data[this.at] ?? 0) | ((this.data[this.at + 1] ?? 0) << 8);
  }

  /** An unsigned integer of so many bytes. */
  takeSmall(bytes: 1 | 2 | 4): number {
    const at = this.pass(bytes);
    if (bytes === 1) return this.view.getUint8(at);
    return bytes === 2 ? this.view.getUint16(at, true) : this.view.getUint32(at, true);
  }

  takeBig(isSigned: boolean): bigint {
    const at = this.pass(8);
    return isSigned ? this.view.getBigInt64(at, true) : this.view.getBigUint64(at, true);
  }

  /** Goes on behind the next bytes and tells where they begin. */
  private pass(length: number): number {
    if (length > this.left) throw new RangeError(`the bytes end ${length - this.left} too early`);
    const at = this.at;
    this.at += length;
    return at;
  }
}

function smallInteger(type: 'u8' | 'u16' | 'u32', bytes: 1 | 2 | 4): Codec<number> {
  const beyond = 2 ** (8 * bytes);
  return {
    type,
    read: (from) => from.takeSmall(bytes),
    write(value) {
      if (!Number.isInteger(value) || value < 0 || value >= beyond) throw unfit(type, value);
      return Uint8Array.from({ length: bytes }, (_, index) => value / 256 ** index);
    },
  };
}

function bigInteger(type: 'u64' | 'i64'): Codec<bigint> {
  const isSigned = type === 'i64';
  return {
    type,
    read: (from) => from.takeBig(isSigned),
    write(value) {
      const fits = typeof value === 'bigint' && (isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
      if (fits !== value) throw unfit(type, value);
      const view = new DataView(new ArrayBuffer(8));
      view.setBigUint64(0, BigInt.asUintN(64, value), true);
      return new Uint8Array(view.buffer);
    },
  };
}

export const u8 = smallInteger('u8', 1);
export const u16 = smallInteger('u16', 2);
export const u32 = smallInteger('u32', 4);
export const u64 = bigInteger('u64');
export const i64 = bigInteger('i64');

export const bool: Codec<boolean> = {
  type: 'bool',
  read: (from) => u8.read(from) !== 0,
  write(value) {
    if (typeof value !== 'boolean') throw unfit('bool', value);
    return Uint8Array.of(value ? 1 : 0);
  },
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

export const text: Codec<string> = {
  type: 'string',
  read: (from) => utf8.decode(from.take(u32.read(from))),
  write(value) {
    if (typeof value !== 'string') throw unfit('string', value);
    const bytes = new TextEncoder().encode(value);
    return concatBytes(u32.write(bytes.length), bytes);
  },
};

/** So many bytes. */
export const bytesOf = (length: number): Codec<Uint8Array> => ({
  type: { array: ['u8', length] },
  read: (from) => from.take(length),
  write(value) {
    if (!(value instanceof Uint8Array) || value.length !== length) throw unfit(`${length} bytes`, value);
    return value;
  },
});

/** So many values of one type. */
export const arrayOf = <T>(item: Codec<T>, length: number): Codec<T[]> => ({
  type: { array: [item.type, length] },
  read: (from) => Array.from({ length }, () => item.read(from)),
  write(values) {
    if (!Array.isArray(values) || values.length !== length) throw unfit(`${length} values`, values);
    return concatBytes(...values.map(item.write));
  },
});

/** Any number of values of one type. */
export const listOf = <T>(item: Codec<T>): Codec<T[]> => ({
  type: { vec: item.type },
  read: (from) => Array.from({ length: u32.read(from) }, () => item.read(from)),
  write(values) {
    if (!Array.isArray(values)) throw unfit('a list', values);
    return concatBytes(u32.write(values.length), ...values.map(item.write));
  },
});

/** A value, or null. */
export const optionOf = <T>(item: Codec<T>): Codec<T | null> => ({
  type: { option: item.type },
  read(from) {
    const tag = u8.read(from);
    if (tag > 1) throw new RangeError(`an option begins with 0 or 1, not with ${tag}`);
    return tag === 1 ? item.read(from) : null;
  },
  write: (value) => (value === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), item.write(value))),
});

/** A value that is one of these names, and whose byte is the name's index. */
export const enumOf = (name: string, variants: readonly string[]): Codec<string> => ({
  type: { defined: { name } },
  read(from) {
    const index = u8.read(from);
    const variant = variants[index];
    if (variant === undefined) throw new RangeError(`${name} has no variant ${index}`);
    return variant;
  },
  write(value) {
    const index = variants.indexOf(value);
    if (index < 0) throw unfit(name, value);
    return Uint8Array.of(index);
  },
});

/** Named fields, one after the other. What else an object holds is not written. */
export function structOf<Codecs extends Record<string, Codec<unknown>>>(
  name: string,
  codecs: Codecs,
): Codec<{ [Key in keyof Codecs]: ValueOf<Codecs[Key]> }> {
  const fields = Object.entries(codecs);
  const template: Record<string, unknown> = Object.fromEntries(fields.map(([key]) => [key, null]));
  return {
    type: { defined: { name } },
    read(from) {
      const value: Record<string, unknown> = { ...template };
      for (const [key, codec] of fields) value[key] = codec.read(from);
      return value as { [Key in keyof Codecs]: ValueOf<Codecs[Key]> };
    },
    write(value) {
      const parts = fields.map(([key, codec]) => {
        if (value[key] === undefined) throw new RangeError(`${name} needs ${key}`);
        return codec.write(value[key]);
      });
      return concatBytes(...parts);
    },
  };
}

function unfit(type: string, value: unknown): RangeError {
  return new RangeError(`${String(value)} is not ${/^\d|^a /.test(type) ? type : `a value of type ${type}`}`);
}
