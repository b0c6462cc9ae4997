/** Brings an execution and its dispute of one side to the states in which their instructions succeed. */
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import { type Execution, GAS, NO_KEY, NO_LIMIT, PRICE, SERVICE_FEE, USDC, type World } from '../../harness/vm/world.ts';
import { emptyNode, leavesOf, TestArchive } from '../archiving.ts';
import * as acts from '../exploits/acts.ts';

/** A creator with a listing, a caller with a grant and a gas balance, and the payer of their rent. */
export interface Side {
  creator: Keypair;
  caller: Keypair;
  payer: Keypair;
  /** The rent sponsor of executions, as named by the payer. */
  sponsor: PublicKey;
  listing: PublicKey;
  signingKey: Keypair;
  /** A second USDC account of the creator. */
  savings: PublicKey;
  /** Makes names and ids of this side unique. */
  label: string;
}

/** Slash of an upheld dispute: more than the price, so that a part is forfeited. */
export const SLASH = 3n * USDC;

/** Terms of a side's open. The rent sponsor is not the payer. */
export function opening({ payer, sponsor, listing }: Side) {
  return { payer: payer.publicKey, rentSponsor: sponsor, listing };
}

/** An execution opened by the caller's own wallet. */
export async function open(w: World, side: Side): Promise<Execution> {
  const { caller, payer } = side;
  const input = w.openInput({ caller: caller.publicKey, ...opening(side) });
  await w.must([program.openExecution(input)], [caller, payer]);
  return executionOf(w, side, input, NO_KEY);
}

/** The input of an open by the relay with the caller's grant. The gas balance pays fee and gas, and lends the escrow. */
export function openingWithGrant(w: World, side: Side): program.OpenExecutionWithGrantInput {
  const gas = { feeLamports: 1_000, gasLamports: GAS - 1_000, spenderLendsEscrow: true };
  return w.openGrantInput({ wallet: side.caller.publicKey, ...opening(side), ...gas });
}

/** An execution opened by the relay with the caller's grant. */
export async function openWithGrant(w: World, side: Side): Promise<Execution> {
  const { payer } = side;
  const input = openingWithGrant(w, side);
  await w.must([program.openExecutionWithGrant(input)], [w.relay, payer]);
  return executionOf(w, side, input, w.keyId);
}

/** A quote that names a side's caller, and the terms of its open. */
export function quoted(w: World, { caller, listing }: Side) {
  const terms = w.openTerms(caller.publicKey);
  const quote = { ...w.quote(terms), terms: { listing, ...terms }, payer: caller.publicKey };
  return { terms, quote, place: program.depositAddress(quote) };
}

/** The instruction that prepares the deposit. The side's payer lends the rent, which returns to the sponsor. */
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

function executionOf(w: World, side: Side, open: program.OpenTerms, keyId: Uint8Array): Execution {
  const { caller, creator, sponsor, listing, signingKey } = side;
  const execution = w.execution(open.nonce, caller.publicKey, keyId, sponsor, open.gasLamports);
  return { ...execution, listing, signingKey, payout: w.wallet(creator) };
}

/** The move of a refund by anyone, at its time and with the caller's account closed. */
export async function movable(w: World, { caller, creator }: Side, execution: Execution) {
  const { refundAt } = await w.read('ExecutionRecord', execution.record);
  const due = program.movableFrom(refundAt);
  if (w.vm.now < due) await w.vm.setClock(due);
  w.vm.closeAccount(w.wallet(caller));
  const { usdcMint } = w;
  return program.moveUnclaimedRefund({
    ...{ ...execution, ...leafPlace(w), authority: creator.publicKey, usdcMint, reason: 'unserved' },
  });
}

/** The same of a paid deposit. */
export async function movableDeposit(w: World, side: Side) {
  const { address } = (await paid(w, side)).place;
  const { caller, creator, sponsor } = side;
  const { expiresAt } = await w.read('Deposit', address);
  await w.vm.setClock(program.movableFrom(expiresAt));
  w.vm.closeAccount(w.wallet(caller));
  const people = { authority: creator.publicKey, caller: caller.publicKey, rentSponsor: sponsor };
  return program.moveUnclaimedDeposit({ ...people, ...leafPlace(w), deposit: address, usdcMint: w.usdcMint });
}

