/** Prepares a scenario, sends the attacked instruction and judges the outcome. */
import { AccountLayout, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  type AccountMeta,
  ComputeBudgetProgram,
  type Keypair,
  type PublicKey,
  TransactionInstruction,
} from '@solana/web3.js';
import { expect } from 'chai';
import { addressOf, type RawAccount } from '../../harness/vm/backend.ts';
import type { Outcome } from '../../harness/vm/outcome.ts';
import { emptyWorld } from '../../harness/vm/world.ts';
import type { Effect } from './exceptions.ts';
import type { Side } from './moments.ts';
import type { Change } from './mutations.ts';
import { WRITTEN } from './mutations.ts';
import { fabricated, market, NOBODY, sides } from './parties.ts';
import type { Scenario } from './scenarios.ts';
import { Snapshot } from './snapshot.ts';
import { accountNames, type Scene, type Target, targetsOf } from './targets.ts';

/** Gain of an account, negative for a loss. */
export interface Gain {
  lamports: bigint;
  tokens: bigint;
}

/** Prepares a world for both sides, and copies all accounts. */
export async function prepare(scenario: Scenario): Promise<Scene> {
  const { w, mine, theirs, samples } = scenario.early ? await dawn() : await market();
  const theirInstructions = await scenario.prepare(w, theirs);
  const myInstructions = await scenario.prepare(w, mine);
  const keys = keyring(w, mine, theirs);
  const named = [...myInstructions, ...theirInstructions].flatMap(({ keys }) => keys.map(({ pubkey }) => pubkey));
  const people = [...keys.values()].flatMap(({ publicKey }) => [publicKey, w.wallet(publicKey)]);
  const baseline = await Snapshot.take(w.vm, [...named, ...people, ...samples.values(), ...WRITTEN]);
  const scene = { w, mine: myInstructions, theirs: theirInstructions, samples, keys, baseline };
  for (const target of targetsOf(scenario)) requireFit(scene, target);
  return scene;
}

/** A world before the marketplace exists. Accounts of each type are fabricated. */
async function dawn() {
  const w = await emptyWorld();
  return { w, ...(await sides(w)), samples: fabricated(w) };
}

/** Checks the scenario's claims about an account: the IDL's flags, its absence, and that no address occurs twice. */
function requireFit({ mine, baseline }: Scene, { title, name, index, signer, writable, absent, kind }: Target): void {
  const keys = mine.at(-1)!.keys;
  const key = keys[index]!;
  expect([key.isSigner, key.isWritable], `flags of ${title}.${name}`).to.deep.equal([signer, writable]);
  const places = keys.filter(({ pubkey }) => pubkey.equals(key.pubkey)).length;
  expect(places, `places of ${title}.${name}`).to.equal(1);
  if (kind === 'program' || kind === 'address') return;
  expect(baseline.get(key.pubkey) === null, `${title}.${name} is absent`).to.equal(absent);
}

function keyring(w: Scene['w'], mine: Side, theirs: Side): Map<string, Keypair> {
  const people = [w.vm.upgradeAuthority, w.admin, w.relay, NOBODY];
  for (const { creator, caller, payer } of [mine, theirs]) people.push(creator, caller, payer);
  return new Map(people.map((keypair) => [addressOf(keypair.publicKey), keypair]));
}

let price = 0;

/** Sends with all available signers. A new compute-unit price makes the transaction unique. */
function send({ w, keys }: Scene, instructions: TransactionInstruction[]): Promise<Outcome> {
  price += 1;
  const needed = instructions.flatMap((instruction) => instruction.keys.filter(({ isSigner }) => isSigner));
  const willing = needed.flatMap(({ pubkey }) => keys.get(addressOf(pubkey)) ?? []);
  return w.vm.send([ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price }), ...instructions], willing);
}

/** Sends instructions that must succeed, returns the gains of the last one's accounts, and undoes them. */
export async function succeed(scene: Scene, instructions: TransactionInstruction[]): Promise<Gain[]> {
  const { w, baseline } = scene;
  const outcome = await send(scene, instructions);
  expect(outcome.error?.name ?? null, outcome.logs.join('\n')).to.equal(null);
  const gained = instructions
    .at(-1)!
    .keys.map(async ({ pubkey }) => gain(baseline.get(pubkey), await w.vm.getAccount(pubkey)));
  const gains = await Promise.all(gained);
  baseline.restore(w.vm);
  return gains;
}

/**
 * Sends my instruction with one wrong account, and undoes everything. Returns what is wrong with the outcome. Null for
 * a refusal with a named error and no changes, or for the excepted effect.
 */
