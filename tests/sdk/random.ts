/** Random values of the IDL's types, in the SDK's form and in that of Anchor's coder. */
import { randomBytes } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import type { IdlType } from '../../app/sdk/program/idlTypes.ts';
import { toCamel } from '../../app/sdk/program/idlValues.ts';
import { idl } from '../../app/sdk/program/program.ts';
import { coder, toBorsh } from '../harness/vm/anchorCoder.ts';

const BITS = { u8: 8, u16: 16, u32: 32, u64: 64, i64: 64 };

/** A random value in the SDK's form, and the same in Anchor's form. */
export function random(type: IdlType): [sdk: unknown, anchor: unknown] {
  if (typeof type === 'object' && 'defined' in type) return randomDefined(type.defined.name);
  if (typeof type === 'object' && 'option' in type) return Math.random() < 0.5 ? [null, null] : random(type.option);
  if (typeof type === 'object') {
    // Anchor's coder of events has a buffer of 1,000 bytes, too small for three records.
    const most = 'vec' in type && typeof type.vec === 'object' ? 2 : 4;
    const [item, length] = 'array' in type ? type.array : [type.vec, Math.floor(Math.random() * (most + 1))];
    if (item === 'u8') return both(new Uint8Array(randomBytes(length)));
    const values = Array.from({ length }, () => random(item));
    return [values.map(([value]) => value), values.map(([, value]) => value)];
  }
  if (type === 'bool') return both(Math.random() < 0.5);
  if (type === 'pubkey') return both(new PublicKey(randomBytes(32)));
  if (type === 'string') return both('aü世🌍'.repeat(Math.floor(Math.random() * 5)));
  const bits = BITS[type];
  if (bits < 64) return both(randomBytes(4).readUInt32LE() >>> (32 - bits));
  return both(type === 'i64' ? randomBytes(8).readBigInt64LE() : randomBytes(8).readBigUInt64LE());
}

const both = (value: unknown): [unknown, unknown] => [value, toBorsh(value)];

export function randomDefined(name: string): [unknown, unknown] {
  const { type } = idl.types.find((candidate) => candidate.name === name)!;
  if (type.kind === 'enum') {
    const variant = type.variants[Math.floor(Math.random() * type.variants.length)]!.name;
    return [variant.charAt(0).toLowerCase() + variant.slice(1), { [variant]: {} }];
  }
  const fields = type.fields.map((field) => [field.name, ...random(field.type)] as const);
  return [
    Object.fromEntries(fields.map(([key, value]) => [toCamel(key), value])),
    Object.fromEntries(fields.map(([key, , value]) => [key, value])),
  ];
}

/** An event with random values, and its bytes as the program prints them. */
export function randomEvent(name: string) {
  const { discriminator } = idl.events.find((event) => event.name === name)!;
  const [data, anchor] = randomDefined(name);
  return { name, data, bytes: Buffer.concat([Buffer.from(discriminator), coder.types.encode(name, anchor)]) };
}