/** The claim of a moved refund. The payer pays for the account that stays. */
export async function unclaimed(w: World, side: Side): Promise<program.ClaimRefundInput> {
  const execution = await openWithGrant(w, side);
  const leafIndex = (await new TestArchive(w).read()).count;
  const account = (await w.vm.getAccount(w.wallet(side.caller)))!;
  await w.must([await movable(w, side, execution)], [side.creator]);
  w.vm.setAccount(w.wallet(side.caller), account);
  const { payer, caller } = side;
  const refund = { source: execution.record, caller: caller.publicKey, amount: PRICE, unclaimedAt: w.vm.now };
  const destination = w.wallet(caller);
  return { ...leafPlace(w), refund, leafIndex, proof: EMPTY_PROOF, payer: payer.publicKey, destination };
}

const leafPlace = (w: World) => ({ archiveIndex: 0, tree: new TestArchive(w).tree.publicKey });

/** The tree still knows all its changes, so a proof of the empty tree is as good as one of the present tree. */
const EMPTY_PROOF = Array.from({ length: program.constants.archiveProofNodes }, (_, level) => emptyNode(level));

export async function settled(w: World, side: Side): Promise<Execution> {
  const execution = await open(w, side);
  await w.must([w.settleInstruction(execution)], [w.relay]);
  return execution;
}

/** A settled execution's dispute. The payer pays for it. */
export function dispute(w: World, execution: Execution, { caller, payer }: Side): TransactionInstruction {
  return acts.dispute(w, execution, { caller: caller.publicKey, payer: payer.publicKey });
}

/** The claim over an archived execution with a window of 30 days. */
export async function archived(w: World, side: Side): Promise<program.OpenDisputeWithProofInput> {
  const execution = await settled(w, side);
  await w.overwrite('ExecutionRecord', execution.record, { disputeWindowSeconds: 2_592_000 });
  const archive = new TestArchive(w);
  await w.vm.setClock(w.vm.now + BigInt(program.constants.recordSecondsMin));
  const leafIndex = (await archive.read()).count;
  const [leaf] = await leavesOf(w, [execution]);
  await w.must([archive.archive([execution])], []);
  const evidence = { evidenceHash: new Uint8Array(32).fill(6), evidenceUri: 'https://example.com/evidence' };
  const place = { ...leafPlace(w), leafIndex, proof: EMPTY_PROOF };
  return { ...place, ...evidence, execution: leaf!.execution, payer: side.payer.publicKey, maxBond: NO_LIMIT };
}

export async function disputed(w: World, side: Side): Promise<Execution> {
  const execution = await settled(w, side);
  await w.must([dispute(w, execution, side)], [side.caller, side.payer]);
  return execution;
}

/** The admin's resolution: upheld with a slash, or rejected. */
export function answer(w: World, execution: Execution, { creator, payer }: Side, upheld: boolean) {
  const people = { creator: creator.publicKey, rentSponsor: payer.publicKey };
  return acts.uphold(w, execution, upheld ? SLASH : 0n, { ...people, upheld });
}

/** A dispute that was upheld while the caller's account was frozen. The account works again. */
export async function owed(w: World, side: Side): Promise<Execution> {
  const execution = await disputed(w, side);
  const owner = side.caller.publicKey;
  const account = (await w.vm.getAccount(w.wallet(owner)))!;
  w.vm.setTokenAccount(w.wallet(owner), { mint: w.usdcMint, owner, frozen: true });
  await w.must([answer(w, execution, side, true)], [w.admin]);
  w.vm.setAccount(w.wallet(owner), account);
  return execution;
}

/** A delisted agent's collateral in the first second in which it can be returned. */
export async function returnable(w: World, { creator, listing }: Side): Promise<program.ReturnCollateralInput> {
  await w.must([program.delistAgent({ creator: creator.publicKey, listing })], [creator]);
  const { returnableAt } = await w.read('CreatorCollateral', program.findCollateral(listing));
  await w.vm.setClock(returnableAt);
  return { creator: creator.publicKey, listing, usdcMint: w.usdcMint, rentSponsor: creator.publicKey };
}

/** An agent's forfeits in the first second in which they can go to the treasury. */
export async function sweepable(
  w: World,
  side: Side,
): Promise<Pick<program.ReturnCollateralInput, 'listing' | 'rentSponsor'>> {
  const execution = await disputed(w, side);
  await w.must([answer(w, execution, side, true)], [w.admin]);
  const { sweepableAt } = await w.read('CreatorCollateral', program.findCollateral(side.listing));
  await w.vm.setClock(sweepableAt);
  return { listing: side.listing, rentSponsor: side.creator.publicKey };
}
