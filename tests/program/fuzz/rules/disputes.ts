/** The program's rules for disputes: bonds, awards and forfeits, and unpaid awards. */
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, key, type Ledger, type StateOf, text } from '../ledger.ts';
import { config, tierDeposit, ZERO_HASH } from './config.ts';
import { type ExecutionRecord, recordOf } from './executions.ts';
import { available, closeSpentVault, collateralOf, vaultOf } from './listings.ts';
import { frozenOrGone, receivesFor } from './token.ts';

export type Dispute = StateOf<'Dispute'>;

const MONTH = 2_592_000n;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
export const disputeOf = (executionId: Uint8Array): Address =>
  text(program.findDispute(program.findExecution(executionId)));

export function openDispute(ledger: Ledger, input: program.OpenDisputeInput): void {
  const record = ledger.state('ExecutionRecord', recordOf(input.executionId));
  ledger.state('CreatorCollateral', collateralOf(text(input.listing)));
  demand(record.caller === text(input.caller), 'NotCaller');
  demand(record.listing === text(input.listing), 'ConstraintSeeds');
  demandClaim(ledger, input, input.executionId);
  demand(record.status === 'completed', 'ExecutionNotCompleted');
  create(ledger, input, record);
}

/** By a leaf. `isTrue` says if the archive has it as it is claimed. */
export function openDisputeWithProof(ledger: Ledger, input: program.OpenDisputeWithProofInput, isTrue: boolean): void {
  const { executionId, listing, caller, price, settledAt, disputeWindowSeconds } = input.execution;
  ledger.state('CreatorCollateral', collateralOf(text(listing)));
  demandClaim(ledger, input, executionId);
  demand(isTrue, 'ArchiveProofInvalid');
  const told = { executionId: hex(executionId), listing: text(listing), caller: text(caller) };
  create(ledger, input, { ...told, price, settledAt, disputeWindowSeconds });
}

function demandClaim(ledger: Ledger, claim: program.DisputeClaim, executionId: Uint8Array): void {
  ledger.demandExempt(disputeOf(executionId));
  demand(!ledger.find('Dispute', disputeOf(executionId)), 'DisputeExists');
  demand(config(ledger).disputeBondLamports <= claim.maxBond, 'BondAboveMax');
  demand(claim.evidenceUri.length <= 200, 'UriTooLong');
}

type Disputed = Pick<
  ExecutionRecord,
  'executionId' | 'listing' | 'caller' | 'price' | 'settledAt' | 'disputeWindowSeconds'
>;

/** Counts and creates the dispute, if the window is open. */
function create(ledger: Ledger, input: program.DisputeClaim, record: Disputed): void {
  demand(ledger.now < record.settledAt + BigInt(record.disputeWindowSeconds), 'DisputeWindowClosed');
  const id = Buffer.from(record.executionId, 'hex');
  const [address, dispute] = [recordOf(id), disputeOf(id)];
  const { listing, caller } = record;
  const payer = text(input.payer);
  const book = collateralOf(listing);
  const collateral = ledger.state('CreatorCollateral', book);
  const bond = config(ledger).disputeBondLamports;
  ledger.change('CreatorCollateral', book, { openDisputes: collateral.openDisputes + 1 });
  ledger.create('Dispute', dispute, payer, {
    ...{ version: 1, outcome: 'open', bump: 0, record: address, executionId: record.executionId },
    ...{ listing, caller },
    ...{ rentSponsor: payer, evidenceHash: hex(input.evidenceHash), reasonHash: ZERO_HASH, openedAt: ledger.now },
    ...{ bond, price: record.price, amountToCaller: 0n, amountSlashed: 0n, owed: 0n, resolvedAt: 0n },
  });
  ledger.moveLamports(payer, dispute, bond);
}

/** Ends a dispute: changes the collateral's counter. */
function end(ledger: Ledger, dispute: Address, outcome: Exclude<Dispute['outcome'], 'open'>, reasonHash: string): void {
  const { listing } = ledger.state('Dispute', dispute);
  const { openDisputes } = ledger.state('CreatorCollateral', collateralOf(listing));
  ledger.change('CreatorCollateral', collateralOf(listing), { openDisputes: openDisputes - 1 });
  ledger.change('Dispute', dispute, { outcome, reasonHash, resolvedAt: ledger.now });
}

/** Pays the bond less what the account needs for its rent. Keeps all if the receiver would stay below its rent. */
function payBond(ledger: Ledger, dispute: Address, to: Address): void {
  const { bond } = ledger.state('Dispute', dispute);
  const paid = ledger.spendable(dispute, bond);
  const isPaid = ledger.canTake(to, paid);
  ledger.tell({ bond: isPaid ? paid : 0n, bondTo: to });
  if (!isPaid) return;
  ledger.moveLamports(dispute, to, paid);
  ledger.change('Dispute', dispute, { bond: bond - paid });
}

