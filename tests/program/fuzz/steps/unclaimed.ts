/** Claims of unclaimed refunds, by their callers and by others. */
import * as program from '../../../../app/sdk/program/program.ts';
import { CALLERS, STRANGER, spareAccount, TREE, wallet } from '../cast.ts';
import { type Leaf, proofOf } from '../leaves.ts';
import { key, text } from '../ledger.ts';
import { receivesFor } from '../rules/token.ts';
import * as rules from '../rules/unclaimed.ts';
import { moveUnclaimedRefund } from './executions.ts';
import { type Planner, plan, somePayer } from './plan.ts';

/** By the leaf of an unclaimed refund: the true one, or one with a changed field. */
export const claimRefund: Planner = (scene, draw) => {
  const { ledger, leaves } = scene;
  const isClaimed = (leaf: Leaf) => ledger.get(text(program.findRefundClaim(TREE, leaves.indexOf(leaf)))).state;
  const refunds = leaves.filter(({ refund }) => refund !== undefined);
  const leaf = draw.prefer(refunds, (candidate) => !isClaimed(candidate));
  const refund = leaf?.refund;
  if (!leaf || !refund) return moveUnclaimedRefund(scene, draw);
  const lies: Partial<program.UnclaimedRefund>[] = [
    { amount: refund.amount + 1n },
    { unclaimedAt: refund.unclaimedAt + 1n },
    { caller: draw.of(CALLERS.filter((other) => !other.equals(refund.caller))) },
    { source: STRANGER },
  ];
  const lie = draw.maybe(15) ? draw.of(lies) : {};
  const told = { ...refund, ...lie };
  const leafIndex = leaves.indexOf(leaf);
  const own = [wallet(told.caller), spareAccount(told.caller)];
  const usable = own.filter((account) => receivesFor(ledger, account, text(told.caller)));
  const proof = proofOf(leaves, leafIndex, draw.of([0, 1, 50]));
  const input = {
    ...{ refund: told, payer: somePayer(ledger, draw, told.caller), leafIndex, proof },
    ...{ archiveIndex: 0, tree: TREE },
    destination: key(draw.maybe(8) ? draw.of([...own, wallet(STRANGER)]) : draw.of(usable.length > 0 ? usable : own)),
  };
  const isTrue = Object.keys(lie).length === 0;
  return plan('RefundClaimed', program.claimRefund, input, rules.claimRefund, isTrue);
};
