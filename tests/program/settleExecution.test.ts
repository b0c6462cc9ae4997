import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import {
  type Execution,
  FEE,
  GAS,
  GAS_LAMPORTS,
  NO_LIMIT,
  PRICE,
  RESULT_HASH,
  TERMS,
  USDC,
  useWorld,
} from '../harness/vm/world.ts';

describe('settle_execution', () => {
  const w = useWorld();
  let execution: Execution;

  beforeEach(async () => {
    execution = w.track(await w.openWithGrant());
  });

  const settle = (change: Partial<program.SettleExecutionInput> = {}) => [w.settleInstruction(execution, change)];
  const rejects = (error: string, change: Partial<program.SettleExecutionInput> = {}) =>
    w.rejects(settle(change), [w.relay], error);
  const rent = () => w.vm.rent(165);
  const read = () => w.read('ExecutionRecord', execution.record);

  it('pays creator and treasury, returns the rent, and keeps the hash', async () => {
    await w.vm.setClock(START + 7n);
    // Neither stops a settle.
    await w.overwrite('Config', program.findConfig(), { adminPaused: true, guardianPaused: true });
    await w.overwrite('AgentListing', w.listing, { status: 'delisted' });
    const before = await read();
    const outcome = await w.moves(settle(), [w.relay], w.endingOf('settle'));
    expect(await w.vm.getAccount(execution.escrow)).to.equal(null);
    const after = { status: 'completed', resultHash: RESULT_HASH, settledAt: START + 7n, executionTimeMs: 1_250 };
    expect(plain(await read())).to.deep.equal(plain({ ...before, ...after }));
    const shares = { creatorAmount: PRICE - FEE, platformAmount: FEE, feeWaived: false };
    expect(outcome.events[0]?.data).to.include({ ...shares, gasLamports: GAS, gasReturned: 0 });
  });

  it('rounds the fee down, at the lowest price and around one base unit, and gives dust to the treasury with it', async () => {
    const cases: [bigint, number, bigint][] = [
      [10_000n, 100, 100n],
      [10_099n, 100, 100n],
      [10_100n, 100, 101n],
      [19_999n, 1, 1n],
      [10_000n, 0, 0n],
      [100n * USDC, 100, USDC],
    ];
    for (const [price, feeBps, fee] of cases) {
      const run = await w.open();
      await w.overwrite('ExecutionRecord', run.record, { price, feeBps });
      w.vm.setTokenAccount(run.escrow, { mint: w.usdcMint, owner: run.record, amount: price + 7n });
      const outcome = await w.moves([w.settleInstruction(run)], [w.relay], {
        caller: { lamports: rent() },
        relay: { lamports: GAS_LAMPORTS },
        creator: { usdc: price - fee },
        treasury: { usdc: fee + 7n },
      });
      expect(outcome.events[0]?.data).to.include({ creatorAmount: price - fee, platformAmount: fee, feeBps });
    }
  });

  it('waives fee and dust when the treasury is frozen, and reports it', async () => {
    const treasury = program.findTreasury();
    w.vm.setTokenAccount(treasury, { mint: w.usdcMint, owner: treasury, amount: USDC, frozen: true });
    w.vm.setTokenAccount(execution.escrow, { mint: w.usdcMint, owner: execution.record, amount: PRICE + 77n });
    const outcome = await w.moves(settle(), [w.relay], {
      creator: { usdc: PRICE + 77n },
      relay: { lamports: rent() + GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE - 77n, lamports: -rent() },
    });
    const told = { creatorAmount: PRICE, platformAmount: 0n, feeBps: 0, feeWaived: true };
    expect(outcome.events[0]?.data).to.include(told);
    expect(await read()).to.include({ status: 'completed', feeBps: 0 });
  });

  it('settles in the last second before refund_at, and not at it or after it, when only a refund is possible', async () => {
    for (const seconds of [660n, 661n, 1_000_000n]) {
      await w.vm.setClock(START + seconds);
      await rejects('SettleWindowClosed');
    }
    await w.vm.setClock(START + 659n);
    await w.must(settle(), [w.relay]);
    expect((await read()).settledAt).to.equal(START + 659n);
  });

  it('rejects: a second settle, and a settle after a refund', async () => {
    await w.must(settle(), [w.relay]);
    await rejects('ExecutionNotOpen');
    execution = await w.open();
    await w.must([w.refundInstruction(execution)], [w.relay]);
    await rejects('ExecutionNotOpen');
  });

  it('rejects: a signer other than the relay authority, even the creator', async () => {
    for (const who of [w.creator, w.caller, w.stranger, w.admin]) {
      await w.rejects(settle({ relayAuthority: who.publicKey }), [who], 'NotRelayAuthority');
    }
  });

  it("pays any USDC account of the creator, also after the listing's payout account was changed or closed", async () => {
    const income = namedKeypair('income').publicKey;
    w.vm.setTokenAccount(income, { mint: w.usdcMint, owner: w.creator.publicKey });
    w.watch('income', income);
    const terms = { terms: TERMS, payout: income, listing: w.listing };
    const moves = { treasury: { usdc: FEE }, relay: { lamports: rent() + GAS_LAMPORTS }, ...w.emptied() };
    const outcome = await w.moves(settle({ payout: income }), [w.relay], { ...moves, income: { usdc: PRICE - FEE } });
    expect(plain(outcome.events[0]?.data)).to.deep.include(plain({ payout: income }) as object);

    execution = w.track(await w.openWithGrant());
    const update = program.updateListing({ creator: w.creator.publicKey, maxDeposit: NO_LIMIT, ...terms });
    await w.must([update], [w.creator]);
    await w.moves(settle(), [w.relay], { ...moves, creator: { usdc: PRICE - FEE } });

    execution = w.track(await w.openWithGrant());
    w.vm.closeAccount(income);
    await rejects('PayoutUnusable', { payout: income });
    await w.moves(settle(), [w.relay], { ...moves, creator: { usdc: PRICE - FEE } });
  });

  it('rejects: a payout account of somebody else, frozen, closed, of another token, or not a token account', async () => {
    await rejects('PayoutUnusable', { payout: w.wallet(w.otherCreator) });
    await rejects('PayoutUnusable', { payout: execution.escrow });
    const { payout } = execution;
    const account = { mint: w.usdcMint, owner: w.creator.publicKey };
    const spoil = [
      () => w.vm.setTokenAccount(payout, { ...account, frozen: true }),
      () => w.vm.closeAccount(payout),
      () => w.vm.setTokenAccount(payout, { ...account, mint: namedKeypair('other mint').publicKey }),
      () => w.vm.setAccount(payout, { lamports: rent(), owner: program.PROGRAM_ID, data: new Uint8Array(165) }),
    ];
    for (const change of spoil) {
      change();
      await rejects('PayoutUnusable');
    }
    w.vm.setTokenAccount(payout, account);
    await w.must(settle(), [w.relay]);
  });

  it('rejects: a record with inconsistent times, an escrow with less than the price, and a missing one', async () => {
    for (const deadline of [START, START + 660n]) {
      await w.overwrite('ExecutionRecord', execution.record, { deadline });
      await rejects('RecordUnsound');
    }
    await w.overwrite('ExecutionRecord', execution.record, { deadline: START + 60n });
    w.vm.setTokenAccount(execution.escrow, { mint: w.usdcMint, owner: execution.record, amount: PRICE - 1n });
    await rejects('RecordUnsound');
    w.vm.closeAccount(execution.escrow);
    await rejects('RecordUnsound');
  });
});
