/**
 * For every instruction, a state in which it succeeds, for either of two sides. All its accounts exist then and differ,
 * so that each flag is tested separately. A new instruction needs an entry here; otherwise the suite fails.
 */
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import { namedKeypair } from '../../harness/vm/keys.ts';
import { FEE, GAS_BALANCE, NO_LIMIT, possessionOf, USDC, type World } from '../../harness/vm/world.ts';
import { TestArchive } from '../archiving.ts';
import type { Side } from './moments.ts';
import * as moments from './moments.ts';

/** A new value of every setting. */
const SETTINGS = {
  feeBps: 50,
  minPrice: 20_000n,
  disputeBondLamports: 1n,
  disputeWindowSeconds: 300_000,
  refundGraceSeconds: 900,
  maxTimeoutSeconds: 7_200,
  recordSeconds: 7_201,
  exposureMultiple: 3,
};

/** Prepares the world, and returns the instruction that then succeeds for this side. */
export type Scenario = (w: World, side: Side) => Promise<TransactionInstruction>;

const bytes16 = (text: string) => namedKeypair(text).publicKey.toBytes().slice(0, 16);

export const SCENARIOS: Record<string, Scenario> = {
  initialize_config: async (w, { payer }) => program.initializeConfig(w.configInput({ payer: payer.publicKey })),
  set_creator_verified: async (w, side) => program.setCreatorVerified(badge(w, side)),
  update_config: async (w) => program.updateConfig({ admin: w.admin.publicKey, ...SETTINGS }),
  propose_change: async (w, side) => program.proposeChange(change(w, side)),
  apply_change: async (w, side) => {
    const { changeId, payer } = await proposed(w, side);
    return program.applyChange({ changeId, rentSponsor: payer });
  },
  cancel_change: async (w, side) => {
    const { admin, changeId, payer } = await proposed(w, side);
    return program.cancelChange({ authority: admin, changeId, rentSponsor: payer });
  },
  set_pause: async (w) => program.setPause({ authority: w.admin.publicKey, isPaused: true }),
  remove_relay_authority: async (w) =>
    program.removeRelayAuthority({ authority: w.admin.publicKey, relayAuthority: w.relay.publicKey }),
  cancel_all_changes: async (w) => program.cancelAllChanges({ authority: w.admin.publicKey }),
  accept_admin: async (w, side) => {
    const nextAdmin = w.relay.publicKey;
    const { changeId, payer } = await proposed(w, side, { nextAdmin });
    return program.acceptAdmin({ nextAdmin, changeId, rentSponsor: payer });
  },
  withdraw_treasury: async (w, side) => {
    await moments.settled(w, side);
    return program.withdrawTreasury({ admin: w.admin.publicKey, destination: side.savings, amount: FEE / 2n });
  },
  list_agent: async (w, { creator, payer, savings, label }) => {
    const signingKey = namedKeypair(`${label} second signing key`);
    const change = { creator: creator.publicKey, payer: payer.publicKey, payout: savings };
    return w.listInstruction({ ...change, listingId: bytes16(`${label} second listing`) }, signingKey);
  },
  update_listing: async (_, { creator, listing, savings }) => {
    const metadata = { metadataUri: 'x', metadataHash: new Uint8Array(32).fill(8) };
    const terms = { price: USDC, timeoutSeconds: 50, minTimeoutSeconds: 6, tagMask: 0b10, ...metadata };
    const accounts = { creator: creator.publicKey, listing, payout: savings };
    return program.updateListing({ ...accounts, maxDeposit: NO_LIMIT, terms });
  },
  set_listing_status: async (_, { creator, listing }) =>
    program.setListingStatus({ creator: creator.publicKey, listing, status: 'paused' }),
  rotate_signing_key: async (_, side) => rotation(side, namedKeypair(`${side.label} next signing key`)),
  top_up_collateral: async (_, { creator, listing, savings }) =>
    program.topUpCollateral({ creator: creator.publicKey, listing, source: savings, amount: USDC / 2n }),
  delist_agent: async (_, { creator, listing }) => program.delistAgent({ creator: creator.publicKey, listing }),
  return_collateral: async (w, side) => program.returnCollateral(await moments.returnable(w, side)),
  sweep_forfeits: async (w, side) => program.sweepForfeits(await moments.sweepable(w, side)),
  create_grant: async (w, { caller, payer, label }) => {
    const input = w.grantInput({}, bytes16(`${label} second key`));
    return program.createGrant({ ...input, wallet: caller.publicKey, payer: payer.publicKey });
  },
  revoke_grant: async (w, { caller }) => {
    const wallet = caller.publicKey;
    return program.revokeGrant({ authority: wallet, wallet, keyId: w.keyId });
  },
  update_grant: async (w, { caller }) => {
    const amounts = { perExecutionMax: 3n * USDC, periodMax: 15n * USDC, totalMax: 30n * USDC };
    const { limits } = w.grantInput({ ...amounts, periodSeconds: 77, maxGasLamports: 3 });
    return program.updateGrant({ wallet: caller.publicKey, keyId: w.keyId, limits });
  },
  close_grant: async (w, { caller, payer, label }) => {
    const [wallet, rentSponsor] = [caller.publicKey, payer.publicKey];
    const input = { ...w.grantInput({}, bytes16(`${label} second key`)), wallet, payer: rentSponsor };
    await w.must([program.createGrant(input)], [caller, payer]);
    return program.closeGrant({ wallet, keyId: input.keyId, rentSponsor });
  },
  withdraw_gas: async (_, { caller }) => program.withdrawGas({ wallet: caller.publicKey, lamports: GAS_BALANCE / 3n }),
  open_execution: async (w, side) =>
    program.openExecution(w.openInput({ caller: side.caller.publicKey, ...moments.opening(side) })),
  open_execution_with_grant: async (w, side) => program.openExecutionWithGrant(moments.openingWithGrant(w, side)),
  prepare_deposit: async (w, side) => moments.preparing(w, side, moments.quoted(w, side).quote),
  open_execution_from_deposit: async (w, side) => {
    const { terms, place } = await moments.paid(w, side);
    const { payer, caller, listing, sponsor } = side;
    const rent = { payer: payer.publicKey, rentSponsor: w.wallet(payer), depositRentSponsor: sponsor };
    await w.vm.airdrop(rent.rentSponsor, 1_000_000_000n);
    const change = { ...rent, listing, quotedPayer: caller.publicKey };
    return program.openExecutionFromDeposit(w.openDepositInput(terms, place.address, change));
  },
  refund_deposit: async (w, side) => {
    const { place } = await moments.paid(w, side);
    const change = { destination: w.wallet(side.caller), rentSponsor: side.sponsor };
    return w.refundDepositInstruction(place.address, change);
  },
  settle_execution: async (w, side) => w.settleInstruction(await moments.openWithGrant(w, side)),
  refund_execution: async (w, side) => w.refundInstruction(await moments.openWithGrant(w, side)),
  move_unclaimed_refund: async (w, side) => moments.movable(w, side, await moments.openWithGrant(w, side)),
  move_unclaimed_deposit: async (w, side) => moments.movableDeposit(w, side),
  claim_refund: async (w, side) => program.claimRefund(await moments.unclaimed(w, side)),
  close_execution: async (w, side) => {
    const execution = await moments.open(w, side);
    await w.must([w.refundInstruction(execution)], [w.relay]);
    await w.vm.setClock(w.vm.now + BigInt(program.constants.recordSecondsMin));
    return program.closeExecution(execution);
  },
  create_archive: async (w, { payer, label }) => {
    await new TestArchive(w).setCount(program.constants.archiveSuccessorCount);
    const tree = namedKeypair(`${label} tree`).publicKey;
    const data = new Uint8Array(program.constants.archiveTreeBytes);
    w.vm.setAccount(tree, { lamports: w.vm.rent(data.length), owner: program.PROGRAM_ID, data });
    return program.createArchive({ payer: payer.publicKey, tree, index: 1 });
  },
  archive_executions: async (w, side) => {
    const execution = await moments.settled(w, side);
    await w.vm.setClock(w.vm.now + BigInt(program.constants.recordSecondsMin));
    return new TestArchive(w).archive([execution]);
  },
  open_dispute: async (w, side) => moments.dispute(w, await moments.settled(w, side), side),
  open_dispute_with_proof: async (w, side) => program.openDisputeWithProof(await moments.archived(w, side)),
  resolve_dispute: async (w, side) => moments.answer(w, await moments.disputed(w, side), side, true),
  claim_dispute_award: async (w, side) => {
    const execution = await moments.owed(w, side);
    const { payer, creator, caller, listing } = side;
    const people = { authority: payer.publicKey, rentSponsor: creator.publicKey, destination: w.wallet(caller) };
    return program.claimDisputeAward({ ...people, listing, executionId: execution.executionId });
  },
  lapse_dispute: async (w, side) => {
    const { executionId } = await moments.disputed(w, side);
    await w.vm.setClock(w.vm.now + BigInt(program.constants.disputeLapseSeconds));
    return program.lapseDispute({ executionId, listing: side.listing, rentSponsor: side.payer.publicKey });
  },
  close_dispute: async (w, side) => {
    const execution = await moments.disputed(w, side);
    await w.must([moments.answer(w, execution, side, false)], [w.admin]);
    await w.vm.setClock(w.vm.now + BigInt(program.constants.endedDisputeSeconds));
    return program.closeDispute({ executionId: execution.executionId, rentSponsor: side.payer.publicKey });
  },
};

