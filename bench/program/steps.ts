/**
 * Every instruction of the program at least once, in an order in which all succeed. One party signs and pays for each, as
 * relay and wallets do.
 */
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../../tests/harness/vm/keys.ts';
import { type Execution, NO_KEY, signed, USDC, type World } from '../../tests/harness/vm/world.ts';
import type { Step } from './measure.ts';

export const OPEN = 'open_execution_with_grant';
export const SETTLE = 'settle_execution + Ed25519';
export const REFUND = 'refund_execution (grant)';

/** The terms are changed once before the first open. */
const LISTING_VERSION = 2;
const SLASH = 3n * USDC;

/** The steps for a world in which there is no marketplace yet. Between them the clock moves. */
export async function* steps(w: World): AsyncGenerator<Step> {
  yield* settings(w);
  yield* listing(w);
  yield* executions(w);
  yield* disputes(w);
  yield* endings(w);
}

/** Whoever sets the marketplace up hands it over to admin and relay. */
async function* settings(w: World): AsyncGenerator<Step> {
  const { admin, relay, creator } = w;
  const founder = w.vm.upgradeAuthority;
  await w.vm.airdrop(founder.publicKey, 1_000_000_000n);
  const roles = { payer: founder.publicKey, admin: founder.publicKey, relayAuthority: founder.publicKey };
  const initialize = program.initializeConfig(w.configInput(roles));
  yield { name: 'initialize_config', instructions: [initialize], signers: [founder] };
  const update = program.updateConfig({ admin: founder.publicKey, feeBps: 100, refundGraceSeconds: 600 });
  yield { name: 'update_config', instructions: [update], signers: [founder] };
  const propose = program.proposeAdmin({ admin: founder.publicKey, pendingAdmin: admin.publicKey });
  yield { name: 'propose_admin', instructions: [propose], signers: [founder] };
  const accept = program.acceptAdmin({ pendingAdmin: admin.publicKey });
  yield { name: 'accept_admin', instructions: [accept], signers: [admin] };
  const authority = program.setRelayAuthority({ admin: admin.publicKey, relayAuthority: relay.publicKey });
  yield { name: 'set_relay_authority', instructions: [authority], signers: [admin] };
  const verified = { admin: admin.publicKey, payer: admin.publicKey, creator: creator.publicKey, verified: true };
  yield { name: 'set_creator_verified', instructions: [program.setCreatorVerified(verified)], signers: [admin] };
}

async function* listing(w: World): AsyncGenerator<Step> {
  const { creator } = w;
  const own = { creator: creator.publicKey, listing: w.listing };
  yield { name: 'list_agent + Ed25519', instructions: w.listInstructions(), signers: [creator] };
  const terms = { ...w.listInput().terms, tagMask: 0b11 };
  const update = program.updateListing({ ...own, payout: w.payout, terms });
  yield { name: 'update_listing', instructions: [update], signers: [creator] };
  for (const status of ['paused', 'active'] as const) {
    const change = program.setListingStatus({ ...own, status });
    yield { name: `set_listing_status (${status})`, instructions: [change], signers: [creator] };
  }
  const keys = { new: namedKeypair('next signing key'), earlier: w.signingKey };
  for (const [which, key] of Object.entries(keys)) {
    const rotate = program.rotateSigningKey({ ...own, payer: creator.publicKey, signingKey: key.publicKey });
    const proof = signed(key, program.registerMessage(w.listing));
    yield { name: `rotate_signing_key (${which}) + Ed25519`, instructions: [proof, rotate], signers: [creator] };
  }
  const topUp = program.topUpCollateral({ ...own, source: w.wallet(creator), amount: 10n * USDC });
  yield { name: 'top_up_collateral', instructions: [topUp], signers: [creator] };
}