export async function strike(
  scene: Scene,
  target: Target,
  { meta, account }: Change,
  gains: Gain[],
  effect: Effect | undefined,
): Promise<string | null> {
  const { w, mine, baseline } = scene;
  const { index } = target;
  const attacked = mine.at(-1)!;
  const keys = attacked.keys.map((key, place) => (place === index ? { ...key, ...meta } : key));
  const { pubkey } = keys[index]!;
  if (account === null) w.vm.closeAccount(pubkey);
  else if (account) w.vm.setAccount(pubkey, account);

  const before = await Snapshot.take(
    w.vm,
    keys.map((key) => key.pubkey),
  );
  const { programId, data } = attacked;
  const outcome = await send(scene, [...mine.slice(0, -1), new TransactionInstruction({ programId, keys, data })]);
  const changed = await before.changes(w.vm);
  let fault: string | null;
  if (!outcome.ok)
    fault = changed.length > 0 ? `it failed and changed ${changed}` : judge(outcome, mine.length, effect);
  else if (effect === undefined || effect === 'refused below') fault = 'it succeeded';
  else fault = await misplaced(scene, before, keys, expectedGains(scene, target, gains, effect));

  if (outcome.ok) baseline.restore(w.vm);
  if (outcome.ok || account !== undefined) before.restore(w.vm);
  if (account !== undefined) baseline.restoreOne(w.vm, pubkey);
  return fault;
}

/** Checks that the refusal comes from the attacked instruction with an error of ours or Anchor's, or as excepted. */
function judge({ error, logs }: Outcome, attacked: number, effect: Effect | undefined): string | null {
  const name = error?.name ?? 'nothing';
  const ours = error?.code !== null && /^[A-Z]\w+$/.test(name);
  if (error?.instruction !== attacked) return `${name} of instruction ${error?.instruction}, not of the attacked one`;
  if (effect === undefined) return ours ? null : `no error of ours: ${name}\n${logs.slice(-4).join('\n')}`;
  return effect === 'refused below' && !ours ? null : `${name}, though excepted: ${JSON.stringify(effect)}`;
}

/** Expected gain of an account, and whether it may share lamports differently with others. */
interface Expected extends Gain {
  shared: boolean;
}

/** Expected gain of each account under an exception. */
function expectedGains({ mine }: Scene, target: Target, gains: Gain[], effect: Effect): Expected[] {
  const names = accountNames(target);
  // Accounts without a name in the IDL are last.
  expect(names.length).to.be.at.most(mine.at(-1)!.keys.length);
  return gains.map((own, place) => {
    const name = names[place]!;
    if (typeof effect !== 'object') return { ...own, shared: false };
    if ('tokens' in effect) return { ...own, tokens: effect.tokens[name] ?? 0n, shared: false };
    return { ...own, shared: [target.name, ...effect.between].includes(name) };
  });
}

/** Compares actual and expected gains by address, wherever an account is placed now. Returns the first difference. */
async function misplaced(
  { w }: Scene,
  before: Snapshot,
  keys: AccountMeta[],
  gains: Expected[],
): Promise<string | null> {
  const expected = new Map<string, Expected & { pubkey: PublicKey }>();
  for (const [place, { pubkey }] of keys.entries()) {
    const own = gains[place]!;
    const { lamports, tokens, shared } = expected.get(addressOf(pubkey)) ?? { lamports: 0n, tokens: 0n, shared: false };
    const together = { lamports: lamports + own.lamports, tokens: tokens + own.tokens };
    expected.set(addressOf(pubkey), { pubkey, ...together, shared: shared || own.shared });
  }
  let toShare = 0n;
  for (const [name, { pubkey, lamports, tokens, shared }] of expected) {
    const gained = gain(before.get(pubkey), await w.vm.getAccount(pubkey));
    if (shared) toShare += gained.lamports - lamports;
    if (gained.tokens === tokens && (shared || gained.lamports === lamports)) continue;
    const { lamports: l, tokens: t } = gained;
    return `it succeeded and ${name} gained ${l} lamports and ${t} tokens, not ${lamports} and ${tokens}`;
  }
  return toShare === 0n ? null : `it succeeded and ${toShare} lamports came from nowhere`;
}

function gain(before: RawAccount | null, after: RawAccount | null): Gain {
  const lamports = (after?.lamports ?? 0n) - (before?.lamports ?? 0n);
  return { lamports, tokens: tokensIn(after) - tokensIn(before) };
}

function tokensIn(account: RawAccount | null): bigint {
  if (!account?.owner.equals(TOKEN_PROGRAM_ID) || account.data.length !== AccountLayout.span) return 0n;
  return AccountLayout.decode(account.data).amount;
}
