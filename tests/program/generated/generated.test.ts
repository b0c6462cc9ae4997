/**
 * Mutates every account of every instruction of the IDL in every way. Each such transaction must fail with a named
 * error of ours or Anchor's and leave every account unchanged to the byte. The unchanged twin, with the addresses
 * derived from the IDL's seeds, must succeed before and after. exceptions.ts lists the intended exceptions.
 */
import { expect } from 'chai';
import * as program from '../../../app/sdk/program/program.ts';
import { derivedAddress } from './derived.ts';
import { type Effect, EXCEPTIONS, type Exception, names } from './exceptions.ts';
import { MUTATIONS, type Mutation, type Variant } from './mutations.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { type Gain, prepare, strike, succeed } from './stage.ts';
import { type Scene, type Target, targetsOf, titleOf } from './targets.ts';

/** One account with all variants of one mutation. */
interface Case {
  target: Target;
  mutation: Mutation;
  variants: Variant[];
}

/** Accounts for which the program accepts more than the IDL: a signing caller may name any of its accounts. */
const BEYOND_THE_IDL: Record<string, string[]> = {
  'claim_dispute_award by the caller to another account, the last of a returned collateral': ['destination'],
};

const suites = SCENARIOS.map((scenario) => ({ scenario, cases: casesOf(scenario) }));
const cases = suites.flatMap((suite) => suite.cases);
const attacks = cases.reduce((sum, { variants }) => sum + variants.length, 0);

describe(`generated attacks: ${attacks} transactions in ${cases.length} tests`, () => {
  it('have a successful case for every instruction of the IDL', () => {
    const known = new Set(SCENARIOS.map(({ instruction }) => instruction));
    expect(program.idl.instructions.map(({ name }) => name).filter((name) => !known.has(name))).to.deep.equal([]);
  });

  it('have no outdated or duplicate exception', () => {
    const uses = new Map(EXCEPTIONS.flatMap((exception) => labels(exception)).map((label) => [label, 0]));
    for (const { target, mutation, variants } of cases) {
      for (const { name } of variants) {
        const found = EXCEPTIONS.flatMap((exception) => applying(exception, target, mutation, name));
        expect(found.length, `${target.title}.${target.name}, ${mutation}, ${name}: ${found}`).to.be.at.most(1);
        for (const label of found) uses.set(label, uses.get(label)! + 1);
      }
    }
    expect([...uses].filter(([, count]) => count === 0).map(([label]) => label)).to.deep.equal([]);
  });

  it('are refused if they break a constraint of the IDL, at one moment of its instruction at least', () => {
    const broken = new Set<string>();
    const refused = new Set<string>();
    for (const { target, mutation, variants } of cases) {
      if (!breaks(mutation, target)) continue;
      const constraint = `${target.instruction}.${target.name}, ${mutation}`;
      broken.add(constraint);
      const effects = variants.map(({ name }) => effectOf(target, mutation, name));
      if (effects.every((effect) => effect === undefined || effect === 'refused below')) refused.add(constraint);
    }
    expect(broken.size).to.be.greaterThan(200);
    expect([...broken].filter((constraint) => !refused.has(constraint))).to.deep.equal([]);
  });

  for (const suite of suites) describe(titleOf(suite.scenario), () => attack(suite.scenario, suite.cases));
});

function attack(scenario: Scenario, cases: Case[]): void {
  let scene: Scene;
  /** Gain of each account of the unchanged instruction, in their order. */
  let gains: Gain[];

  before(async () => {
    scene = await prepare(scenario);
    gains = await succeed(scene, scene.mine);
  });

  it('has every account at the address that the seeds in the IDL give, with the listed exceptions', () => {
    const { keys } = scene.mine.at(-1)!;
    const others = targetsOf(scenario).filter((target) => {
      return !(derivedAddress(scene, target) ?? keys[target.index]!.pubkey).equals(keys[target.index]!.pubkey);
    });
    expect(others.map(({ name }) => name)).to.deep.equal(BEYOND_THE_IDL[titleOf(scenario)] ?? []);
  });

  for (const { target, mutation, variants } of cases) {
    const ways = variants.length === 1 ? variants[0]!.name : `${variants.length} ways`;
    it(`treats a changed ${target.name} (${mutation}) as expected: ${ways}`, async () => {
      const faults: string[] = [];
      for (const variant of variants) {
        const effect = effectOf(target, mutation, variant.name);
        const fault = await strike(scene, target, variant.change(scene, target), gains, effect);
        if (fault) faults.push(`${target.title}.${target.name}, ${mutation}, ${variant.name}: ${fault}`);
      }
      expect(faults.join('\n')).to.equal('');
      expect(await scene.baseline.changes(scene.w.vm)).to.deep.equal([]);
    });
  }

  it('succeeds unchanged for either user', async () => {
    expect(await succeed(scene, scene.mine)).to.deep.equal(gains);
    await succeed(scene, scene.theirs);
  });
}

function casesOf(scenario: Scenario): Case[] {
  const mutations = Object.entries(MUTATIONS) as [Mutation, (target: Target) => Variant[]][];
  return targetsOf(scenario)
    .flatMap((target) => mutations.map(([mutation, apply]) => ({ target, mutation, variants: apply(target) })))
    .filter(({ variants }) => variants.length > 0);
}

/** True if a mutation breaks a constraint of the IDL: the account's flags, or its address. */
function breaks(mutation: Mutation, { determined, signer }: Target): boolean {
  if (mutation === 'not signing' || mutation === 'read-only') return true;
  return determined && mutation === (signer ? "another user's" : 'wrong PDA');
}

/** The expected effect instead of a refusal with a named error. */
function effectOf(target: Target, mutation: Mutation, variant: string): Effect | undefined {
  return EXCEPTIONS.find((exception) => applying(exception, target, mutation, variant).length > 0)?.effect;
}

/** The places of an exception with their variants. Each must apply to something. */
function labels({ where, mutation, variants }: Exception): string[] {
  return where.flatMap((place) => (variants ?? ['*']).map((variant) => `${place}, ${mutation}, ${variant}`));
}

function applying(exception: Exception, target: Target, mutation: Mutation, variant: string): string[] {
  if (exception.mutation !== mutation) return [];
  if (exception.variants && !exception.variants.includes(variant)) return [];
  const places = exception.where.filter((place) => names(place, target));
  return places.map((place) => `${place}, ${mutation}, ${exception.variants ? variant : '*'}`);
}