/** Pays the caller up to the price, from the collateral before earlier forfeits. The rest is forfeited, and stays. */
function slash(ledger: Ledger, dispute: Address, amount: bigint, destination: Address): void {
  const { listing, price, caller } = ledger.state('Dispute', dispute);
  const collateral = ledger.state('CreatorCollateral', collateralOf(listing));
  const vault = vaultOf(listing);
  const left = available(collateral);
  const isForCaller = amount <= price && amount <= left + collateral.forfeited;
  demand(amount <= left || isForCaller, 'SlashAboveCollateral');
  demand(amount <= 20n * price, 'SlashAboveMultiple');
  const amountToCaller = amount < price ? amount : price;
  const amountSlashed = amount < left ? amount : left;
  const vaultMoves = !frozenOrGone(ledger, vault);
  const owed = vaultMoves && receivesFor(ledger, destination, caller) ? 0n : amountToCaller;
  if (amountToCaller > owed) ledger.transfer(vault, destination, amountToCaller, vault);
  ledger.change('Dispute', dispute, { amountToCaller, amountSlashed, owed });
  const slashed = collateral.slashed + amountSlashed;
  ledger.change('CreatorCollateral', collateralOf(listing), {
    slashed,
    owed: collateral.owed + owed,
    forfeited: collateral.forfeited + amountSlashed - amountToCaller,
    sweepableAt: ledger.now + BigInt(config(ledger).longestSpanSeconds),
  });
  // An upheld dispute with amount 0 does not pause the listing.
  if (amount === 0n) return;
  const { status, price: listed } = ledger.state('AgentListing', listing);
  const deposit = tierDeposit(config(ledger), listed);
  const short = deposit === null || collateral.deposited - slashed < deposit;
  if (status === 'active' && short) ledger.change('AgentListing', listing, { status: 'paused' });
}

export function resolveDispute(ledger: Ledger, input: program.ResolveDisputeInput): void {
  const settings = config(ledger);
  const address = disputeOf(input.executionId);
  const dispute = ledger.state('Dispute', address);
  const listing = ledger.state('AgentListing', text(input.listing));
  demand(settings.admin === text(input.admin), 'NotAdmin');
  demand(dispute.listing === text(input.listing), 'WrongListing');
  demand(dispute.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(listing.creator === text(input.creator), 'NotCreator');
  demand(dispute.caller === text(input.caller), 'ConstraintSeeds');
  demand(input.upheld || input.amount === 0n, 'InvalidAmount');
  demand(dispute.outcome === 'open', 'DisputeNotOpen');
  end(ledger, address, input.upheld ? 'upheld' : 'rejected', hex(input.reasonHash));
  const destination = text(program.findTokenAccount(input.caller, input.usdcMint));
  if (input.upheld) slash(ledger, address, input.amount, destination);
  payBond(ledger, address, input.upheld ? dispute.rentSponsor : listing.creator);
}

export function lapseDispute(ledger: Ledger, input: program.LapseDisputeInput): void {
  const address = disputeOf(input.executionId);
  const dispute = ledger.state('Dispute', address);
  ledger.state('CreatorCollateral', collateralOf(text(input.listing)));
  demand(dispute.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(dispute.listing === text(input.listing), 'ConstraintSeeds');
  demand(dispute.outcome === 'open', 'DisputeNotOpen');
  demand(ledger.now >= dispute.openedAt + MONTH, 'LapseTooEarly');
  end(ledger, address, 'lapsed', ZERO_HASH);
  payBond(ledger, address, dispute.rentSponsor);
}

export function claimDisputeAward(ledger: Ledger, input: program.ClaimDisputeAwardInput): void {
  const { usdcMint } = config(ledger);
  const address = disputeOf(input.executionId);
  const dispute = ledger.state('Dispute', address);
  const book = collateralOf(text(input.listing));
  const collateral = ledger.state('CreatorCollateral', book);
  const destination = text(input.destination);
  demand(dispute.listing === text(input.listing), 'ConstraintSeeds');
  demand(collateral.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  const associated = text(program.findTokenAccount(key(dispute.caller), key(usdcMint)));
  demand(text(input.authority) === dispute.caller || destination === associated, 'WrongDestination');
  demand(receivesFor(ledger, destination, dispute.caller), 'DestinationUnusable');
  demand(dispute.owed > 0n, 'NothingOwed');
  const owed = collateral.owed - dispute.owed;
  const vault = vaultOf(dispute.listing);
  ledger.transfer(vault, destination, dispute.owed, vault);
  ledger.change('Dispute', address, { owed: 0n });
  ledger.change('CreatorCollateral', book, { owed });
  ledger.tell({ amount: dispute.owed, vaultClosed: closeSpentVault(ledger, dispute.listing) });
}

export function closeDispute(ledger: Ledger, input: program.CloseDisputeInput): void {
  const address = disputeOf(input.executionId);
  const { rentSponsor, outcome, owed, resolvedAt } = ledger.state('Dispute', address);
  demand(rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(outcome !== 'open' && owed === 0n, 'DisputeNotEnded');
  demand(ledger.now >= resolvedAt + MONTH, 'CloseTooEarly');
  ledger.close(address, rentSponsor);
}
