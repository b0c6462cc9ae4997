/**
 * Runs every instruction of the program at least once, in an order in which all succeed. One party signs and pays for
 * each, as relay and wallets do.
 */
import * as program from '../../app/sdk/program/program.ts';
import { createNonce } from '../../app/sdk/receipt/receipt.ts';
import { START } from '../../tests/harness/vm/vm.ts';
import {
  type Execution,
  GAS_BALANCE,
  NO_KEY,
  NO_LIMIT,
  PRICE,
  SERVICE_FEE,
  USDC,
  type World,
} from '../../tests/harness/vm/world.ts';
import { leavesOf, proofsOf, proofsOfHashes, TestArchive, unclaimedHash } from '../../tests/program/archiving.ts';
import type { Step } from './measure.ts';
import { listing, settings } from './settings.ts';

export const OPEN = 'open_execution_with_grant';
/** The same open, with rent lent by the wallet's gas balance. */
const OPEN_FROM_GAS_BALANCE = 'open_execution_with_grant (gas balance lends)';
export const ARCHIVE_TWELVE = 'archive_executions (12)';
export const SETTLE = 'settle_execution';
const REFUND = 'refund_execution (grant)';

const EVIDENCE = {
  evidenceHash: new Uint8Array(32).fill(6),
  evidenceUri: 'https://example.com/evidence',
  maxBond: NO_LIMIT,
};

/** The terms change once before the first open. */
const LISTING_VERSION = 2;
const SLASH = 3n * USDC;
/** Number of the execution that is neither settled nor refunded here. */
const UNSERVED = 9;
/** The number of the deposit's terms whose refund cannot be received. */
const UNSERVED_DEPOSIT = 12;
/** Numbers of executions that are archived: one alone, then as many as fit in a transaction. */
const DISPUTED = [4, 5, 6, 7];
const UNDISPUTED = Array.from({ length: 9 }, (_, index) => 20 + index);

/** The steps for a world without a marketplace. The clock moves between them. */
export async function* steps(w: World): AsyncGenerator<Step> {
  yield* settings(w);
  yield* listing(w);
  yield* executions(w);
  yield* disputes(w);
  yield* endings(w);
}

async function* executions(w: World): AsyncGenerator<Step> {
  const { admin, relay, caller } = w;
  const wallet = caller.publicKey;
  const grant = [program.createGrant(w.grantInput()), w.approveInstruction()];
  yield { name: 'create_grant + approve', instructions: grant, signers: [caller] };
  const { limits } = w.grantInput({ totalMax: 50n * USDC });
  const update = program.updateGrant({ wallet, keyId: w.keyId, limits });
  yield { name: 'update_grant', instructions: [update], signers: [caller] };

  await w.must([w.depositInstruction()], [caller]);
  const withdraw = program.withdrawGas({ wallet, lamports: GAS_BALANCE / 2n });
  yield { name: 'withdraw_gas', instructions: [withdraw], signers: [caller] };

  const own = w.openInput(terms(1));
  yield { name: 'open_execution', instructions: [program.openExecution(own)], signers: [caller] };
  const refundOwn = w.refundInstruction(ownExecution(w, 1));
  yield { name: 'refund_execution (wallet)', instructions: [refundOwn], signers: [relay] };

  const [first, second] = [w.openGrantInput(terms(2)), w.openGrantInput(terms(3))];
  yield { name: OPEN, instructions: [program.openExecutionWithGrant(first)], signers: [relay] };
  const settle = w.settleInstruction(w.execution(first.nonce, first.wallet, first.keyId, first.payer));
  yield { name: SETTLE, instructions: [settle], signers: [relay] };
  yield { name: `${OPEN} (next)`, instructions: [program.openExecutionWithGrant(second)], signers: [relay] };
  const refund = w.refundInstruction(w.execution(second.nonce, second.wallet, second.keyId, second.payer));
  yield { name: REFUND, instructions: [refund], signers: [relay] };
  const gasBalance = program.findSpender(wallet);
  const third = w.openGrantInput({ ...terms(8), rentSponsor: gasBalance });
  yield { name: OPEN_FROM_GAS_BALANCE, instructions: [program.openExecutionWithGrant(third)], signers: [relay] };
  const lent = w.settleInstruction(w.execution(third.nonce, third.wallet, third.keyId, gasBalance));
  yield { name: `${SETTLE} (back to the gas balance)`, instructions: [lent], signers: [relay] };

  yield* deposits(w);
  const revoke = program.revokeGrant({ authority: wallet, wallet, keyId: w.keyId });
  yield { name: 'revoke_grant', instructions: [revoke], signers: [caller] };
  await w.vm.setClock(w.vm.now + 1n);
  const close = program.closeGrant({ wallet, keyId: w.keyId, rentSponsor: wallet });
  yield { name: 'close_grant', instructions: [close], signers: [caller] };
  const destination = w.vm.setWallet(admin.publicKey, w.usdcMint, 0n);
  const withdrawFees = program.withdrawTreasury({ admin: admin.publicKey, destination, amount: 1_000n });
  yield { name: 'withdraw_treasury', instructions: [withdrawFees], signers: [admin] };
}

