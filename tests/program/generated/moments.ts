/** How an execution and its dispute come to the moments at which their instructions succeed, for one side. */
import type { Keypair, PublicKey } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import { type Execution, NO_KEY, NO_LIMIT, PRICE, SERVICE_FEE, USDC, type World } from '../../harness/vm/world.ts';

/** One creator with a listing, one caller with a grant and a tank, and who pays the rent of what they make. */
export interface Side {
  creator: Keypair;
  caller: Keypair;
  payer: Keypair;
  /** Who gets the rent of executions back, as the payer names it. */
  sponsor: PublicKey;
  listing: PublicKey;
  signingKey: Keypair;
  /** A second USDC account of the creator. */
  savings: PublicKey;
  /** Names what is made again for this side. */
  label: string;
}

/** What an upheld dispute slashes: more than the price, so that the treasury has its part. */
export const SLASH = 3n * USDC;

/** Terms of a side's open; the payer names somebody else as rent sponsor. */
export function opening({ payer, sponsor, listing }: Side) {
  return { payer: payer.publicKey, rentSponsor: sponsor, listing };
}

/** An open execution by the caller's own wallet. */
export async function open(w: World, side: Side): Promise<Execution> {
  const { caller, payer } = side;
  const input = w.openInput({ caller: caller.publicKey, ...opening(side) });
  await w.must([program.openExecution(input)], [caller, payer]);
  return executionOf(w, side, input.nonce, NO_KEY);
}

/** An open execution by the relay with the caller's grant. */
export async function openWithGrant(w: World, side: Side): Promise<Execution> {
  const { caller, payer } = side;
  const input = w.openGrantInput({ wallet: caller.publicKey, ...opening(side) });
  await w.must([program.openExecutionWithGrant(input)], [w.relay, payer]);
  return executionOf(w, side, input.nonce, w.keyId);
}

/** A quote for a side's caller, which names it, and the terms of its open. */
export function quoted(w: World, { caller, listing }: Side) {
  const terms = w.openTerms(caller.publicKey);
  const quote = { ...w.quote(terms), terms: { listing, ...terms }, payer: caller.publicKey };
  return { terms, quote, place: program.depositAddress(quote) };
}

/** What prepares its deposit; the side's payer lends the rent, for the sponsor. */
export function preparing(w: World, { caller, payer, sponsor }: Side, quote: program.DepositQuote) {
  const rent = { rentPayer: payer.publicKey, rentSponsor: sponsor, caller: caller.publicKey };
  return program.prepareDeposit(w.prepareInput(quote, rent));
}

/** A deposit that is prepared and paid. */
export async function paid(w: World, side: Side) {
  const { terms, quote, place } = quoted(w, side);
  await w.must([preparing(w, side, quote)], [w.relay, side.payer]);
  await w.must([w.pay(place.vault, PRICE + SERVICE_FEE, side.caller)], [side.caller]);
  return { terms, place };
}

function executionOf(w: World, side: Side, nonce: Uint8Array, keyId: Uint8Array): Execution {
  const { caller, creator, sponsor, listing, signingKey } = side;
  const execution = w.execution(nonce, caller.publicKey, keyId, sponsor);
  return { ...execution, listing, signingKey, payout: w.wallet(creator) };
}

/** The hand-over of its refund by anyone, whose time has come: the caller's account is gone. */
export async function handOver(w: World, { caller, creator }: Side, execution: Execution) {
  const { refundAt } = await w.read('ExecutionRecord', execution.record);
  await w.vm.setClock(refundAt + BigInt(program.constants.handOverSeconds));
  const destination = w.wallet(caller);
  w.vm.closeAccount(destination);
  return program.handOverRefund({ ...execution, authority: creator.publicKey, destination });
}

export async function settled(w: World, side: Side): Promise<Execution> {
  const execution = await open(w, side);
  await w.must([w.settleInstruction(execution)], [w.relay]);
  return execution;
}

/** A settled execution's dispute, for the payer to pay. */
export function dispute({ executionId }: Execution, { caller, payer, listing }: Side): program.OpenDisputeInput {
  const evidence = {
    evidenceHash: new Uint8Array(32).fill(6),
    evidenceUri: 'https://example.com/evidence',
    maxBond: NO_LIMIT,
  };
  return { caller: caller.publicKey, payer: payer.publicKey, executionId, listing, ...evidence };
}

export async function disputed(w: World, side: Side): Promise<Execution> {
  const execution = await settled(w, side);
  await w.must([program.openDispute(dispute(execution, side))], [side.caller, side.payer]);
  return execution;
}

/** The admin's answer. */
export function answer(
  w: World,
  { executionId }: Execution,
  { caller, creator, payer, listing }: Side,
  upheld: boolean,
): program.ResolveDisputeInput {
  return {
    admin: w.admin.publicKey,
    executionId,
    listing,
    caller: caller.publicKey,
    creator: creator.publicKey,
    rentSponsor: payer.publicKey,
    usdcMint: w.usdcMint,
    upheld,
    amount: upheld ? SLASH : 0n,
    reasonHash: new Uint8Array(32).fill(4),
  };
}

/** A dispute upheld while the caller's account was frozen, which now works again. */
export async function owed(w: World, side: Side): Promise<Execution> {
  const execution = await disputed(w, side);
  const owner = side.caller.publicKey;
  const account = (await w.vm.getAccount(w.wallet(owner)))!;
  w.vm.setTokenAccount(w.wallet(owner), { mint: w.usdcMint, owner, frozen: true });
  await w.must([program.resolveDispute(answer(w, execution, side, true))], [w.admin]);
  w.vm.setAccount(w.wallet(owner), account);
  return execution;
}

/** A delisted agent's collateral at the second from which it can go back. */
export async function returnable(w: World, { creator, listing }: Side): Promise<program.ReturnCollateralInput> {
  await w.must([program.delistAgent({ creator: creator.publicKey, listing })], [creator]);
  const { returnableAt } = await w.read('CreatorCollateral', program.findCollateral(listing));
  await w.vm.setClock(returnableAt);
  return { creator: creator.publicKey, listing, usdcMint: w.usdcMint, rentSponsor: creator.publicKey };
}
