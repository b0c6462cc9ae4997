/**
 * Two sides: the demo creator, caller and payer with listing and grant, and a second creator, caller and payer with
 * theirs. An account of one side can then replace that of the other.
 */
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import { addressOf } from '../../harness/vm/backend.ts';
import { namedKeypair } from '../../harness/vm/keys.ts';
import { emptyWorld, GAS_BALANCE, USDC, type World, world } from '../../harness/vm/world.ts';
import { TestArchive } from '../archiving.ts';
import type { Side } from './moments.ts';

export interface Market {
  w: World;
  mine: Side;
  theirs: Side;
}

/** Instructions that happen before the marketplace exists. */
export const EARLY = ['initialize_config'];

/** Can sign, has SOL and USDC, and has no role. */
export const NOBODY = namedKeypair('nobody');

/** Two sides in a world with only lamports and USDC. */
export async function sides(w: World): Promise<{ mine: Side; theirs: Side }> {
  const side = (label: string, creator: Keypair, caller: Keypair, signingKey: Keypair): Side => ({
    creator,
    caller,
    payer: namedKeypair(`${label} payer`),
    sponsor: namedKeypair(`${label} sponsor`).publicKey,
    listing: program.findListing(creator.publicKey, w.listingId),
    signingKey,
    savings: namedKeypair(`${label} savings`).publicKey,
    label,
  });
  const mine = side('my', w.creator, w.caller, w.signingKey);
  const theirs = side('their', w.otherCreator, w.stranger, namedKeypair('their signing key'));
  for (const { creator, payer, sponsor, savings } of [mine, theirs]) {
    await w.vm.airdrop(payer.publicKey, 100_000_000_000n);
    await w.vm.airdrop(sponsor, 1_000_000_000n);
    w.vm.setTokenAccount(savings, { mint: w.usdcMint, owner: creator.publicKey, amount: 100n * USDC });
  }
  await w.vm.airdrop(w.vm.upgradeAuthority.publicKey, 100_000_000_000n);
  await w.vm.airdrop(NOBODY.publicKey, 100_000_000_000n);
  w.vm.setWallet(NOBODY.publicKey, w.usdcMint, 1_000n * USDC);
  return { mine, theirs };
}

/** A running marketplace with both sides. */
export async function market(): Promise<Market> {
  const w = await world();
  const { mine, theirs } = await sides(w);
  const { creator, caller, payer, signingKey } = theirs;
  await w.must([w.listInstruction({ creator: creator.publicKey }, signingKey)], [creator]);
  const wallet = caller.publicKey;
  const grant = { ...w.grantInput(), wallet, payer: payer.publicKey };
  const approval = program.approveSpender({ wallet, usdcMint: w.usdcMint, amount: 500n * USDC });
  const deposit = program.depositGas({ from: wallet, wallet, lamports: GAS_BALANCE });
  await w.must([program.createGrant(grant), approval, deposit], [caller, payer]);

  await new TestArchive(w).create();
  return { w, mine, theirs };
}

/** The world of an instruction, which may be one before the marketplace exists. */
export async function stage(name: string): Promise<Market> {
  if (!EARLY.includes(name)) return market();
  const w = await emptyWorld();
  return { w, ...(await sides(w)) };
}

/** The keys of all parties by address. */
export function keyring({ w, mine, theirs }: Market): Map<string, Keypair> {
  const people = [w.vm.upgradeAuthority, w.admin, w.relay, NOBODY];
  for (const { creator, caller, payer } of [mine, theirs]) people.push(creator, caller, payer);
  return new Map(people.map((keypair) => [addressOf(keypair.publicKey), keypair]));
}

/** The keys of the accounts that sign. */
export function signersOf({ keys }: TransactionInstruction, people: Map<string, Keypair>): Keypair[] {
  return keys.flatMap(({ pubkey, isSigner }) => (isSigner ? (people.get(addressOf(pubkey)) ?? []) : []));
}
