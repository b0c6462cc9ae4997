/** Formats values of the chain for this library's answers. */
import { bytesToHex } from '@noble/hashes/utils.js';
import { PublicKey } from '@solana/web3.js';
import type { CollateralTier } from '../program/program.ts';
import { formatUsdc } from '../wire/usdc.ts';

/** Unix seconds as ISO 8601 in UTC; null for 0, which on-chain means never. */
export function formatTime(seconds: bigint): string | null {
  return seconds === 0n ? null : new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Bytes as lower-case hex; null for all zero, which on-chain means none. */
export function formatBytes(bytes: Uint8Array): string | null {
  return bytes.every((byte) => byte === 0) ? null : bytesToHex(bytes);
}

/** The address, or null for the zero key, which on-chain means nobody. */
export function formatKey(key: PublicKey): string | null {
  return key.equals(PublicKey.default) ? null : key.toBase58();
}

/** Collateral tiers as JSON, USDC. */
export function formatTiers(tiers: readonly CollateralTier[]) {
  return tiers.map(({ maxPrice, deposit }) => ({
    max_price_usdc: formatUsdc(maxPrice),
    deposit_usdc: formatUsdc(deposit),
  }));
}

/** Receives progress messages for the user, one line each. */
export type Progress = (line: string) => void;