/** A rotation to a key, with its proof of possession. */
function rotation({ creator, payer, listing }: Side, key: Keypair): TransactionInstruction {
  const accounts = { creator: creator.publicKey, payer: payer.publicKey, listing };
  const possession = possessionOf(key, listing);
  return program.rotateSigningKey({ ...accounts, signingKey: key.publicKey, possession });
}

/** A proposed change. Each side's payer pays for its own. */
function change(w: World, { payer, creator, label }: Side): program.ProposeChangeInput {
  const changeId = BigInt(label.length);
  return {
    admin: w.admin.publicKey,
    payer: payer.publicKey,
    changeId,
    settings: SETTINGS,
    addedRelayAuthorities: [creator.publicKey],
  };
}

export async function proposed(
  w: World,
  side: Side,
  subject?: Pick<program.ProposeChangeInput, 'nextAdmin' | 'guardian'>,
): Promise<program.ProposeChangeInput> {
  const { settings, addedRelayAuthorities, ...named } = change(w, side);
  const input = { ...named, ...(subject ?? { settings, addedRelayAuthorities }) };
  await w.must([program.proposeChange(input)], [w.admin, side.payer]);
  return input;
}

function badge(w: World, { creator, payer }: Side): program.SetCreatorVerifiedInput {
  return { admin: w.admin.publicKey, payer: payer.publicKey, creator: creator.publicKey, verified: true };
}