/** Three deposits: one opens an execution, one is refunded, one stays paid. */
async function* deposits(w: World): AsyncGenerator<Step> {
  const { relay, caller } = w;
  const [opened, refunded, unserved] = [10, 11, UNSERVED_DEPOSIT].map((number) => {
    const open = w.openTerms(caller.publicKey, terms(number));
    const quote = w.quote(open);
    return { open, quote, ...program.depositAddress(quote) };
  }) as [Deposited, Deposited, Deposited];
  const prepare = program.prepareDeposit(w.prepareInput(opened.quote));
  yield { name: 'prepare_deposit', instructions: [prepare], signers: [relay] };
  for (const { quote } of [refunded, unserved]) await w.must([program.prepareDeposit(w.prepareInput(quote))], [relay]);
  for (const { vault } of [opened, refunded, unserved]) await w.must([w.pay(vault, PRICE + SERVICE_FEE)], [caller]);
  const open = program.openExecutionFromDeposit(w.openDepositInput(opened.open, opened.address));
  yield { name: 'open_execution_from_deposit', instructions: [open], signers: [relay] };
  const settle = w.settleInstruction(w.execution(opened.open.nonce, caller.publicKey, NO_KEY, relay.publicKey));
  await w.must([settle], [relay]);
  const refund = w.refundDepositInstruction(refunded.address);
  yield { name: 'refund_deposit', instructions: [refund], signers: [relay] };
}

interface Deposited extends program.DepositAddress {
  open: program.OpenTerms;
  quote: program.DepositQuote;
}

async function* disputes(w: World): AsyncGenerator<Step> {
  const { admin, relay, caller } = w;
  const rejected = await settled(w, 4);
  yield { name: 'open_dispute', instructions: [dispute(w, rejected)], signers: [caller] };
  yield { name: 'resolve_dispute (rejected)', instructions: [answer(w, rejected, 0n)], signers: [admin] };
  const upheld = await disputed(w, 5);
  yield { name: 'resolve_dispute (upheld)', instructions: [answer(w, upheld, SLASH)], signers: [admin] };

  const owed = await disputed(w, 6);
  const account = (await w.vm.getAccount(w.wallet(caller)))!;
  w.vm.setTokenAccount(w.wallet(caller), { mint: w.usdcMint, owner: caller.publicKey, frozen: true });
  yield { name: 'resolve_dispute (upheld, caller frozen)', instructions: [answer(w, owed, SLASH)], signers: [admin] };
  w.vm.setAccount(w.wallet(caller), account);
  const claim = program.claimDisputeAward({
    authority: relay.publicKey,
    executionId: owed.executionId,
    listing: w.listing,
    destination: w.wallet(caller),
    rentSponsor: w.creator.publicKey,
  });
  yield { name: 'claim_dispute_award', instructions: [claim], signers: [relay] };

  for (const number of UNDISPUTED) await settled(w, number);
  await w.open(terms(UNSERVED));
  const { executionId, rentSponsor } = await disputed(w, 7);
  await w.vm.setClock(w.vm.now + BigInt(program.constants.disputeLapseSeconds));
  const lapse = program.lapseDispute({ executionId, listing: w.listing, rentSponsor });
  yield { name: 'lapse_dispute', instructions: [lapse], signers: [relay] };
}

/** Closes the remaining accounts. The clock is a month later, so the refunded record is old enough. */
async function* endings(w: World): AsyncGenerator<Step> {
  const { relay, creator } = w;
  const { executionId, rentSponsor } = ownExecution(w, 4);
  const closeDispute = program.closeDispute({ executionId, rentSponsor });
  yield { name: 'close_dispute', instructions: [closeDispute], signers: [relay] };
  const close = program.closeExecution(ownExecution(w, 1));
  yield { name: 'close_execution', instructions: [close], signers: [relay] };
  yield* archives(w);
  const own = { creator: creator.publicKey, listing: w.listing };
  yield { name: 'delist_agent', instructions: [program.delistAgent(own)], signers: [creator] };
  const { returnableAt } = await w.read('CreatorCollateral', program.findCollateral(w.listing));
  await w.vm.setClock(returnableAt);
  const sweep = program.sweepForfeits({ listing: w.listing, rentSponsor: creator.publicKey });
  yield { name: 'sweep_forfeits', instructions: [sweep], signers: [relay] };
  const back = program.returnCollateral({ ...own, usdcMint: w.usdcMint, rentSponsor: creator.publicKey });
  yield { name: 'return_collateral', instructions: [back], signers: [relay] };
}

