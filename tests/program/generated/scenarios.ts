/**
 * For every instruction, a state in which it succeeds, for either of two sides. All accounts of an instruction differ,
 * so that each flag is tested separately. A new instruction needs an entry here; otherwise the suite fails.
 */
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import * as program from '../../../app/sdk/program/program.ts';
import { namedKeypair } from '../../harness/vm/keys.ts';
import { type Execution, FEE, GAS_BALANCE, NO_LIMIT, possessionOf, USDC, type World } from '../../harness/vm/world.ts';
import { TestArchive } from '../archiving.ts';
import type { Side } from './moments.ts';
import * as moments from './moments.ts';

export interface Scenario {
  instruction: string;
  /** Distinguishes several scenarios of one instruction. */
  when?: string;
  /** Accounts that do not exist yet: the instruction creates them, or does not need them. */
  absent?: string[];
  /** Accounts that are the same for both sides. */
  shared?: string[];
  /** True if it happens before the marketplace exists. */
  early?: boolean;
  /** Prepares the world. The last returned instruction is the one to attack. */
  prepare(w: World, side: Side): Promise<TransactionInstruction[]>;
}

const bytes16 = (text: string) => namedKeypair(text).publicKey.toBytes().slice(0, 16);

export const SCENARIOS: Scenario[] = [
  {
    instruction: 'initialize_config',
    absent: ['config', 'treasury', 'unclaimed'],
    shared: ['authority', 'config', 'treasury', 'unclaimed'],
    early: true,
    prepare: async (w, { payer }) => [program.initializeConfig(w.configInput({ payer: payer.publicKey }))],
  },
  {
    instruction: 'set_creator_verified',
    when: 'the first time',
    absent: ['profile'],
    prepare: async (w, side) => [program.setCreatorVerified(badge(w, side))],
  },
  {
    instruction: 'set_creator_verified',
    when: 'a second time',
    prepare: async (w, side) => {
      const input = badge(w, side);
      await w.must([program.setCreatorVerified(input)], [w.admin, side.payer]);
      return [program.setCreatorVerified({ ...input, verified: false })];
    },
  },
  {
    instruction: 'update_config',
    prepare: async (w) => [program.updateConfig({ admin: w.admin.publicKey, feeBps: 50 })],
  },
  {
    instruction: 'propose_change',
    absent: ['change'],
    prepare: async (w, side) => [program.proposeChange(change(w, side))],
  },
  {
    instruction: 'apply_change',
    prepare: async (w, side) => {
      const { changeId, payer } = await proposed(w, side);
      return [program.applyChange({ changeId, rentSponsor: payer })];
    },
  },
  {
    instruction: 'cancel_change',
    shared: ['authority'],
    prepare: async (w, side) => {
      const { admin, changeId, payer } = await proposed(w, side);
      return [program.cancelChange({ authority: admin, changeId, rentSponsor: payer })];
    },
  },
  {
    instruction: 'set_pause',
    shared: ['authority'],
    prepare: async (w) => [program.setPause({ authority: w.admin.publicKey, isPaused: true })],
  },
  {
    instruction: 'remove_relay_authority',
    shared: ['authority'],
    prepare: async (w) => [
      program.removeRelayAuthority({ authority: w.admin.publicKey, relayAuthority: w.relay.publicKey }),
    ],
  },
  {
    instruction: 'cancel_all_changes',
    shared: ['authority'],
    prepare: async (w) => [program.cancelAllChanges({ authority: w.admin.publicKey })],
  },
  {
    instruction: 'accept_admin',
    prepare: async (w, side) => {
      const nextAdmin = w.relay.publicKey;
      const { changeId, payer } = await proposed(w, side, { nextAdmin });
      return [program.acceptAdmin({ nextAdmin, changeId, rentSponsor: payer })];
    },
  },
  {
    instruction: 'withdraw_treasury',
    prepare: async (w, side) => {
      await moments.settled(w, side);
      return [program.withdrawTreasury({ admin: w.admin.publicKey, destination: side.savings, amount: FEE / 2n })];
    },
  },
  {
    instruction: 'list_agent',
    absent: ['listing', 'signing_key', 'collateral', 'collateral_vault'],
    prepare: async (w, { creator, payer, savings, label }) => {
      const signingKey = namedKeypair(`${label} second signing key`);
      const change = { creator: creator.publicKey, payer: payer.publicKey, payout: savings };
      return [w.listInstruction({ ...change, listingId: bytes16(`${label} second listing`) }, signingKey)];
    },
  },
  {
    instruction: 'update_listing',
    prepare: async (w, { creator, listing, savings }) => {
      const terms = { ...w.listInput().terms, tagMask: 0b10 };
      const accounts = { creator: creator.publicKey, listing, payout: savings };
      return [program.updateListing({ ...accounts, maxDeposit: NO_LIMIT, terms })];
    },
  },
  {
    instruction: 'set_listing_status',
    prepare: async (_, { creator, listing }) => [
      program.setListingStatus({ creator: creator.publicKey, listing, status: 'paused' }),
    ],
  },
  {
    instruction: 'rotate_signing_key',
    when: 'to a new key',
    absent: ['signing_key'],
    prepare: async (_, side) => [rotation(side, namedKeypair(`${side.label} next signing key`))],
  },
  {
    instruction: 'rotate_signing_key',
    when: 'back to an earlier key',
    prepare: async (w, side) => {
      await w.must([rotation(side, namedKeypair(`${side.label} next signing key`))], [side.creator, side.payer]);
      return [rotation(side, side.signingKey)];
    },
  },
  {
    instruction: 'top_up_collateral',
    prepare: async (_, { creator, listing, savings }) => [
      program.topUpCollateral({ creator: creator.publicKey, listing, source: savings, amount: USDC / 2n }),
    ],
  },
  {
    instruction: 'delist_agent',
    prepare: async (_, { creator, listing }) => [program.delistAgent({ creator: creator.publicKey, listing })],
  },
  {
    instruction: 'return_collateral',
    prepare: async (w, side) => [program.returnCollateral(await moments.returnable(w, side))],
  },
  {
    instruction: 'sweep_forfeits',
    prepare: async (w, side) => [program.sweepForfeits(await moments.sweepable(w, side))],
  },
  {
    instruction: 'create_grant',
    absent: ['grant'],
    prepare: async (w, { caller, payer, label }) => {
      const input = w.grantInput({}, bytes16(`${label} second key`));
      return [program.createGrant({ ...input, wallet: caller.publicKey, payer: payer.publicKey })];
    },
  },
  {
    instruction: 'revoke_grant',
    prepare: async (w, { caller }) => {
      const wallet = caller.publicKey;
      return [program.revokeGrant({ authority: wallet, wallet, keyId: w.keyId })];
    },
  },
  {
    instruction: 'update_grant',
    prepare: async (w, { caller }) => {
      const { limits } = w.grantInput({ totalMax: 30n * USDC });
      return [program.updateGrant({ wallet: caller.publicKey, keyId: w.keyId, limits })];
    },
  },
  {
    instruction: 'close_grant',
    prepare: async (w, { caller, payer, label }) => {
      const [wallet, rentSponsor] = [caller.publicKey, payer.publicKey];
      const input = { ...w.grantInput({}, bytes16(`${label} second key`)), wallet, payer: rentSponsor };
      await w.must([program.createGrant(input)], [caller, payer]);
      return [program.closeGrant({ wallet, keyId: input.keyId, rentSponsor })];
    },
  },
  {
    instruction: 'withdraw_gas',
    prepare: async (_, { caller }) => [program.withdrawGas({ wallet: caller.publicKey, lamports: GAS_BALANCE / 3n })],
  },
  {
    instruction: 'open_execution',
    absent: ['record', 'escrow'],
    prepare: async (w, side) => [
      program.openExecution(w.openInput({ caller: side.caller.publicKey, ...moments.opening(side) })),
    ],
  },
  {
    instruction: 'open_execution_with_grant',
    absent: ['record', 'escrow'],
    prepare: async (w, side) => [program.openExecutionWithGrant(moments.openingWithGrant(w, side))],
  },
  {
    instruction: 'prepare_deposit',
    absent: ['deposit', 'vault'],
    shared: ['authority'],
    prepare: async (w, side) => [moments.preparing(w, side, moments.quoted(w, side).quote)],
  },
  {
    instruction: 'open_execution_from_deposit',
    absent: ['record', 'escrow'],
    prepare: async (w, side) => {
      const { terms, place } = await moments.paid(w, side);
      const { payer, caller, listing, sponsor } = side;
      const rent = { payer: payer.publicKey, rentSponsor: w.wallet(payer), depositRentSponsor: sponsor };
      await w.vm.airdrop(rent.rentSponsor, 1_000_000_000n);
      const change = { ...rent, listing, quotedPayer: caller.publicKey };
      return [program.openExecutionFromDeposit(w.openDepositInput(terms, place.address, change))];
    },
  },
  {
    instruction: 'refund_deposit',
    when: 'by the relay',
    shared: ['authority'],
    prepare: async (w, side) => [refundOf(w, side, w.relay, (await moments.paid(w, side)).place.address)],
  },
  {
    instruction: 'refund_deposit',
    when: 'by anyone once it has expired',
    prepare: async (w, side) => {
      const { place } = await moments.paid(w, side);
      await w.vm.setClock(w.vm.now + BigInt(program.constants.depositSeconds));
      return [refundOf(w, side, side.creator, place.address)];
    },
  },
  {
    instruction: 'settle_execution',
    when: 'of a call of a key',
    prepare: async (w, side) => [w.settleInstruction(await moments.openWithGrant(w, side))],
  },
  {
    instruction: 'settle_execution',
    when: 'of what the wallet opened itself',
    prepare: async (w, side) => [w.settleInstruction(await moments.open(w, side))],
  },
  {
    instruction: 'refund_execution',
    when: 'by the relay',
    shared: ['authority'],
    prepare: async (w, side) => [w.refundInstruction(await moments.openWithGrant(w, side))],
  },
  {
    instruction: 'refund_execution',
    when: 'of what the wallet opened itself',
    absent: ['grant'],
    shared: ['authority'],
    prepare: async (w, side) => [w.refundInstruction(await moments.open(w, side))],
  },
  {
    instruction: 'refund_execution',
    when: 'by anyone from refund_at on',
    prepare: async (w, side) => {
      const execution = await moments.openWithGrant(w, side);
      const { refundAt } = await w.read('ExecutionRecord', execution.record);
      await w.vm.setClock(refundAt);
      return [w.refundInstruction(execution, { authority: side.creator.publicKey })];
    },
  },
  {
    instruction: 'move_unclaimed_refund',
    absent: ['destination'],
    shared: ['archive', 'tree'],
    prepare: async (w, side) => [await moments.movable(w, side, await moments.openWithGrant(w, side))],
  },
  {
    instruction: 'move_unclaimed_deposit',
    absent: ['destination'],
    shared: ['archive', 'tree'],
    prepare: async (w, side) => [await moments.movableDeposit(w, side)],
  },
  {
    instruction: 'claim_refund',
    absent: ['claim'],
    shared: ['archive', 'tree'],
    prepare: async (w, side) => [program.claimRefund(await moments.unclaimed(w, side))],
  },
  {
    instruction: 'close_execution',
    when: 'of a refunded one',
    prepare: async (w, side) => {
      const execution = await moments.open(w, side);
      await w.must([w.refundInstruction(execution)], [w.relay]);
      await w.vm.setClock(w.vm.now + BigInt(program.constants.recordSecondsMin));
      return [program.closeExecution(execution)];
    },
  },
  {
    instruction: 'close_execution',
    when: 'of a paid one that nobody archived',
    prepare: async (w, side) => {
      const execution = await moments.settled(w, side);
      const { disputeWindowSeconds } = await w.read('ExecutionRecord', execution.record);
      const { unarchivedRecordSeconds } = program.constants;
      await w.vm.setClock(w.vm.now + BigInt(disputeWindowSeconds + unarchivedRecordSeconds));
      return [program.closeExecution(execution)];
    },
  },
  {
    instruction: 'create_archive',
    absent: ['archive'],
    shared: ['archive', 'previous'],
    prepare: async (w, { payer, label }) => {
      await new TestArchive(w).setCount(program.constants.archiveSuccessorCount);
      const tree = namedKeypair(`${label} tree`).publicKey;
      const data = new Uint8Array(program.constants.archiveTreeBytes);
      w.vm.setAccount(tree, { lamports: w.vm.rent(data.length), owner: program.PROGRAM_ID, data });
      return [program.createArchive({ payer: payer.publicKey, tree, index: 1 })];
    },
  },
  {
    instruction: 'archive_executions',
    shared: ['archive', 'tree'],
    prepare: async (w, side) => {
      const execution = await moments.settled(w, side);
      await w.vm.setClock(w.vm.now + BigInt(program.constants.recordSecondsMin));
      return [new TestArchive(w).archive([execution])];
    },
  },
  {
    instruction: 'open_dispute',
    absent: ['dispute'],
    prepare: async (w, side) => [program.openDispute(moments.dispute(await moments.settled(w, side), side))],
  },
  {
    instruction: 'open_dispute_with_proof',
    absent: ['record', 'dispute'],
    shared: ['archive', 'tree'],
    prepare: async (w, side) => [program.openDisputeWithProof(await moments.archived(w, side))],
  },
  {
    instruction: 'resolve_dispute',
    when: 'for the caller',
    prepare: async (w, side) => [
      program.resolveDispute(moments.answer(w, await moments.disputed(w, side), side, true)),
    ],
  },
  {
    instruction: 'resolve_dispute',
    when: 'against the caller',
    prepare: async (w, side) => [
      program.resolveDispute(moments.answer(w, await moments.disputed(w, side), side, false)),
    ],
  },
  {
    instruction: 'claim_dispute_award',
    when: 'by anyone',
    prepare: async (w, side) => {
      const execution = await moments.owed(w, side);
      return [claim(side, execution, side.payer, w.wallet(side.caller))];
    },
  },
  {
    instruction: 'claim_dispute_award',
    when: 'by the caller to another account, the last of a returned collateral',
    prepare: async (w, side) => {
      const execution = await moments.owed(w, side);
      await w.must([program.returnCollateral(await moments.returnable(w, side))], []);
      const owner = side.caller.publicKey;
      const savings = namedKeypair(`${side.label} caller's savings`).publicKey;
      w.vm.setTokenAccount(savings, { mint: w.usdcMint, owner });
      return [claim(side, execution, side.caller, savings)];
    },
  },
  {
    instruction: 'lapse_dispute',
    prepare: async (w, side) => {
      const { executionId } = await moments.disputed(w, side);
      await w.vm.setClock(w.vm.now + BigInt(program.constants.disputeLapseSeconds));
      return [program.lapseDispute({ executionId, listing: side.listing, rentSponsor: side.payer.publicKey })];
    },
  },
  {
    instruction: 'close_dispute',
    prepare: async (w, side) => {
      const execution = await moments.disputed(w, side);
      await w.must([program.resolveDispute(moments.answer(w, execution, side, false))], [w.admin]);
      await w.vm.setClock(w.vm.now + BigInt(program.constants.endedDisputeSeconds));
      return [program.closeDispute({ executionId: execution.executionId, rentSponsor: side.payer.publicKey })];
    },
  },
];

