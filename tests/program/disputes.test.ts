/** Disputes from open to outcome, award and lapse: exact bonds, slashes and awards, and who may act when. */
import type { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { DISPUTE_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, FEE, NO_KEY, NO_LIMIT, PRICE, USDC, useWorld } from '../harness/vm/world.ts';
import {
  AWARDED,
  BOND,
  claim as claimAward,
  delist,
  freeze,
  give,
  LAPSE,
  lapse,
  dispute as openDispute,
  SPAN,
  settled,
  thaw,
  topUp,
  uphold,
  WINDOW,
} from './exploits/acts.ts';

describe('disputes', () => {
  const w = useWorld();
  let execution: Execution;

  beforeEach(async () => {
    execution = await settled(w);
  });

  const openInput = (run = execution, evidenceUri = '', maxBond = NO_LIMIT) =>
    openDispute(w, run, { evidenceUri, maxBond });
  const dispute = (run = execution) => w.must([openInput(run)], [w.caller]);
  const resolve = (change: Partial<program.ResolveDisputeInput> = {}, run = execution) => uphold(w, run, PRICE, change);
  const claim = (by: Keypair, destination = w.wallet(w.caller)) => claimAward(w, execution, by, destination);
  const record = async (run = execution) => (await w.vm.getAccount(run.record))!.data;
  const book = () => w.read('CreatorCollateral', program.findCollateral(w.listing));
  const claimant = () => w.read('Dispute', program.findDispute(execution.record));

  it('opens with rent and bond of the payer, and reserves the collateral', async () => {
    const lamports = -(w.vm.rent(DISPUTE_BYTES) + BOND);
    const before = await record();
    const evidenceUri = 'https://example.com/evidence';
    const outcome = await w.moves([openInput(execution, evidenceUri)], [w.caller], { caller: { lamports } });
    expect(await record()).to.deep.equal(before);
    expect(await book()).to.include({ openDisputes: 1 });
    const { executionId } = execution;
    const claimed = { outcome: 'open', bond: BOND, price: PRICE, openedAt: START };
    expect(await claimant()).to.deep.include({ ...claimed, executionId });
    expect(outcome.events[0]?.data).to.include({ bond: BOND, evidenceUri });
  });

  it('pays the bond to the creator when it is rejected, and refuses another dispute', async () => {
    await dispute();
    const instruction = resolve({ upheld: false, amount: 0n });
    await w.moves([instruction], [w.admin], { creator: { lamports: BOND } });
    expect(await book()).to.include({ openDisputes: 0, slashed: 0n, sweepableAt: 0n });
    expect(await claimant()).to.include({ outcome: 'rejected', bond: 0n });
    await w.rejects([openInput()], [w.caller], 'DisputeExists');
    await w.rejects([resolve()], [w.admin], 'DisputeNotOpen');
  });

  it('pays the caller a partial award, returns the bond and pauses the listing', async () => {
    await dispute();
    await w.rejects([resolve({ upheld: false, amount: 1n })], [w.admin], 'InvalidAmount');
    await w.moves([resolve({ amount: 500_000n })], [w.admin], {
      caller: { usdc: 500_000n, lamports: BOND },
      vault: { usdc: -500_000n },
    });
    expect(await w.read('AgentListing', w.listing)).to.include({ status: 'paused' });
    expect(await book()).to.include({ deposited: 10n * USDC, slashed: 500_000n, owed: 0n });
  });

  it('keeps the part of an award above the price in the vault as forfeit', async () => {
    await dispute();
    // Nobody deposited this, so it cannot be slashed.
    await w.must([give(w, w.stranger, program.findCollateralVault(w.listing), 5n * USDC)], [w.stranger]);
    await w.rejects([resolve({ amount: 10n * USDC + 1n })], [w.admin], 'SlashAboveCollateral');
    await w.moves([resolve({ amount: 10n * USDC })], [w.admin], AWARDED);
    expect(await book()).to.include({
      ...{ slashed: 10n * USDC, forfeited: 10n * USDC - PRICE, owed: 0n },
      sweepableAt: START + SPAN,
    });
    expect(await claimant()).to.include({ amountToCaller: PRICE, amountSlashed: 10n * USDC });
  });

  it('keeps an award the caller cannot receive; anyone sends it later, or the caller claims it anywhere', async () => {
    await dispute();
    const own = { mint: w.usdcMint, owner: w.caller.publicKey, amount: 5n };
    w.vm.setTokenAccount(w.wallet(w.caller), { ...own, frozen: true });
    await w.moves([resolve()], [w.admin], { caller: { lamports: BOND } });
    expect(await claimant()).to.include({ owed: PRICE, amountToCaller: PRICE });
    await w.rejects([claim(w.stranger)], [w.stranger], 'DestinationUnusable');
    const savings = namedKeypair('savings').publicKey;
    w.vm.setTokenAccount(savings, own);
    w.watch('savings', savings);
    await w.moves([claim(w.caller, savings)], [w.caller], { savings: { usdc: PRICE }, vault: { usdc: -PRICE } });
    w.vm.setTokenAccount(w.wallet(w.caller), own);
    await w.rejects([claim(w.stranger)], [w.stranger], 'NothingOwed');
  });

  it('keeps the award while the vault is frozen, and pays it after the thaw', async () => {
    await dispute();
    const vault = program.findCollateralVault(w.listing);
    await freeze(w, vault);
    await w.moves([resolve({ amount: 5n * USDC })], [w.admin], { caller: { lamports: BOND } });
    expect(await book()).to.include({ slashed: 5n * USDC, owed: PRICE, forfeited: 5n * USDC - PRICE });
    await w.rejects([claim(w.caller)], [w.caller], 'token:17');
    await w.rejects([topUp(w, USDC)], [w.creator], 'token:17');
    await thaw(w, vault);
    await w.moves([claim(w.stranger)], [w.stranger], { caller: { usdc: PRICE }, vault: { usdc: -PRICE } });
  });

  it('slashes an agent that paused and delisted before, and leaves it delisted', async () => {
    await dispute();
    const pause = { creator: w.creator.publicKey, listing: w.listing, status: 'paused' } as const;
    await w.must([program.setListingStatus(pause), delist(w)], [w.creator]);
    await w.moves([resolve({ amount: 5n * USDC })], [w.admin], AWARDED);
    expect(await w.read('AgentListing', w.listing)).to.include({ status: 'delisted' });
  });

  it('gives a stolen admin key in one transaction only the price of its own call, and the fees', async () => {
    const { admin } = w;
    w.vm.setWallet(admin.publicKey, w.usdcMint, PRICE);
    const own = { caller: admin.publicKey, payer: admin.publicKey };
    const input = w.openInput(own);
    await w.must([program.openExecution(input)], [admin]);
    const run = w.execution(input.nonce, admin.publicKey, NO_KEY, admin.publicKey);
    await w.must([w.settleInstruction(run)], [w.relay]);
    const rentSponsor = admin.publicKey;
    const attack = [openDispute(w, run, own), uphold(w, run, 10n * USDC, { rentSponsor })];
    const destination = w.wallet(admin);
    // Of this call and of the one before each test.
    const fees = 2n * FEE;
    const take = (amount: bigint) => program.withdrawTreasury({ admin: rentSponsor, destination, amount });
    await w.rejects([...attack, take(fees + 1n)], [admin], 'InvalidAmount');
    await w.must([...attack, take(fees)], [admin]);
    expect(await w.vm.tokens(destination)).to.equal(PRICE + fees);
    expect(await w.vm.tokens(program.findCollateralVault(w.listing))).to.equal(10n * USDC - PRICE);
    const sweep = program.sweepForfeits({ listing: w.listing, rentSponsor: w.creator.publicKey });
    await w.vm.setClock(START + SPAN - 1n);
    await w.rejects([sweep], [], 'ForfeitsNotSweepable');
    await w.overwrite('Config', program.findConfig(), { guardian: w.stranger.publicKey });
    await w.must([program.setPause({ authority: w.stranger.publicKey, isPaused: true })], [w.stranger]);
    await w.vm.setClock(START + SPAN);
    await w.rejects([sweep], [], 'TreasuryPaused');
  });

  it('opens until the last second of the window of the open, counted from the settle, whatever it is then', async () => {
    await w.vm.setClock(START + 300n);
    const late = await w.open({ openBefore: START + 300n });
    await w.vm.setClock(START + 400n);
    await w.must([w.settleInstruction(late)], [w.relay]);
    await w.must([program.updateConfig({ admin: w.admin.publicKey, disputeWindowSeconds: 2_592_000 })], [w.admin]);
    await w.vm.setClock(START + 400n + WINDOW);
    await w.rejects([openInput(late)], [w.caller], 'DisputeWindowClosed');
    await w.vm.setClock(START + 400n + WINDOW - 1n);
    await w.must([openInput(late)], [w.caller]);
  });

  it('lapses for anyone after thirty days, to the second', async () => {
    await dispute();
    await w.vm.setClock(START + LAPSE - 1n);
    await w.rejects([lapse(w, execution)], [], 'LapseTooEarly');
    await w.vm.setClock(START + LAPSE);
    await w.moves([lapse(w, execution)], [], { caller: { lamports: BOND } });
    expect(await claimant()).to.include({ outcome: 'lapsed', bond: 0n });
    await w.rejects([lapse(w, execution)], [], 'DisputeNotOpen');
  });

  it('rejects: executions that are not completed, and a URI that is too long', async () => {
    await w.rejects([openInput(await w.open())], [w.caller], 'ExecutionNotCompleted');
    // 67 characters of three bytes each.
    await w.rejects([openInput(execution, '€'.repeat(67))], [w.caller], 'UriTooLong');
  });

  it('rejects: a bond above what the caller agreed to, whatever the admin changed before the dispute landed', async () => {
    const agreed = openInput(execution, '', BOND);
    await w.must([program.updateConfig({ admin: w.admin.publicKey, disputeBondLamports: BOND + 1n })], [w.admin]);
    await w.rejects([agreed], [w.caller], 'BondAboveMax');
    await w.must([program.updateConfig({ admin: w.admin.publicKey, disputeBondLamports: BOND })], [w.admin]);
    await w.must([agreed], [w.caller]);
  });

  it('rejects: a slash above 20 times the price, however much collateral there is', async () => {
    const deposited = 40n * PRICE;
    const owner = program.findCollateralVault(w.listing);
    w.vm.setTokenAccount(owner, { mint: w.usdcMint, owner, amount: deposited });
    await w.overwrite('CreatorCollateral', program.findCollateral(w.listing), { deposited });
    await dispute();
    await w.rejects([resolve({ amount: 20n * PRICE + 1n })], [w.admin], 'SlashAboveMultiple');
    await w.moves([resolve({ amount: 20n * PRICE })], [w.admin], AWARDED);
    expect(await book()).to.include({ slashed: 20n * PRICE, forfeited: 19n * PRICE });
  });

  it('pays later callers from forfeits once nothing else is left, each at most the price', async () => {
    const others = [await settled(w), await settled(w), await settled(w)];
    await dispute();
    for (const run of others) await dispute(run);
    await w.must([resolve({ amount: 10n * USDC - PRICE / 2n })], [w.admin]);
    const [second, third, fourth] = others;
    await w.rejects([resolve({ amount: PRICE + 1n }, second)], [w.admin], 'SlashAboveCollateral');
    for (const run of [second, third]) {
      await w.moves([resolve({}, run)], [w.admin], AWARDED);
    }
    const forfeited = 10n * USDC - 3n * PRICE;
    expect(await book()).to.include({ slashed: 10n * USDC, forfeited });
    const paid = { amountToCaller: PRICE, amountSlashed: PRICE / 2n };
    expect(await w.read('Dispute', program.findDispute(second!.record))).to.include(paid);
    await w.overwrite('CreatorCollateral', program.findCollateral(w.listing), { forfeited: PRICE - 1n });
    await w.rejects([resolve({}, fourth)], [w.admin], 'SlashAboveCollateral');
    await w.must([resolve({ amount: PRICE - 1n }, fourth)], [w.admin]);
    expect(await book()).to.include({ slashed: 10n * USDC, forfeited: 0n });
  });

  it('rejects: a dispute whose amounts do not agree with its outcome', async () => {
    await dispute();
    await w.overwrite('Dispute', program.findDispute(execution.record), { amountSlashed: 1n });
    await w.rejects([resolve({ upheld: false, amount: 0n })], [w.admin], 'DisputeUnsound');
  });
});
