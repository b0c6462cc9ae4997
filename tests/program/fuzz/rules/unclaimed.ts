/** The program's rules for unclaimed refunds, besides those of the execution or deposit. */
import * as program from '../../../../app/sdk/program/program.ts';
import { MINT } from '../cast.ts';
import { type Address, demand, key, type Ledger, text } from '../ledger.ts';
import { ARCHIVE } from './archive.ts';
import { config, UNCLAIMED } from './config.ts';
import { frozenOrGone, receivesFor } from './token.ts';

/** The associated account of the named caller is that of `caller` and cannot receive; the unclaimed one can. */
export function demandUndeliverable(ledger: Ledger, caller: Address, named: Address): void {
  const account = text(program.findTokenAccount(key(named), MINT));
  demand(named === caller, 'WrongRefundDestination');
  demand(!receivesFor(ledger, account, caller), 'RefundDeliverable');
  demand(!frozenOrGone(ledger, UNCLAIMED), 'DestinationUnusable');
}

/** `isTrue`: the leaf has these fields. Whoever signs is the caller. */
export function claimRefund(ledger: Ledger, input: program.ClaimRefundInput, isTrue: boolean): void {
  config(ledger);
  ledger.state('Archive', ARCHIVE);
  const { refund, tree, leafIndex } = input;
  const claim = text(program.findRefundClaim(tree, leafIndex));
  const destination = text(input.destination);
  demand(!ledger.get(claim).state, 'RefundAlreadyClaimed');
  demand(receivesFor(ledger, destination, text(refund.caller)), 'DestinationUnusable');
  demand(refund.amount <= ledger.token(UNCLAIMED).amount, 'InvalidAmount');
  demand(isTrue, 'ArchiveProofInvalid');
  ledger.create('RefundClaim', claim, text(input.payer), {});
  ledger.transfer(UNCLAIMED, destination, refund.amount, UNCLAIMED);
}