/** Two refunds for a caller without a USDC account, moved to the unclaimed ones. One is claimed. */
async function* unclaimed(w: World, hashes: Buffer[]): AsyncGenerator<Step> {
  const { relay, caller, usdcMint } = w;
  const execution = ownExecution(w, UNSERVED);
  const { address: deposit } = program.depositAddress(w.quote(w.openTerms(caller.publicKey, terms(UNSERVED_DEPOSIT))));
  const place = { archiveIndex: 0, tree: new TestArchive(w).tree.publicKey };
  const destination = w.wallet(caller);
  const account = (await w.vm.getAccount(destination))!;
  const leafIndex = hashes.length;
  w.vm.closeAccount(destination);
  const by = { ...place, authority: relay.publicKey, usdcMint };
  const move = program.moveUnclaimedRefund({ ...execution, ...by, reason: 'unserved' });
  yield { name: 'move_unclaimed_refund', instructions: [move], signers: [relay] };
  const refund = { source: execution.record, caller: execution.caller, amount: PRICE, unclaimedAt: w.vm.now };
  const people = { caller: caller.publicKey, rentSponsor: relay.publicKey };
  const moveDeposit = program.moveUnclaimedDeposit({ ...by, ...people, deposit });
  yield { name: 'move_unclaimed_deposit', instructions: [moveDeposit], signers: [relay] };
  w.vm.setAccount(destination, account);
  const { proof } = proofsOfHashes([
    ...[...hashes, unclaimedHash(refund)],
    unclaimedHash({ ...refund, source: deposit }),
  ])[leafIndex]!;
  const claim = program.claimRefund({ ...place, refund, leafIndex, proof, payer: caller.publicKey, destination });
  yield { name: 'claim_refund', instructions: [claim], signers: [caller] };
}

/** Creates a tree, archives one record, then as many of one sponsor as fit in a transaction. */
async function* archives(w: World): AsyncGenerator<Step> {
  const { relay } = w;
  const archive = new TestArchive(w);
  const [makeTree, create] = archive.instructions();
  await w.must([makeTree], [w.stranger, archive.tree]);
  yield { name: 'create_archive', instructions: [create], signers: [w.stranger] };
  const ripe = [...DISPUTED, ...UNDISPUTED].map((number) => ownExecution(w, number));
  const leafIndex = ripe.length - 1;
  // The last one can still be disputed.
  await w.overwrite('ExecutionRecord', ripe[leafIndex]!.record, { disputeWindowSeconds: 2 ** 32 - 1 });
  const leaves = await leavesOf(w, ripe);
  yield { name: 'archive_executions (1)', instructions: [archive.archive(ripe.slice(0, 1))], signers: [relay] };
  yield { name: ARCHIVE_TWELVE, instructions: [archive.archive(ripe.slice(1))], signers: [relay] };
  const late = program.openDisputeWithProof({
    ...{ ...EVIDENCE, payer: w.caller.publicKey, execution: leaves[leafIndex]!.execution },
    ...{ archiveIndex: 0, tree: archive.tree.publicKey, leafIndex, proof: proofsOf(leaves)[leafIndex]!.proof },
  });
  yield { name: 'open_dispute_with_proof', instructions: [late], signers: [w.caller] };
  // An open dispute would keep the collateral.
  await w.must([answer(w, ripe[leafIndex]!, 0n)], [w.admin]);
  yield* unclaimed(
    w,
    leaves.map(({ hash }) => hash),
  );
}

/** The first day of every VM is the same, so addresses and compute units are the same in every run. */
const FIRST_HALF_HOUR = Number(START / 1_800n);

function terms(number: number): { nonce: Uint8Array; listingVersion: number } {
  return { nonce: createNonce(FIRST_HALF_HOUR, new Uint8Array(12).fill(number)), listingVersion: LISTING_VERSION };
}

/** An execution that the caller's wallet has opened and sponsored. */
function ownExecution(w: World, number: number): Execution {
  return w.execution(terms(number).nonce, w.caller.publicKey, NO_KEY, w.caller.publicKey);
}

async function settled(w: World, number: number): Promise<Execution> {
  const execution = await w.open(terms(number));
  await w.must([w.settleInstruction(execution)], [w.relay]);
  return execution;
}

async function disputed(w: World, number: number): Promise<Execution> {
  const execution = await settled(w, number);
  await w.must([dispute(w, execution)], [w.caller]);
  return execution;
}

/** A dispute of an execution; its caller signs and pays. */
export function dispute({ caller, listing }: World, { executionId }: Execution) {
  return program.openDispute({ caller: caller.publicKey, payer: caller.publicKey, executionId, listing, ...EVIDENCE });
}

/** The admin's resolution: rejected if nothing is slashed. */
function answer(w: World, { executionId }: Execution, amount: bigint) {
  return program.resolveDispute({
    admin: w.admin.publicKey,
    executionId,
    listing: w.listing,
    caller: w.caller.publicKey,
    creator: w.creator.publicKey,
    rentSponsor: w.caller.publicKey,
    usdcMint: w.usdcMint,
    upheld: amount > 0n,
    amount,
    reasonHash: new Uint8Array(32).fill(4),
  });
}
