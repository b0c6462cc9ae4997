/**
 * All ways in which one account of an instruction can be wrong. Each mutation decides to which accounts it applies, and
 * changes the instruction or the account. Nothing here depends on a particular instruction.
 */
import { AccountLayout, MintLayout, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { type AccountMeta, type PublicKey, SystemProgram } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import type { RawAccount } from '../../harness/vm/backend.ts';
import { namedKeypair } from '../../harness/vm/keys.ts';
import { TEST_CALLER_ID } from '../../harness/vm/outcome.ts';
import { NOBODY } from './parties.ts';
import { accountNames, type Scene, type Target, TYPES } from './targets.ts';

/** Changes the account's entry in the instruction, or the account at that address, or both. */
export interface Change {
  meta?: Partial<AccountMeta>;
  account?: RawAccount | null;
}

export interface Variant {
  name: string;
  change(scene: Scene, target: Target): Change;
}

/** Address for misplaced accounts. */
const ELSEWHERE = namedKeypair('elsewhere').publicKey;
const OTHER_MINT = namedKeypair('other mint').publicKey;
/** Addresses that mutations write to. */
export const WRITTEN = [ELSEWHERE];

export type Mutation = keyof typeof MUTATIONS;

/** The variants of each mutation for an account; none if it does not apply. */
export const MUTATIONS = {
  'wrong owner': (target: Target): Variant[] => {
    if (isBuiltIn(target)) return [];
    if (isEmpty(target)) return [inPlace('taken by another program', () => foreign(8))];
    const another = inPlace("another program's", (account) => ({ ...account, owner: TEST_CALLER_ID }));
    if (target.kind === 'wallet') return [another];
    return [another, inPlace("the system program's", (account) => ({ ...account, owner: SystemProgram.programId }))];
  },

  'wrong PDA': (target: Target): Variant[] => {
    if (target.signer) return [];
    if (target.kind === 'program') return [{ name: 'another program', change: () => at(TEST_CALLER_ID) }];
    if (isEmpty(target)) return [{ name: 'another empty address', change: () => at(ELSEWHERE) }];
    return [{ name: 'the same bytes elsewhere', change: (scene, { index }) => at(ELSEWHERE, found(scene, index)) }];
  },

  'not signing': (target: Target): Variant[] =>
    target.signer ? [{ name: 'without its signature', change: () => ({ meta: { isSigner: false } }) }] : [],

  'read-only': (target: Target): Variant[] =>
    target.writable ? [{ name: 'not writable', change: () => ({ meta: { isWritable: false } }) }] : [],

  duplicated: (target: Target): Variant[] =>
    target.siblings.map((sibling) => ({
      name: `${sibling} in its place`,
      change: ({ mine }) => {
        const other = mine.at(-1)!.keys[accountNames(target).indexOf(sibling)]!;
        return at(other.pubkey, undefined, target.signer && other.isSigner);
      },
    })),

  "another user's": (target: Target): Variant[] => {
    const variants: Variant[] = [];
    if (target.signer) variants.push({ name: "a stranger's", change: () => at(NOBODY.publicKey) });
    if (!target.single) variants.push({ name: "another user's own", change: theirOwn });
    if (target.kind === 'token' && !target.absent) {
      const given = (data: Buffer) => recode(data, { owner: NOBODY.publicKey });
      variants.push(
        inPlace('given to a stranger', (account) => ({ ...account, data: given(Buffer.from(account.data)) })),
      );
    }
    return variants;
  },

  closed: (target: Target): Variant[] => {
    if (isBuiltIn(target) || isEmpty(target)) return [];
    const gone = inPlace('gone', () => null);
    if (target.kind === 'wallet') return [gone];
    const emptied = { owner: SystemProgram.programId, data: new Uint8Array() };
    return [
      gone,
      inPlace('emptied, its lamports left', (account) => ({ ...account, ...emptied })),
      inPlace('wiped to zeros', (account) => ({ ...account, data: new Uint8Array(account.data.length) })),
    ];
  },

  'other mint': (target: Target): Variant[] => {
    const token2022 = inPlace("Token-2022's", (account) => ({ ...account, owner: TOKEN_2022_PROGRAM_ID }));
    if (target.kind === 'mint') {
      const mint = (scene: Scene, index: number) => found(scene, index);
      return [
        token2022,
        { name: 'another mint', change: (scene, { index }) => at(ELSEWHERE, mint(scene, index)) },
        {
          name: "another mint, Token-2022's",
          change: (scene, { index }) => at(ELSEWHERE, { ...mint(scene, index), owner: TOKEN_2022_PROGRAM_ID }),
        },
      ];
    }
    if (target.kind !== 'token') return [];
    if (target.absent) return [inPlace('there already, of another mint', () => otherMintAccount())];
    const other = (account: RawAccount) => {
      return { ...account, data: recode(Buffer.from(account.data), { mint: OTHER_MINT }) };
    };
    return [
      token2022,
      inPlace('of another mint', other),
      { name: 'elsewhere, of another mint', change: (scene, { index }) => at(ELSEWHERE, other(found(scene, index))) },
    ];
  },

  'type cosplay': (target: Target): Variant[] => {
    if (target.signer || isBuiltIn(target)) return [];
    const others = TYPES.filter((type) => type !== target.type);
    const substitutes = others.map((type) => ({
      name: `a real ${type}`,
      change: ({ samples }: Scene) => at(samples.get(type)!),
    }));
    if (target.kind === 'mint') return [...substitutes, inPlace('bytes of a token account', () => otherMintAccount())];
    if (target.kind === 'token' && !target.absent) return [...substitutes, inPlace('bytes of a mint', asMint)];
    if (target.kind !== 'state') return substitutes;
    const types = target.absent ? TYPES : others;
    return [
      ...substitutes,
      ...types.map((type) => inPlace(`its bytes as ${type}`, (account) => stamped(type, account))),
    ];
  },
} satisfies Record<string, (target: Target) => Variant[]>;

/** True for programs of the VM, which no transaction can change. */
function isBuiltIn({ kind }: Target): boolean {
  return kind === 'program';
}

/** True if there is no account when the instruction is sent. */
function isEmpty({ kind, absent }: Target): boolean {
  return absent || kind === 'address';
}

/** Replaces the account by another address, optionally after writing an account there. */
function at(pubkey: PublicKey, account?: RawAccount, isSigner?: boolean): Change {
  const meta = isSigner === undefined ? { pubkey } : { pubkey, isSigner };
  return account === undefined ? { meta } : { meta, account };
}

/** Changes the account at its own address. */
function inPlace(name: string, alter: (account: RawAccount) => RawAccount | null): Variant {
  const nothing: RawAccount = { lamports: 0n, owner: SystemProgram.programId, data: new Uint8Array() };
  return {
    name,
    change: ({ mine, baseline }, { index }) => ({
      account: alter(baseline.get(mine.at(-1)!.keys[index]!.pubkey) ?? nothing),
    }),
  };
}

function theirOwn({ mine, theirs }: Scene, { index, title, name }: Target): Change {
  const { pubkey } = theirs.at(-1)!.keys[index]!;
  if (pubkey.equals(mine.at(-1)!.keys[index]!.pubkey)) throw new Error(`${title}: ${name} is the same for both sides`);
  return at(pubkey);
}

/** The account at an account's address. */
function found({ mine, baseline }: Scene, index: number): RawAccount {
  const account = baseline.get(mine.at(-1)!.keys[index]!.pubkey);
  if (!account) throw new Error('there is no account to copy');
  return account;
}

function foreign(bytes: number): RawAccount {
  return { lamports: 10_000_000n, owner: TEST_CALLER_ID, data: new Uint8Array(bytes) };
}

/** Overwrites some fields of a token account. */
function recode(data: Buffer, fields: { mint?: PublicKey; owner?: PublicKey }): Uint8Array {
  const recoded = Buffer.alloc(AccountLayout.span);
  AccountLayout.encode({ ...AccountLayout.decode(data), ...fields }, recoded);
  return recoded;
}

function otherMintAccount(): RawAccount {
  const data = Buffer.alloc(AccountLayout.span);
  AccountLayout.encode({ ...AccountLayout.decode(data), mint: OTHER_MINT, owner: NOBODY.publicKey, state: 1 }, data);
  return { lamports: 10_000_000n, owner: TOKEN_PROGRAM_ID, data };
}

function asMint(account: RawAccount): RawAccount {
  const data = Buffer.alloc(MintLayout.span);
  MintLayout.encode({ ...MintLayout.decode(data), decimals: 6, isInitialized: true }, data);
  return { ...account, data };
}

/** An account of the program with the discriminator of another type, long enough for any type. */
function stamped(type: string, account: RawAccount): RawAccount {
  const { discriminator } = program.idl.accounts!.find(({ name }) => name === type)!;
  const data = new Uint8Array(account.data.length || 600);
  data.set(account.data);
  data.set(discriminator);
  return { lamports: account.lamports || 10_000_000n, owner: program.PROGRAM_ID, data };
}
