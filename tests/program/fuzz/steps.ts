/** All kinds of steps with their frequency, and fast-check's generator of sequences. */
import fc from 'fast-check';
import { LARGEST_PICK, PICKS } from './draw.ts';
import * as archive from './steps/archive.ts';
import * as config from './steps/config.ts';
import * as deposits from './steps/deposits.ts';
import * as disputes from './steps/disputes.ts';
import * as executions from './steps/executions.ts';
import * as grants from './steps/grants.ts';
import * as happenings from './steps/happenings.ts';
import * as listings from './steps/listings.ts';
import type { Planner } from './steps/plan.ts';
import { together } from './steps/together.ts';
import * as unclaimed from './steps/unclaimed.ts';

/** Steps that make, change or close accounts. */
const JOINABLE: Planner[] = [
  ...[executions.openExecution, executions.openExecutionWithGrant, deposits.openExecutionFromDeposit],
  ...[executions.settleExecution, executions.refundExecution, executions.moveUnclaimedRefund],
  ...[executions.closeExecution, archive.archiveExecutions, unclaimed.claimRefund],
  ...[deposits.prepareDeposit, deposits.refundDeposit, deposits.moveUnclaimedDeposit],
  ...[disputes.openDispute, disputes.openDisputeWithProof, disputes.closeDispute],
  ...[grants.createGrant, grants.updateGrant, grants.revokeGrant, grants.closeGrant, grants.withdrawGas],
  ...[disputes.resolveDispute, disputes.lapseDispute, disputes.claimDisputeAward],
  ...[listings.listAgent, listings.rotateSigningKey, listings.delistAgent, listings.topUpCollateral],
  ...[listings.returnCollateral, listings.sweepForfeits, config.updateConfig, config.setPause],
];

/** Planners by step name, with weights. Steps shrink to the first. */
const KINDS: Record<string, [weight: number, planner: Planner]> = {
  wait: [12, happenings.wait],
  openExecution: [9, executions.openExecution],
  openExecutionWithGrant: [12, executions.openExecutionWithGrant],
  prepareDeposit: [5, deposits.prepareDeposit],
  payDeposit: [6, deposits.payDeposit],
  openExecutionFromDeposit: [8, deposits.openExecutionFromDeposit],
  refundDeposit: [5, deposits.refundDeposit],
  settleExecution: [14, executions.settleExecution],
  refundExecution: [7, executions.refundExecution],
  moveUnclaimedRefund: [3, executions.moveUnclaimedRefund],
  moveUnclaimedDeposit: [2, deposits.moveUnclaimedDeposit],
  claimRefund: [8, unclaimed.claimRefund],
  closeExecution: [5, executions.closeExecution],
  withdrawGas: [3, grants.withdrawGas],
  openDispute: [9, disputes.openDispute],
  openDisputeWithProof: [5, disputes.openDisputeWithProof],
  resolveDispute: [7, disputes.resolveDispute],
  lapseDispute: [3, disputes.lapseDispute],
  claimDisputeAward: [6, disputes.claimDisputeAward],
  closeDispute: [4, disputes.closeDispute],
  createArchive: [1, archive.createArchive],
  archiveExecutions: [5, archive.archiveExecutions],
  listAgent: [4, listings.listAgent],
  updateListing: [4, listings.updateListing],
  setListingStatus: [4, listings.setListingStatus],
  rotateSigningKey: [3, listings.rotateSigningKey],
  delistAgent: [4, listings.delistAgent],
  topUpCollateral: [3, listings.topUpCollateral],
  returnCollateral: [8, listings.returnCollateral],
  sweepForfeits: [6, listings.sweepForfeits],
  createGrant: [3, grants.createGrant],
  updateGrant: [2, grants.updateGrant],
  revokeGrant: [1, grants.revokeGrant],
  closeGrant: [2, grants.closeGrant],
  approve: [4, grants.approve],
  updateConfig: [2, config.updateConfig],
  setPause: [2, config.setPause],
  withdrawTreasury: [2, config.withdrawTreasury],
  initializeConfig: [1, config.initializeConfig],
  freeze: [5, happenings.freeze],
  remake: [3, happenings.remake],
  giveAway: [1, happenings.giveAway],
  dust: [2, happenings.dust],
  lamports: [2, happenings.lamports],
  poverty: [2, happenings.poverty],
  deposit: [4, happenings.deposit],
  changeRent: [2, happenings.changeRent],
  together: [14, together(JOINABLE)],
};

/** A step independent of a chain: its kind, and numbers for its choices. */
export interface Step {
  kind: string;
  picks: number[];
}

/** Numbers that choose rent and the initial settings, and the steps after the beginning. */
export interface Sequence {
  rent: number;
  settings: number[];
  steps: Step[];
}

export function plannerOf(kind: string): Planner {
  const found = KINDS[kind];
  if (!found) throw new RangeError(`there is no step ${kind}`);
  return found[1];
}

/** The beginning of every sequence, with plain choices: a listing, a grant and its approval, an archive. */
export const BEGINNING: Step[] = ['listAgent', 'createGrant', 'approve', 'createArchive'].map((kind) => ({
  kind,
  picks: [0],
}));

const picks = fc.array(fc.nat(LARGEST_PICK), { minLength: PICKS, maxLength: PICKS });
const kinds = Object.entries(KINDS).flatMap(([kind, [weight]]) => Array.from({ length: weight }, () => kind));
const step: fc.Arbitrary<Step> = fc.record({ kind: fc.constantFrom(...kinds), picks });

/** Lists of a fixed length that shrink to any length. fast-check's own lists shrink only to their minimum length. */
class Shrinkable<Item> extends fc.Arbitrary<Item[]> {
  private readonly whole: fc.Arbitrary<Item[]>;
  private readonly shorter: fc.Arbitrary<Item[]>;

  constructor(item: fc.Arbitrary<Item>, length: number) {
    super();
    this.whole = fc.array(item, { minLength: length, maxLength: length, size: 'max' });
    this.shorter = fc.array(item, { maxLength: length, size: 'max' });
  }

  generate(random: fc.Random, bias: number | undefined): fc.Value<Item[]> {
    return new fc.Value(this.whole.generate(random, bias).value, undefined);
  }

  canShrinkWithoutContext(value: unknown): value is Item[] {
    return this.shorter.canShrinkWithoutContext(value);
  }

  shrink(value: Item[], context: unknown): fc.Stream<fc.Value<Item[]>> {
    return this.shorter.shrink(value, context);
  }
}

export function sequences(length: number): fc.Arbitrary<Sequence> {
  return fc.record({ rent: fc.nat(LARGEST_PICK), settings: picks, steps: new Shrinkable(step, length) });
}
