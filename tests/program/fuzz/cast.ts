/** The parties of a sequence with their accounts and money, and the pools from which steps draw keys and numbers. */
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { type Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import { findCallerPda } from '../../harness/vm/caller.ts';
import { namedKeypair } from '../../harness/vm/keys.ts';
import { USDC } from '../../harness/vm/world.ts';
import { type Address, type Entry, rentOf, TOKEN_ACCOUNT_BYTES, text } from './ledger.ts';

export const MINT = namedKeypair('usdc mint').publicKey;
export const MINT_AUTHORITY = namedKeypair('mint authority');
export const FEE_PAYER = namedKeypair('fee payer');
export const UPGRADE_AUTHORITY = namedKeypair('upgrade authority');

const people = (...names: string[]): Keypair[] => names.map((name) => namedKeypair(`fuzz ${name}`));

const [adminA, adminB] = people('admin A', 'admin B') as [Keypair, Keypair];
const relays = people(...'ABCDEFGHI'.split('').map((letter) => `relay ${letter}`));
const [relayA] = relays as [Keypair];
const [creatorA, callerA] = people('creator A', 'caller A') as [Keypair, Keypair];
/** Some parties have two roles: a relay calls, and a caller sells. */
const [creatorB, callerB] = [callerA, relayA];
const [stranger, sponsor, guardian] = people('stranger', 'sponsor', 'guardian') as [Keypair, Keypair, Keypair];

export const ADMINS: PublicKey[] = [adminA.publicKey, adminB.publicKey];
/** One more than a config can hold. */
export const RELAYS: PublicKey[] = relays.map(({ publicKey }) => publicKey);
export const CREATORS: PublicKey[] = [creatorA.publicKey, creatorB.publicKey];
/** A caller that is a PDA: it signs by CPI and cannot pay rent. */
export const PDA_CALLER: PublicKey = findCallerPda();
export const CALLERS: PublicKey[] = [callerA.publicKey, callerB.publicKey, PDA_CALLER];
/** May pause opens and remove relays. */
export const GUARDIAN: PublicKey = guardian.publicKey;
export const STRANGER: PublicKey = stranger.publicKey;
/** The account of an archive's tree, which the program does not create. */
export const TREE: PublicKey = namedKeypair('fuzz tree').publicKey;
/** Pays rent for others. */
export const SPONSOR: PublicKey = sponsor.publicKey;
/** Receives returned rent, signs nothing, and starts without lamports. */
export const COLD: PublicKey = namedKeypair('fuzz cold').publicKey;

/** Keys that sign results. Each may serve one listing of a sequence. */
export const SIGNING_KEYS: Keypair[] = Array.from({ length: 12 }, (_, index) => namedKeypair(`fuzz key ${index}`));
const SIGNERS = [adminA, adminB, ...relays, creatorA, callerA, stranger, sponsor, guardian];
const KEYPAIRS = new Map(
  [...SIGNERS, ...SIGNING_KEYS, UPGRADE_AUTHORITY].map((pair) => [pair.publicKey.toBase58(), pair]),
);

/** The keypair of an address, if it can sign transactions. */
export function keypairOf(address: Address): Keypair | undefined {
  return KEYPAIRS.get(address);
}

/** A party's associated USDC account. */
export const wallet = (owner: PublicKey): Address => text(program.findTokenAccount(owner, MINT));
/** A party's second USDC account. */
export const spareAccount = (owner: PublicKey): Address => {
  const known = SPARE_ACCOUNTS.get(text(owner));
  if (!known) throw new RangeError(`${text(owner)} has no second account`);
  return known;
};

const OWNERS = [...CREATORS, ...CALLERS, STRANGER];
const SPARE_ACCOUNTS = new Map(
  OWNERS.map((owner) => [text(owner), text(namedKeypair(`spareAccount ${text(owner)}`).publicKey)]),
);

/** Initial USDC in the first and second account of these parties. */
const MONEY: [PublicKey[], bigint, bigint][] = [
  [CREATORS, 2_000n * USDC, 300n * USDC],
  [CALLERS, 150n * USDC, 40n * USDC],
  [[STRANGER], 100_000n * USDC, 100n * USDC],
];
const LAMPORTS = 1_000_000_000_000n;
/** Initial amount of a gas balance, enough for about twenty opens with their rent. */
const GAS_BALANCE = 100_000_000n;

/** A caller's gas balance. */
export const gasBalance = (caller: PublicKey): Address => text(program.findSpender(caller));

/** All accounts at the start of a sequence. */
export function startingAccounts(lamportsPerByte: bigint): [Address, Entry][] {
  const token = (owner: PublicKey, amount: bigint): Entry => ({
    lamports: rentOf(TOKEN_ACCOUNT_BYTES, lamportsPerByte),
    token: { owner: text(owner), amount, frozen: false, delegate: null, delegatedAmount: 0n },
  });
  const money = MONEY.flatMap(([owners, first, second]) =>
    owners.flatMap((owner): [Address, Entry][] => [
      [wallet(owner), token(owner, first)],
      [spareAccount(owner), token(owner, second)],
    ]),
  );
  const treasurers = ADMINS.map((admin): [Address, Entry] => [wallet(admin), token(admin, 0n)]);
  const lamports = [...SIGNERS, UPGRADE_AUTHORITY, FEE_PAYER].map((pair): [Address, Entry] => [
    text(pair.publicKey),
    { lamports: LAMPORTS },
  ]);
  const gasBalances = CALLERS.map((caller): [Address, Entry] => [gasBalance(caller), { lamports: GAS_BALANCE }]);
  const all = [...money, ...treasurers, ...lamports, ...gasBalances];
  // A party with two roles has the money of the second.
  return [...new Map([...all, [text(PDA_CALLER), { lamports: LAMPORTS }]])];
}

const EXTERNAL = new Set(
  [
    ...[TOKEN_PROGRAM_ID, ASSOCIATED_TOKEN_PROGRAM_ID, SystemProgram.programId, program.PROGRAM_ID],
    ...[program.findProgramData(), MINT, TREE, program.findEventAuthority()],
  ].map(text),
);

/** Programs, the mint and the tree: instructions name them, but they belong to the runtime. No step changes them. */
export const isExternal = (address: Address): boolean => EXTERNAL.has(address);
