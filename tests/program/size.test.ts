/** Every instruction at its longest fits a transaction: with two signers and two compute-budget instructions. */
import { ComputeBudgetProgram, type Keypair, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program.ts';
import { FEE, PRICE, TERMS, type World, world } from '../harness/world.ts';

const LIMIT = 1_232;
const HUGE = 2n ** 64n - 1n;

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

  /** Only the size counts here; whether the transaction succeeds is the other tests' business. */
  const longest: [string, (w: World) => [TransactionInstruction[], Keypair]][] = [
    [
      'initialize_config',
      (w) => [
        [program.initializeConfig({ ...w.configInput(), payer: w.vm.feePayer.publicKey })],
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
      (w) => [
        w.listInstructions({ ...w.listInput(), payer: w.vm.feePayer.publicKey, source: w.wallet(w.stranger), terms }),
        w.creator,
      ],
    ],
    [
      'update_listing',
      (w) => [
        [program.updateListing({ creator: w.creator.publicKey, listing: w.listing, payout: w.payout, terms })],
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
      'create_grant with approve',
      (w) => [
        [program.createGrant({ ...w.grantInput(), payer: w.vm.feePayer.publicKey }), w.approveInstruction(HUGE)],
        w.caller,
      ],
    ],
    [
      'revoke_grant',
      (w) => [
        [program.revokeGrant({ authority: w.caller.publicKey, wallet: w.caller.publicKey, keyId: w.keyId })],
        w.caller,
      ],
    ],
    ['open_execution', (w) => [[program.openExecution(w.openInput({ payer: w.vm.feePayer.publicKey }))], w.caller]],
    [
      'open_execution_with_grant',
      (w) => [[program.openExecutionWithGrant(w.openGrantInput({ payer: w.vm.feePayer.publicKey }))], w.relay],
    ],
    [
      'settle_execution',
      (w) => [
        w.settleInstructions(w.execution(new Uint8Array(16), w.caller.publicKey, w.keyId, w.stranger.publicKey)),
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
  ];

  for (const [name, make] of longest) {
    it(`${name} fits`, async () => {
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

  it('settles with budget instructions before the signature, which must stay next to its settle', async () => {
    const execution = await w.open();
    const limit = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 100_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
    ];
    const [proof, settle] = w.settleInstructions(execution);
    await w.rejects([proof, ...limit, settle], [w.relay], 'SignatureWrongProgram');
    await w.moves([...limit, proof, settle], [w.relay], {
      creator: { usdc: PRICE - FEE },
      treasury: { usdc: FEE },
      caller: { lamports: w.vm.rent(165) },
    });
  });
});
