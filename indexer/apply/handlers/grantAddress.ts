/**
 * Caches addresses of grants. Events of executions do not name the grant, and deriving its address takes a third of a
 * millisecond.
 */
import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { findGrant } from '../../../app/sdk/program/program.ts';
import { base58, hex } from '../columns.ts';

/** About 20 MB. */
const MAX_KNOWN = 100_000;

const known = new LRUCache<string, string>({ max: MAX_KNOWN });
const idOf = (wallet: string, keyId: string) => `${wallet} ${keyId}`;

/** The grant of a wallet's key, by the key's id in hex. */
export function grantAddress(wallet: string, keyId: string): string {
  const id = idOf(wallet, keyId);
  let address = known.get(id);
  if (address === undefined) {
    address = findGrant(new PublicKey(wallet), Buffer.from(keyId, 'hex')).toBase58();
    known.set(id, address);
  }
  return address;
}

/** Caches the address that an event gives. */
export function rememberGrant(wallet: PublicKey, keyId: Uint8Array, grant: PublicKey): void {
  known.set(idOf(base58(wallet), hex(keyId)), base58(grant));
}
