/** refund_execution returns the caller's money: by the relay at any time, by anyone from refund_at on. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, GAS, GAS_LAMPORTS, PRICE, USDC, useWorld } from '../harness/vm/world.ts';

describe('refund_execution', () => {
  const w = useWorld();
  let execution: Execution;

  beforeEach(async () => {
    execution = w.track(await w.openWithGrant());
  });

  const refund = (change: Partial<program.RefundExecutionInput> = {}) => w.refundInstruction(execution, change);
  const rejects = (error: string, change: Partial<program.RefundExecutionInput> = {}) =>
    w.rejects([refund(change)], [w.relay], error);
  const rent = () => w.vm.rent(165);
  const read = () => w.read('ExecutionRecord', execution.record);

  it('refunds everything, returns the rent, and subtracts the spend of the grant', async () => {
    await w.vm.setClock(START + 30n);
    // Neither stops a refund.
    await w.overwrite('Config', program.findConfig(), { adminPaused: true, guardianPaused: true });
    await w.overwrite('AgentListing', w.listing, { status: 'delisted' });
    const before = await read();
    const outcome = await w.moves([refund({ reason: 'invalidAnswer' })], [w.relay], w.endingOf('refund'));
    expect(await w.vm.getAccount(execution.escrow)).to.equal(null);
    expect(plain(await read())).to.deep.equal(plain({ ...before, status: 'refunded', settledAt: START + 30n }));
    const grant = await w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId));
    expect(grant).to.include({ totalSpent: 0n, periodSpent: 0n, executionCount: 1n });
    const told = { amount: PRICE, reason: 2, grantRestored: true, gasLamports: GAS, unclaimed: null };
    expect(outcome.events[0]?.data).to.include(told);
  });

  it('rejects: anyone but the relay authority one second before refund_at, and lets anyone refund from then on', async () => {
    const run = await w.open();
    // Somebody sent dust, which the caller gets too.
    w.vm.setTokenAccount(run.escrow, { mint: w.usdcMint, owner: run.record, amount: PRICE + 5n });
    await w.vm.setClock(START + 659n);
    for (const who of [w.stranger, w.caller, w.creator, w.admin]) {
      await w.rejects([refund({ authority: who.publicKey })], [who], 'RefundTooEarly');
    }
    await w.vm.setClock(START + 660n);
    const byStranger = w.refundInstruction(run, { authority: w.stranger.publicKey, reason: 'creatorFailed' });
    const moved = { caller: { usdc: PRICE + 5n, lamports: rent() + GAS_LAMPORTS } };
    const { events } = await w.moves([byStranger], [w.stranger], moved);
    expect(events[0]?.data).to.include({ amount: PRICE + 5n, reason: 5, refundedAt: START + 660n });
    // The relay keeps its right, and its own reason.
    const own = await w.must([refund({ reason: 'unserved' })], [w.relay]);
    expect(own.events[0]?.data).to.include({ reason: 4 });
  });

  it('rejects: a second refund, and a refund after a settle', async () => {
    await w.must([refund()], [w.relay]);
    await rejects('ExecutionNotOpen');
    execution = await w.open();
    await w.must([w.settleInstruction(execution)], [w.relay]);
    await rejects('ExecutionNotOpen');
  });

  it("rejects: any account but the caller's associated one, even another of the caller, unless the caller signs", async () => {
    const savings = namedKeypair('savings').publicKey;
    const own = { mint: w.usdcMint, owner: w.caller.publicKey };
    w.vm.setTokenAccount(savings, own);
    for (const destination of [savings, w.wallet(w.stranger)]) await rejects('WrongRefundDestination', { destination });
    await w.vm.setClock(START + 660n);
    const byStranger = refund({ authority: w.stranger.publicKey, destination: w.wallet(w.stranger) });
    await w.rejects([byStranger], [w.stranger], 'WrongRefundDestination');
    const take = refund({ authority: w.caller.publicKey, destination: savings });
    w.vm.closeAccount(savings);
    await w.rejects([take], [w.caller], 'RefundDestinationUnusable');
    for (const change of [{ owner: w.stranger.publicKey }, { mint: namedKeypair('other mint').publicKey }]) {
      w.vm.setTokenAccount(savings, { ...own, ...change });
      await w.rejects([take], [w.caller], 'RefundDestinationUnusable');
    }
    w.vm.setTokenAccount(savings, own);
    w.watch('savings', savings);
    await w.moves([take], [w.caller], {
      savings: { usdc: PRICE },
      relay: { lamports: rent() },
      gasBalance: { lamports: GAS_LAMPORTS },
      ...w.emptied(),
    });
  });

  it('waits while the associated account is closed, frozen or transferred, and pays when it works again', async () => {
    const wallet = w.wallet(w.caller);
    const account = { mint: w.usdcMint, owner: w.caller.publicKey };
    w.vm.closeAccount(wallet);
    await rejects('RefundDestinationUnusable');
    for (const change of [{ frozen: true }, { owner: w.stranger.publicKey }]) {
      w.vm.setTokenAccount(wallet, { ...account, ...change });
      await rejects('RefundDestinationUnusable');
    }
    expect(await w.vm.tokens(execution.escrow)).to.equal(PRICE);
    w.vm.setTokenAccount(wallet, account);
    await w.moves([refund()], [w.relay], w.endingOf('refund'));
  });
});

describe("refund_execution and the key's grant", () => {
  const w = useWorld();
  let execution: Execution;

  beforeEach(async () => {
    execution = await w.openWithGrant();
  });

  const address = () => program.findGrant(w.caller.publicKey, w.keyId);
  const grant = () => w.read('KeyGrant', address());
  /** Refunds, and returns the grant fields of the event. */
  const restored = async () => {
    const { events } = await w.must([w.refundInstruction(execution)], [w.relay]);
    expect(await w.vm.tokens(w.wallet(w.caller))).to.equal(1_000n * USDC);
    return [events[0]?.data.grantRestored, events[0]?.data.grantTotalSpent];
  };

  it('refunds when the grant is revoked, expired or closed, and changes only the spend of an expired one', async () => {
    const authority = w.caller.publicKey;
    const sound = (await w.vm.getAccount(address()))!;
    await w.must([program.revokeGrant({ authority, wallet: authority, keyId: w.keyId })], [w.caller]);
    expect(await restored()).to.deep.equal([false, 0n]);
    expect((await grant()).totalSpent).to.equal(PRICE);
    w.vm.setAccount(address(), sound);
    execution = await w.openWithGrant();
    w.vm.closeAccount(address());
    expect(await restored()).to.deep.equal([false, 0n]);
    w.vm.setAccount(address(), sound);
    execution = await w.openWithGrant();
    await w.vm.setClock((await grant()).expiresAt + 1n);
    expect(await restored()).to.deep.equal([true, PRICE]);
  });

  it('does not change a grant that was created again later for the same key', async () => {
    w.vm.closeAccount(address());
    await w.vm.setClock(START + 1n);
    await w.must([program.createGrant(w.grantInput())], [w.caller]);
    const second = await w.openWithGrant();
    expect((await grant()).totalSpent).to.equal(PRICE);
    await w.must([w.refundInstruction(execution)], [w.relay]);
    expect((await grant()).totalSpent).to.equal(PRICE);
    await w.must([w.refundInstruction(second)], [w.relay]);
    expect((await grant()).totalSpent).to.equal(0n);
  });

  it('refunds when the grant is unreadable, overspent, or below its spend', async () => {
    const sound = (await w.vm.getAccount(address()))!;
    w.vm.setAccount(address(), { ...sound, data: new Uint8Array(20) });
    expect(await restored()).to.deep.equal([false, 0n]);
    w.vm.setAccount(address(), sound);

    execution = await w.openWithGrant();
    await w.overwrite('KeyGrant', address(), { totalSpent: 5n * PRICE, totalMax: 1n, periodMax: 1n });
    expect(await restored()).to.deep.equal([true, 4n * PRICE]);

    await w.overwrite('KeyGrant', address(), { totalSpent: 0n, periodSpent: 0n, totalMax: PRICE, periodMax: PRICE });
    execution = await w.openWithGrant();
    await w.overwrite('KeyGrant', address(), { totalSpent: 0n, periodSpent: 0n });
    expect(await restored()).to.deep.equal([true, 0n]);
  });
});
