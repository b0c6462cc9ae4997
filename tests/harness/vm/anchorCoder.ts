/** Encodes and decodes accounts and events with Anchor's coder, independently of the SDK, to compare with it. */
import anchor from '@coral-xyz/anchor';
import { PublicKey } from '@solana/web3.js';
import idlJson from '../../../app/sdk/program/idl/marketplace.json' with { type: 'json' };

export const coder = new anchor.BorshCoder(idlJson as unknown as anchor.Idl);

/** Converts values decoded by Anchor to the form of the SDK. */
export function fromBorsh(value: unknown): unknown {
  if (anchor.BN.isBN(value)) return BigInt((value as anchor.BN).toString());
  if (value instanceof PublicKey || value instanceof Uint8Array || typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.every((item) => typeof item === 'number') ? Uint8Array.from(value) : value.map(fromBorsh);
  }
  const entries = Object.entries(value);
  const [first] = entries;
  // A fieldless enum is { Variant: {} }. No struct of ours has a field in upper case.
  if (entries.length === 1 && first && /^[A-Z]/.test(first[0])) {
    return first[0].charAt(0).toLowerCase() + first[0].slice(1);
  }
  return Object.fromEntries(entries.map(([key, item]) => [toCamel(key), fromBorsh(item)]));
}

/** Converts arguments from the form of the SDK to that of Anchor. Enums become { Variant: {} }. */
export function toBorsh(value: unknown): unknown {
  if (typeof value === 'bigint') return new anchor.BN(value.toString());
  if (value instanceof Uint8Array) return Array.from(value);
  if (value instanceof PublicKey || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toBorsh);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [toSnake(key), toBorsh(item)]));
}

const toCamel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const toSnake = (name: string): string =>
  /^[A-Z]/.test(name) ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