/** A claim of an unpaid award. The listing's creator paid the vault's rent. */
function claim(side: Side, { executionId }: Execution, authority: Keypair, destination: PublicKey) {
  const { creator, listing } = side;
  const rentSponsor = creator.publicKey;
  return program.claimDisputeAward({ authority: authority.publicKey, executionId, listing, destination, rentSponsor });
}

/** The refund of a side's deposit. */
function refundOf(w: World, { caller, sponsor }: Side, authority: Keypair, deposit: PublicKey) {
  const change = { authority: authority.publicKey, destination: w.wallet(caller), rentSponsor: sponsor };
  return w.refundDepositInstruction(deposit, change);
}

/** A rotation to a key, with its proof of possession. */
function rotation({ creator, payer, listing }: Side, key: Keypair): TransactionInstruction {
  const accounts = { creator: creator.publicKey, payer: payer.publicKey, listing };
  const possession = possessionOf(key, listing);
  return program.rotateSigningKey({ ...accounts, signingKey: key.publicKey, possession });
}

/** A proposed change. Each side's payer pays for its own. */
function change(w: World, { payer, label }: Side): program.ProposeChangeInput {
  const changeId = BigInt(label.length);
  return { admin: w.admin.publicKey, payer: payer.publicKey, changeId, settings: { feeBps: 50 } };
}

async function proposed(
  w: World,
  side: Side,
  subject?: Pick<program.ProposeChangeInput, 'nextAdmin'>,
): Promise<program.ProposeChangeInput> {
  const { settings, ...named } = change(w, side);
  const input = { ...named, ...(subject ?? { settings }) };
  await w.must([program.proposeChange(input)], [w.admin, side.payer]);
  return input;
}

function badge(w: World, { creator, payer }: Side): program.SetCreatorVerifiedInput {
  return { admin: w.admin.publicKey, payer: payer.publicKey, creator: creator.publicKey, verified: true };
}
