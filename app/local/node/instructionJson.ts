/**
 * Parsed instructions for `jsonParsed`: those of wallets, tokens and memos. All others, including those of multisigs,
 * are shown as bytes.
 */
import { PublicKey } from '@solana/web3.js';
import { tokenAmount } from './accountJson.ts';

export interface Parsed {
  program: string;
  parsed: string | { type: string; info: object };
}

type Reader = (data: Buffer, accounts: string[]) => { type: string; info: object } | null;

const SYSTEM = '11111111111111111111111111111111';
/** The current version and the first one. */
export const MEMO_PROGRAMS = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
];
const KEY_BYTES = 32;

/** Null if the instruction is shown as bytes. */
export function parseInstruction(programId: string, accounts: string[], data: Buffer): Parsed | null {
  if (MEMO_PROGRAMS.includes(programId)) return { program: 'spl-memo', parsed: data.toString('utf8') };
  const known = PROGRAMS[programId];
  try {
    const parsed = known?.read(data, accounts) ?? null;
    return parsed && { program: known!.program, parsed };
  } catch {
    // The data are too short for their kind.
    return null;
  }
}

function keyAt(data: Buffer, at: number): string {
  const key = data.subarray(at, at + KEY_BYTES);
  if (key.length < KEY_BYTES) throw new RangeError('too short');
  return new PublicKey(key).toBase58();
}

/** An optional key: one byte that is 1 if it is present, then the key. */
function optionalKeyAt(data: Buffer, at: number): string | null {
  return data[at] === 1 ? keyAt(data, at + 1) : null;
}

/** Names the accounts in order; null if their number differs. */
function named(type: string, names: string[], accounts: string[], more: object = {}) {
  if (accounts.length !== names.length) return null;
  const info = Object.fromEntries(names.map((name, index) => [name, accounts[index]]));
  return { type, info: { ...info, ...more } };
}

const readSystem: Reader = (data, accounts) => {
  const kind = data.readUInt32LE(0);
  if (kind === 2)
    return named('transfer', ['source', 'destination'], accounts, { lamports: Number(data.readBigUInt64LE(4)) });
  if (kind !== 0) return null;
  const sizes = { lamports: Number(data.readBigUInt64LE(4)), space: Number(data.readBigUInt64LE(12)) };
  return named('createAccount', ['source', 'newAccount'], accounts, { ...sizes, owner: keyAt(data, 20) });
};

const readAssociated: Reader = (data, accounts) => {
  const names = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];
  if (data.length > 1 || (data[0] ?? 0) > 1) return null;
  return named(data[0] === 1 ? 'createIdempotent' : 'create', names, accounts);
};

/** Instructions that move an amount: type and accounts. */
const AMOUNTS: Record<number, [string, string[]]> = {
  3: ['transfer', ['source', 'destination', 'authority']],
  4: ['approve', ['source', 'delegate', 'owner']],
  7: ['mintTo', ['mint', 'account', 'mintAuthority']],
  8: ['burn', ['account', 'mint', 'authority']],
};
/** The same with the mint's decimals, so that the amount can be shown in tokens. */
const CHECKED: Record<number, [string, string[]]> = {
  12: ['transferChecked', ['source', 'mint', 'destination', 'authority']],
  13: ['approveChecked', ['source', 'mint', 'delegate', 'owner']],
  14: ['mintToChecked', ['mint', 'account', 'mintAuthority']],
  15: ['burnChecked', ['account', 'mint', 'authority']],
};
const PLAIN: Record<number, [string, string[]]> = {
  5: ['revoke', ['source', 'owner']],
  9: ['closeAccount', ['account', 'destination', 'owner']],
  10: ['freezeAccount', ['account', 'mint', 'freezeAuthority']],
  11: ['thawAccount', ['account', 'mint', 'freezeAuthority']],
  22: ['initializeImmutableOwner', ['account']],
};

const readToken: Reader = (data, accounts) => {
  const kind = data.readUInt8(0);
  const amount = AMOUNTS[kind];
  if (amount) return named(...amount, accounts, { amount: String(data.readBigUInt64LE(1)) });
  const checked = CHECKED[kind];
  if (checked) {
    const told = tokenAmount(data.readBigUInt64LE(1), data.readUInt8(9));
    return named(...checked, accounts, { tokenAmount: told });
  }
  const plain = PLAIN[kind];
  if (plain) return named(...plain, accounts);
  if (kind === 18) return named('initializeAccount3', ['account', 'mint'], accounts, { owner: keyAt(data, 1) });
  if (kind === 20) {
    const freezeAuthority = optionalKeyAt(data, 34);
    const more = {
      decimals: data.readUInt8(1),
      mintAuthority: keyAt(data, 2),
      ...(freezeAuthority && { freezeAuthority }),
    };
    return named('initializeMint2', ['mint'], accounts, more);
  }
  // The query of the associated-account program: the length of an account with an immutable owner.
  const isOwnerKept = kind === 21 && data.length === 3 && data.readUInt16LE(1) === 7;
  return isOwnerKept ? named('getAccountDataSize', ['mint'], accounts, { extensionTypes: ['immutableOwner'] }) : null;
};

const PROGRAMS: Record<string, { program: string; read: Reader }> = {
  [SYSTEM]: { program: 'system', read: readSystem },
  TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA: { program: 'spl-token', read: readToken },
  ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL: { program: 'spl-associated-token-account', read: readAssociated },
};
