/**
 * Borsh codecs for the IDL types that the program uses in accounts, events and arguments. 64-bit integers are bigint,
 * smaller ones number, byte arrays Uint8Array. The reader chooses the type of an address: PublicKey in pubkey.ts, text
 * for readers without web3.js.
 */
import { concatBytes } from '@noble/hashes/utils.js';

/** Reads and writes the values of one type. */
export interface Codec<T> {
  /** Throws RangeError if the bytes end too early or encode no value. */
  read(bytes: ByteReader): T;
  /** The bytes of a value. Throws RangeError if the value does not fit the type. */
  write(value: T): Uint8Array;
}

/** Reads bytes in sequence; throws RangeError if they end too early. */
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

  /** A copy of the next bytes, so that a small value does not keep the whole buffer in memory. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const at = this.pass(length);
    return new Uint8Array(this.data.subarray(at, at + length));
  }

  /** An unsigned integer of this many bytes. */
  takeSmall(bytes: 1 | 2 | 4): number {
    const at = this.pass(bytes);
    if (bytes === 1) return this.view.getUint8(at);
    return bytes === 2 ? this.view.getUint16(at, true) : this.view.getUint32(at, true);
  }

  takeBig(isSigned: boolean): bigint {
    const at = this.pass(8);
    return isSigned ? this.view.getBigInt64(at, true) : this.view.getBigUint64(at, true);
  }

  /** Moves past the next bytes and returns where they begin. */
  private pass(length: number): number {
    if (length > this.left) throw new RangeError(`the data ends ${length - this.left} bytes too early`);
    const at = this.at;
    this.at += length;
    return at;
  }
}
function smallInteger(name: string, bytes: 1 | 2 | 4): Codec<number> {
  const beyond = 2 ** (8 * bytes);
  return {
    read: (from) => from.takeSmall(bytes),
    write(value) {
      if (!Number.isInteger(value) || value < 0 || value >= beyond) throw unfit(name, value);
      return Uint8Array.from({ length: bytes }, (_, index) => value / 256 ** index);
    },
  };
}

function bigInteger(name: string, isSigned: boolean): Codec<bigint> {
  return {
    read: (from) => from.takeBig(isSigned),
    write(value) {
      const fits = typeof value === 'bigint' && (isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
      if (fits !== value) throw unfit(`${name} as bigint`, value);
      const view = new DataView(new ArrayBuffer(8));
      view.setBigUint64(0, BigInt.asUintN(64, value), true);
      return new Uint8Array(view.buffer);
    },
  };
}

export const u8 = smallInteger('u8', 1);
export const u16 = smallInteger('u16', 2);
export const u32 = smallInteger('u32', 4);
export const u64 = bigInteger('u64', false);
export const i64 = bigInteger('i64', true);

export const bool: Codec<boolean> = {
  read: (from) => u8.read(from) !== 0,
  write(value) {
    if (typeof value !== 'boolean') throw unfit('true or false', value);
    return Uint8Array.of(value ? 1 : 0);
  },
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const text: Codec<string> = {
  read: (from) => utf8.decode(from.take(u32.read(from))),
  write(value) {
    if (typeof value !== 'string') throw unfit('text', value);
    const bytes = new TextEncoder().encode(value);
    return concatBytes(u32.write(bytes.length), bytes);
  },
};

/** A fixed number of bytes. */
export const bytesOf = (length: number): Codec<Uint8Array> => ({
  read: (from) => from.take(length),
  write(value) {
    if (!(value instanceof Uint8Array)) throw unfit(`a Uint8Array of ${length} bytes`, value);
    if (value.length !== length) throw unfit(`${length} bytes`, value.length);
    return value;
  },
});

/** A fixed number of values of one type. */
export const arrayOf = <T>(item: Codec<T>, length: number): Codec<T[]> => ({
  read: (from) => Array.from({ length }, () => item.read(from)),
  write(values) {
    if (!Array.isArray(values)) throw unfit('an array', values);
    if (values.length !== length) throw unfit(`${length} values`, values.length);
    return concatBytes(...values.map(item.write));
  },
});

/** Any number of values of one type. */
export const listOf = <T>(item: Codec<T>): Codec<T[]> => ({
  read: (from) => Array.from({ length: u32.read(from) }, () => item.read(from)),
  write(values) {
    if (!Array.isArray(values)) throw unfit('an array', values);
    return concatBytes(u32.write(values.length), ...values.map(item.write));
  },
});

/** A value, or null. */
export const optionOf = <T>(item: Codec<T>): Codec<T | null> => ({
  read(from) {
    const tag = u8.read(from);
    if (tag > 1) throw unfit('0 or 1 before an optional value', tag);
    return tag === 1 ? item.read(from) : null;
  },
  write: (value) => (value === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), item.write(value))),
});

/** One of these names; its byte is its index. */
export const enumOf = (name: string, variants: readonly string[]): Codec<string> => ({
  read(from) {
    const index = u8.read(from);
    const variant = variants[index];
    if (variant === undefined) throw new RangeError(`${name} has no variant ${index}`);
    return variant;
  },
  write(value) {
    const index = variants.indexOf(value);
    if (index < 0) throw unfit(`${name} as one of ${variants.join(', ')}`, value);
    return Uint8Array.of(index);
  },
});

/** Named fields, one after the other. Other properties of the object are not written. */
export function structOf(
  name: string,
  codecs: Readonly<Record<string, Codec<unknown>>>,
): Codec<Record<string, unknown>> {
  const fields = Object.entries(codecs);
  return {
    read: (from) => {
      const value: Record<string, unknown> = {};
      for (const [key, codec] of fields) value[key] = codec.read(from);
      return value;
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

function unfit(expected: string, value: unknown): RangeError {
  return new RangeError(`expected ${expected}, got ${String(value)}`);
}
