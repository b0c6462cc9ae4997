/** The rent of accounts, by the Rent sysvar. It can change, so nothing is cached. */
import { SYSVAR_RENT_PUBKEY } from '@solana/web3.js';
import { ACCOUNT_OVERHEAD, TOKEN_ACCOUNT_SIZE } from '../../sdk/program/foreign.ts';
import { parseAddress, RECORD_SIZE } from '../../sdk/program/program.ts';

/** The account with the rent parameters. */
export const RENT_ADDRESS = parseAddress(SYSVAR_RENT_PUBKEY.toBase58());

/** Minimum lamports of a permanent account, by kind. */
export interface Rents {
  /** An account without data, such as a gas balance. */
  empty: bigint;
  record: bigint;
  escrow: bigint;
}

/** Decodes the sysvar's data: lamports per byte and year as u64, then the years as a float. */
export function decodeRents(data: Uint8Array): Rents {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const perByte = Number(view.getBigUint64(0, true)) * view.getFloat64(8, true);
  const of = (bytes: number) => BigInt(Math.ceil((ACCOUNT_OVERHEAD + bytes) * perByte));
  return { empty: of(0), record: of(RECORD_SIZE), escrow: of(TOKEN_ACCOUNT_SIZE) };
}