async function* executions(w: World): AsyncGenerator<Step> {
  const { admin, relay, caller } = w;
  const wallet = caller.publicKey;
  const grant = [program.createGrant(w.grantInput()), w.approveInstruction()];
  yield { name: 'create_grant + approve', instructions: grant, signers: [caller] };
  const { limits } = w.grantInput({ totalMax: 50n * USDC });
  const update = program.updateGrant({ wallet, keyId: w.keyId, limits });
  yield { name: 'update_grant', instructions: [update], signers: [caller] };

  const own = w.openInput(terms(1));
  yield { name: 'open_execution', instructions: [program.openExecution(own)], signers: [caller] };
  const refundOwn = w.refundInstruction(ownExecution(w, 1));
  yield { name: 'refund_execution (wallet)', instructions: [refundOwn], signers: [relay] };

  const [first, second] = [w.openGrantInput(terms(2)), w.openGrantInput(terms(3))];
  yield { name: OPEN, instructions: [program.openExecutionWithGrant(first)], signers: [relay] };
  const settle = w.settleInstructions(w.execution(first.nonce, first.wallet, first.keyId, first.payer));
  yield { name: SETTLE, instructions: settle, signers: [relay] };
  yield { name: `${OPEN} (next)`, instructions: [program.openExecutionWithGrant(second)], signers: [relay] };
  const refund = w.refundInstruction(w.execution(second.nonce, second.wallet, second.keyId, second.payer));
  yield { name: REFUND, instructions: [refund], signers: [relay] };

  const revoke = program.revokeGrant({ authority: wallet, wallet, keyId: w.keyId });
  yield { name: 'revoke_grant', instructions: [revoke], signers: [caller] };
  await w.vm.setClock(w.vm.now + 1n);
  const close = program.closeGrant({ wallet, keyId: w.keyId, rentSponsor: wallet });
  yield { name: 'close_grant', instructions: [close], signers: [caller] };
  const destination = w.vm.setWallet(admin.publicKey, w.usdcMint, 0n);
  const withdraw = program.withdrawTreasury({ admin: admin.publicKey, destination, amount: 1_000n });
  yield { name: 'withdraw_treasury', instructions: [withdraw], signers: [admin] };
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

  const { executionId, rentSponsor } = await disputed(w, 7);
  await w.vm.setClock(w.vm.now + BigInt(program.constants.disputeLapseSeconds));
  const lapse = program.lapseDispute({ executionId, listing: w.listing, rentSponsor });
  yield { name: 'lapse_dispute', instructions: [lapse], signers: [relay] };
}

/** What closes accounts when all is over. The clock is a month on: the refunded record is old enough. */
async function* endings(w: World): AsyncGenerator<Step> {
  const { relay, creator } = w;
  const close = program.closeExecution(ownExecution(w, 1));
  yield { name: 'close_execution', instructions: [close], signers: [relay] };
  const own = { creator: creator.publicKey, listing: w.listing };
  yield { name: 'delist_agent', instructions: [program.delistAgent(own)], signers: [creator] };
  const { returnableAt } = await w.read('CreatorCollateral', program.findCollateral(w.listing));
  await w.vm.setClock(returnableAt);
  const back = program.returnCollateral({ ...own, usdcMint: w.usdcMint, rentSponsor: creator.publicKey });
  yield { name: 'return_collateral', instructions: [back], signers: [relay] };
}

/** The same in every run, so that addresses, and with them compute units, are too. */
function terms(number: number): { nonce: Uint8Array; listingVersion: number } {
  return { nonce: new Uint8Array(16).fill(number), listingVersion: LISTING_VERSION };
}

/** An execution that the caller's wallet opened and sponsored. */
function ownExecution(w: World, number: number): Execution {
  return w.execution(terms(number).nonce, w.caller.publicKey, NO_KEY, w.caller.publicKey);
}

async function settled(w: World, number: number): Promise<Execution> {
  const execution = await w.open(terms(number));
  await w.must(w.settleInstructions(execution), [w.relay]);
  return execution;
}

async function disputed(w: World, number: number): Promise<Execution> {
  const execution = await settled(w, number);
  await w.must([dispute(w, execution)], [w.caller]);
  return execution;
}

/** A dispute of an execution, for its caller to sign and pay. */
export function dispute({ caller, listing }: World, { executionId }: Execution) {
  const evidence = { evidenceHash: new Uint8Array(32).fill(6), evidenceUri: 'https://example.com/evidence' };
  return program.openDispute({ caller: caller.publicKey, payer: caller.publicKey, executionId, listing, ...evidence });
}

/** The admin's answer: rejected where nothing is slashed. */
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
