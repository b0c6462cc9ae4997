/**
 * Instructions of variable length fit a transaction at their longest, with two signers and two compute-budget
 * instructions. generated/ measures all others.
 */
import { ComputeBudgetProgram, type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { TERMS, TIERS, type World, world } from '../harness/vm/world.ts';

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

const leafPlace = (w: World) => ({ archiveIndex: 2 ** 16 - 1, tree: w.stranger.publicKey });

/** The leaf of the caller's execution. */
const archived = (w: World) => ({
  execution: {
    ...({ version: 1, status: 'completed', bump: 1, escrowBump: 1, spenderBump: 1, executionId } as const),
    listing: w.listing,
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

  const evidence = { evidenceHash: new Uint8Array(32).fill(1), evidenceUri: 'x'.repeat(200), maxBond: HUGE };

  it('of every instruction of variable length is within one packet at its longest', async () => {
    const payer = w.vm.feePayer.publicKey;
    const admin = w.admin.publicKey;
    const tree = w.stranger.publicKey;
    const place = { creator: w.creator.publicKey, listing: w.listing, payout: w.payout };
    const change = { changeId: HUGE, settings, addedRelayAuthorities: relayAuthorities };
    const address = (index: number) => new PublicKey(new Uint8Array(32).fill(index));
    const executions = Array.from({ length: program.constants.maxArchivedRecords }, (_, index) => ({
      record: address(2 * index + 1),
      rentSponsor: address(2 * index + 2),
    }));
    const claim = { caller: w.caller.publicKey, payer, executionId, listing: w.listing, ...evidence };
    const lamports = Number(HUGE >> 11n);
    const grant = program.createGrant({ ...w.grantInput(), payer });
    /** Only their size matters, not their success. */
    const longest: Record<string, [Keypair, ...TransactionInstruction[]]> = {
      initialize_config: [
        w.vm.upgradeAuthority,
        program.initializeConfig({ ...w.configInput(), payer, relayAuthorities }),
      ],
      list_agent: [w.creator, w.listInstruction({ payer, source: w.wallet(w.stranger), terms })],
      update_listing: [w.creator, program.updateListing({ ...place, maxDeposit: HUGE, terms })],
      'create_grant with approve and deposit': [
        w.caller,
        grant,
        w.approveInstruction(HUGE),
        w.depositInstruction(HUGE),
      ],
      update_config: [w.admin, program.updateConfig({ admin, ...settings })],
      propose_change: [w.admin, program.proposeChange({ admin, payer, ...change })],
      'create_archive with its tree': [
        w.stranger,
        program.createTreeAccount({ payer, tree, lamports }),
        program.createArchive({ payer, tree, index: 2 ** 16 - 1 }),
      ],
      archive_executions: [w.vm.feePayer, program.archiveExecutions({ index: 2 ** 16 - 1, tree, executions })],
      open_dispute: [w.caller, program.openDispute(claim)],
      open_dispute_with_proof: [w.caller, program.openDisputeWithProof({ ...archived(w), payer, ...evidence })],
    };
    for (const [name, [signer, ...instructions]] of Object.entries(longest)) {
      expect(await w.vm.measure([...budget, ...instructions], [signer]), name).to.be.at.most(LIMIT);
    }
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
