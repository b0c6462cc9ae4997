/** Every instruction at its maximum size fits a transaction with two signers and two compute-budget instructions. */
import { ComputeBudgetProgram, type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { possessionOf, TERMS, TIERS, type World, world } from '../harness/vm/world.ts';

const LIMIT = 1_232;
/** Size of a transaction with one settle whose rent sponsor is not among its other accounts. */
const SETTLE_LIMIT = 580;
const HUGE = 2n ** 64n - 1n;
const executionId = new Uint8Array(16).fill(8);
const relayAuthorities = Array.from(
  { length: program.constants.maxRelayAuthorities },
  (_, index) => namedKeypair(`relay ${index}`).publicKey,
);
const settings = {
  liftGuardianPause: true,
  feeBps: 100,
  minPrice: HUGE,
  disputeBondLamports: HUGE,
  disputeWindowSeconds: 1,
  refundGraceSeconds: 1,
  maxTimeoutSeconds: 1,
  exposureMultiple: 1,
  adminDelaySeconds: 1,
  tiers: TIERS,
};

/** The fee payer lends the rent, and another account gets it back. */
const borrowed = (w: World) => ({ payer: w.vm.feePayer.publicKey, rentSponsor: w.stranger.publicKey });

const leafPlace = (w: World) => ({ archiveIndex: 2 ** 16 - 1, tree: w.stranger.publicKey });

/** The leaf of the caller's execution. */
const archived = (w: World) => ({
  execution: {
    ...({
      version: 1,
      status: 'completed',
      bump: 1,
      escrowBump: 1,
      spenderBump: 1,
      executionId,
      listing: w.listing,
    } as const),
    ...{ caller: w.caller.publicKey, signingKey: w.stranger.publicKey, keyId: executionId, rentSponsor: w.payout },
    ...{ price: HUGE, requestHash: new Uint8Array(32), resultHash: new Uint8Array(32), openedAt: 1n, deadline: 2n },
    ...{ refundAt: 3n, settledAt: 2n, disputeWindowSeconds: 1, listingVersion: 1, executionTimeMs: 1 },
    ...{ gasLamports: 1, feeBps: 1 },
  },
  ...leafPlace(w),
  leafIndex: 2 ** 20 - 1,
  proof: Array.from({ length: program.constants.archiveProofNodes }, () => new Uint8Array(32)),
});

describe('transaction size', () => {
  let w: World;

  before(async () => {
    w = await world();
  });

  const terms = { ...TERMS, metadataUri: 'x'.repeat(200) };
  const budget = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: HUGE }),
  ];

  /** The longest form of each instruction. Only its size matters, not its success. */
  const longest: [string, (w: World) => [TransactionInstruction[], Keypair]][] = [
    [
      'initialize_config',
      (w) => [
        [program.initializeConfig({ ...w.configInput(), payer: w.vm.feePayer.publicKey, relayAuthorities })],
        w.vm.upgradeAuthority,
      ],
    ],
    [
      'set_creator_verified',
      (w) => [
        [
          program.setCreatorVerified({
            admin: w.admin.publicKey,
            payer: w.vm.feePayer.publicKey,
            creator: w.creator.publicKey,
            verified: true,
          }),
        ],
        w.admin,
      ],
    ],
    [
      'list_agent',
      (w) => [[w.listInstruction({ payer: w.vm.feePayer.publicKey, source: w.wallet(w.stranger), terms })], w.creator],
    ],
    [
      'update_listing',
      (w) => [
        [
          program.updateListing({
            creator: w.creator.publicKey,
            listing: w.listing,
            payout: w.payout,
            maxDeposit: HUGE,
            terms,
          }),
        ],
        w.creator,
      ],
    ],
    [
      'set_listing_status',
      (w) => [
        [program.setListingStatus({ creator: w.creator.publicKey, listing: w.listing, status: 'paused' })],
        w.creator,
      ],
    ],
    [
      'create_grant with approve and deposit',
      (w) => {
        const grant = program.createGrant({ ...w.grantInput(), payer: w.vm.feePayer.publicKey });
        return [[grant, w.approveInstruction(HUGE), w.depositInstruction(HUGE)], w.caller];
      },
    ],
    [
      'revoke_grant',
      (w) => [
        [program.revokeGrant({ authority: w.caller.publicKey, wallet: w.caller.publicKey, keyId: w.keyId })],
        w.caller,
      ],
    ],
    ['withdraw_gas', (w) => [[program.withdrawGas({ wallet: w.caller.publicKey, lamports: HUGE })], w.caller]],
    ['open_execution', (w) => [[program.openExecution(w.openInput(borrowed(w)))], w.caller]],
    ['open_execution_with_grant', (w) => [[program.openExecutionWithGrant(w.openGrantInput(borrowed(w)))], w.relay]],
    [
      'prepare_deposit',
      (w) => {
        const rent = { rentPayer: w.vm.feePayer.publicKey, rentSponsor: w.stranger.publicKey };
        return [[program.prepareDeposit(w.prepareInput(w.quote(), rent))], w.relay];
      },
    ],
    [
      'open_execution_from_deposit',
      (w) => {
        const open = w.openTerms();
        const { address } = program.depositAddress(w.quote(open));
        const rent = { ...borrowed(w), depositRentSponsor: w.creator.publicKey };
        return [[program.openExecutionFromDeposit(w.openDepositInput(open, address, rent))], w.relay];
      },
    ],
    [
      'refund_deposit',
      (w) => {
        const { address } = program.depositAddress(w.quote());
        return [[w.refundDepositInstruction(address, { rentSponsor: w.stranger.publicKey })], w.relay];
      },
    ],
    [
      'settle_execution',
      (w) => [
        [w.settleInstruction(w.execution(new Uint8Array(16), w.caller.publicKey, w.keyId, w.stranger.publicKey))],
        w.relay,
      ],
    ],
    [
      'refund_execution',
      (w) => [
        [w.refundInstruction(w.execution(new Uint8Array(16), w.caller.publicKey, w.keyId, w.stranger.publicKey))],
        w.relay,
      ],
    ],
    [
      'move_unclaimed_refund',
      (w) => {
        const { listing, keyId, usdcMint } = w;
        const [authority, caller, rentSponsor] = [w.relay.publicKey, w.caller.publicKey, w.stranger.publicKey];
        const input = { authority, executionId, listing, caller, keyId, rentSponsor, usdcMint, ...leafPlace(w) };
        return [[program.moveUnclaimedRefund({ ...input, reason: 'unserved', gasLamports: 0 })], w.relay];
      },
    ],
    [
      'move_unclaimed_deposit',
      (w) => {
        const { address } = program.depositAddress(w.quote());
        const [authority, caller, rentSponsor] = [w.relay.publicKey, w.caller.publicKey, w.stranger.publicKey];
        const input = { authority, deposit: address, caller, rentSponsor, usdcMint: w.usdcMint, ...leafPlace(w) };
        return [[program.moveUnclaimedDeposit(input)], w.relay];
      },
    ],
    [
      'claim_refund',
      (w) => {
        const refund = { source: w.listing, caller: w.caller.publicKey, amount: HUGE, unclaimedAt: HUGE >> 1n };
        const proof = Array.from({ length: 20 }, () => new Uint8Array(32));
        const people = { payer: w.vm.feePayer.publicKey, destination: w.wallet(w.stranger) };
        return [[program.claimRefund({ ...people, ...leafPlace(w), refund, leafIndex: 2 ** 32 - 1, proof })], w.caller];
      },
    ],
    ['update_config', (w) => [[program.updateConfig({ admin: w.admin.publicKey, ...settings })], w.admin]],
    [
      'propose_change',
      (w) => {
        const people = {
          admin: w.admin.publicKey,
          payer: w.vm.feePayer.publicKey,
        };
        const change = { changeId: HUGE, settings, addedRelayAuthorities: relayAuthorities };
        return [[program.proposeChange({ ...people, ...change })], w.admin];
      },
    ],
    [
      'apply_change',
      (w) => [[program.applyChange({ changeId: HUGE, rentSponsor: w.stranger.publicKey })], w.vm.feePayer],
    ],
    [
      'cancel_change',
      (w) => {
        const change = { changeId: HUGE, rentSponsor: w.stranger.publicKey };
        return [[program.cancelChange({ authority: w.admin.publicKey, ...change })], w.admin];
      },
    ],
    ['set_pause', (w) => [[program.setPause({ authority: w.admin.publicKey, isPaused: true })], w.admin]],
    [
      'remove_relay_authority',
      (w) => {
        const relayAuthority = w.relay.publicKey;
        return [[program.removeRelayAuthority({ authority: w.admin.publicKey, relayAuthority })], w.admin];
      },
    ],
    [
      'accept_admin',
      (w) => {
        const change = { changeId: HUGE, rentSponsor: w.admin.publicKey };
        return [[program.acceptAdmin({ nextAdmin: w.stranger.publicKey, ...change })], w.stranger];
      },
    ],
    ['cancel_all_changes', (w) => [[program.cancelAllChanges({ authority: w.admin.publicKey })], w.admin]],
    [
      'withdraw_treasury',
      (w) => [[program.withdrawTreasury({ admin: w.admin.publicKey, destination: w.payout, amount: HUGE })], w.admin],
    ],
    [
      'rotate_signing_key',
      (w) => {
        const key = w.stranger;
        const accounts = { creator: w.creator.publicKey, payer: w.vm.feePayer.publicKey, listing: w.listing };
        const possession = possessionOf(key, w.listing);
        return [[program.rotateSigningKey({ ...accounts, signingKey: key.publicKey, possession })], w.creator];
      },
    ],
    ['delist_agent', (w) => [[program.delistAgent({ creator: w.creator.publicKey, listing: w.listing })], w.creator]],
    [
      'top_up_collateral',
      (w) => {
        const source = w.wallet(w.stranger);
        const input = { creator: w.creator.publicKey, listing: w.listing, source, amount: HUGE };
        return [[program.topUpCollateral(input)], w.creator];
      },
    ],
    [
      'return_collateral',
      (w) => {
        const { listing, usdcMint } = w;
        const rentSponsor = w.stranger.publicKey;
        return [
          [program.returnCollateral({ creator: w.creator.publicKey, listing, usdcMint, rentSponsor })],
          w.vm.feePayer,
        ];
      },
    ],
    [
      'sweep_forfeits',
      (w) => {
        const rentSponsor = w.stranger.publicKey;
        return [[program.sweepForfeits({ listing: w.listing, rentSponsor })], w.vm.feePayer];
      },
    ],
    [
      'update_grant',
      (w) => {
        const { limits } = w.grantInput();
        return [[program.updateGrant({ wallet: w.caller.publicKey, keyId: w.keyId, limits })], w.caller];
      },
    ],
    [
      'close_grant',
      (w) => {
        const rentSponsor = w.stranger.publicKey;
        return [[program.closeGrant({ wallet: w.caller.publicKey, keyId: w.keyId, rentSponsor })], w.caller];
      },
    ],
    [
      'close_execution',
      (w) => [[program.closeExecution({ executionId, rentSponsor: w.stranger.publicKey })], w.vm.feePayer],
    ],
    [
      'create_archive with its tree',
      (w) => {
        const accounts = { payer: w.vm.feePayer.publicKey, tree: w.stranger.publicKey };
        const made = program.createTreeAccount({ ...accounts, lamports: Number(HUGE >> 11n) });
        return [[made, program.createArchive({ ...accounts, index: 2 ** 16 - 1 })], w.stranger];
      },
    ],
    [
      'archive_executions',
      (w) => {
        const address = (index: number) => new PublicKey(new Uint8Array(32).fill(index));
        const executions = Array.from({ length: program.constants.maxArchivedRecords }, (_, index) => ({
          record: address(2 * index + 1),
          rentSponsor: address(2 * index + 2),
        }));
        const tree = w.stranger.publicKey;
        return [[program.archiveExecutions({ index: 2 ** 16 - 1, tree, executions })], w.vm.feePayer];
      },
    ],
    [
      'open_dispute',
      (w) => {
        const people = { caller: w.caller.publicKey, payer: w.vm.feePayer.publicKey };
        const evidence = { evidenceHash: new Uint8Array(32).fill(1), evidenceUri: 'x'.repeat(200), maxBond: HUGE };
        return [[program.openDispute({ ...people, executionId, listing: w.listing, ...evidence })], w.caller];
      },
    ],
    [
      'open_dispute_with_proof',
      (w) => {
        const evidence = { evidenceHash: new Uint8Array(32).fill(1), evidenceUri: 'x'.repeat(200), maxBond: HUGE };
        return [
          [program.openDisputeWithProof({ ...archived(w), payer: w.vm.feePayer.publicKey, ...evidence })],
          w.caller,
        ];
      },
    ],
    [
      'resolve_dispute',
      (w) => {
        const people = { admin: w.admin.publicKey, caller: w.caller.publicKey, creator: w.creator.publicKey };
        const accounts = { executionId, listing: w.listing, usdcMint: w.usdcMint, rentSponsor: w.stranger.publicKey };
        const ruling = { upheld: true, amount: HUGE, reasonHash: new Uint8Array(32).fill(1) };
        return [[program.resolveDispute({ ...people, ...accounts, ...ruling })], w.admin];
      },
    ],
    [
      'claim_dispute_award',
      (w) => {
        const destination = w.wallet(w.caller);
        const accounts = { executionId, listing: w.listing, destination, rentSponsor: w.stranger.publicKey };
        return [[program.claimDisputeAward({ authority: w.relay.publicKey, ...accounts })], w.relay];
      },
    ],
    [
      'close_dispute',
      (w) => [[program.closeDispute({ executionId, rentSponsor: w.stranger.publicKey })], w.vm.feePayer],
    ],
    [
      'lapse_dispute',
      (w) => {
        const accounts = { executionId, listing: w.listing, rentSponsor: w.stranger.publicKey };
        return [[program.lapseDispute(accounts)], w.vm.feePayer];
      },
    ],
  ];

  for (const [name, make] of longest) {
    it(`${name} fits into one transaction`, async () => {
      const [instructions, signer] = make(w);
      expect(await w.vm.measure([...budget, ...instructions], [signer])).to.be.at.most(LIMIT);
    });
  }

  it('covers every instruction of the IDL', () => {
    const covered = new Set(longest.map(([name]) => name.split(' ')[0]));
    expect(
      program.idl.instructions.map((instruction) => instruction.name).filter((name) => !covered.has(name)),
    ).to.deep.equal([]);
  });

  it('prepares four deposits at once, signed and paid by the relay', async () => {
    const quotes = [1, 2, 3, 4].map(() => w.quote(w.openTerms()));
    const prepare = quotes.map((quote) => program.prepareDeposit(w.prepareInput(quote)));
    const cheap = [budget[0]!, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 })];
    const outcome = await w.vm.send([...cheap, ...prepare], [], { payer: w.relay });
    expect(outcome.ok, outcome.logs.join('\n')).to.equal(true);
    expect(outcome.events.map(({ name }) => name)).to.deep.equal(Array(4).fill('DepositPrepared'));
  });

  it(`settles in at most ${SETTLE_LIMIT} bytes, signed and paid by the relay`, async () => {
    const execution = await w.openWithGrant({ rentSponsor: w.stranger.publicKey });
    const outcome = await w.vm.send([w.settleInstruction(execution)], [], { payer: w.relay });
    expect([outcome.ok, outcome.bytes <= SETTLE_LIMIT], `${outcome.bytes} bytes`).to.deep.equal([true, true]);
  });
});
