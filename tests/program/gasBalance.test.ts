/** The gas balance: what it pays and lends at an open, and its withdrawal. gas.test.ts has the ends of executions. */
import { SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { RECORD_BYTES, TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { type Execution, FEE, GAS, GAS_BALANCE, GAS_LAMPORTS, PRICE, useWorld } from '../harness/vm/world.ts';
import { swap, tip } from './exploits/acts.ts';

/** What the open itself costs, lamports. */
const OPEN_FEE = 5_678;
const PAID = BigInt(OPEN_FEE);

describe('the gas balance in an open', () => {
  const w = useWorld();
  let run: Execution;
  const gasBalance = program.findSpender(namedKeypair('caller').publicKey);
  const sponsor = namedKeypair('rent return').publicKey;

  beforeEach(async () => {
    await w.vm.airdrop(sponsor, 1_000_000n);
    w.watch('sponsor', sponsor);
    const { limits } = w.grantInput({ maxGasLamports: GAS + OPEN_FEE });
    await w.must([program.updateGrant({ wallet: w.caller.publicKey, keyId: w.keyId, limits })], [w.caller]);
  });

  const recordRent = () => w.vm.rent(RECORD_BYTES);
  const escrowRent = () => w.vm.rent(TOKEN_BYTES);
  const lent = () => recordRent() + escrowRent();
  const holds = (lamports: bigint) =>
    w.vm.setAccount(gasBalance, { lamports, owner: SystemProgram.programId, data: new Uint8Array() });
  /** It pays the open and lends the escrow. The relay lends the record's rent, which a third party gets back. */
  const prepare = (change: Partial<program.OpenExecutionWithGrantInput> = {}) => {
    const paid = { feeLamports: OPEN_FEE, spenderLendsEscrow: true, rentSponsor: sponsor };
    const input = w.openGrantInput({ ...paid, ...change });
    run = w.track(w.execution(input.nonce, input.wallet, input.keyId, input.rentSponsor));
    return program.openExecutionWithGrant(input);
  };
  const open = (change: Partial<program.OpenExecutionWithGrantInput> = {}) => w.must([prepare(change)], [w.relay]);
  const funded = () => ({
    caller: { usdc: -PRICE },
    record: { lamports: recordRent() + GAS_LAMPORTS },
    escrow: { usdc: PRICE, lamports: escrowRent() },
  });

  it('pays the fee to the payer and the gas into the record, lends the escrow only, and says so', async () => {
    const { events } = await w.moves([prepare()], [w.relay], {
      ...funded(),
      relay: { lamports: PAID - recordRent() },
      gasBalance: { lamports: -PAID - GAS_LAMPORTS - escrowRent() },
    });
    expect(events[0]?.data).to.include({ feeLamports: OPEN_FEE, gasLamports: GAS, spenderLendsEscrow: true });
    const record = await w.read('ExecutionRecord', run.record);
    expect(record.spenderBump).to.equal(program.findSpenderBump(w.caller.publicKey));
  });

  it('lends both rents if it is the sponsor, and gets them back at the end and the close', async () => {
    const instruction = prepare({ feeLamports: 0, spenderLendsEscrow: false, rentSponsor: gasBalance });
    const { events } = await w.moves([instruction], [w.relay], {
      ...funded(),
      gasBalance: { lamports: -(lent() + GAS_LAMPORTS) },
    });
    expect(events[0]?.data).to.include({ spenderLendsEscrow: true });
    await w.moves(
      [w.refundInstruction(run)],
      [w.relay],
      w.endingOf('refund', { relay: { lamports: GAS_LAMPORTS }, gasBalance: { lamports: escrowRent() } }),
    );
    await w.vm.setClock(w.vm.now + 3_600n);
    await w.moves([program.closeExecution(run)], [], {
      gasBalance: { lamports: recordRent() },
      record: { lamports: -recordRent() },
    });
    expect(await w.vm.lamports(gasBalance)).to.equal(GAS_BALANCE - GAS_LAMPORTS);
  });

  it("counts a stranger's lamports in the record toward its rent, and the excess toward the gas", async () => {
    const few = prepare({ feeLamports: 0, spenderLendsEscrow: false, rentSponsor: w.relay.publicKey });
    await w.vm.airdrop(run.record, 1n);
    await w.moves([few], [w.relay], {
      ...funded(),
      record: { lamports: recordRent() + GAS_LAMPORTS - 1n },
      relay: { lamports: -(lent() - 1n) },
      gasBalance: { lamports: -GAS_LAMPORTS },
    });
    const many = prepare({ feeLamports: 0, rentSponsor: gasBalance });
    await w.vm.airdrop(run.record, recordRent() + GAS_LAMPORTS + 7n);
    const { caller, escrow } = funded();
    await w.moves([many], [w.relay], { caller, escrow, gasBalance: { lamports: -escrowRent() } });
    await w.moves(
      [w.settleInstruction(run)],
      [w.relay],
      w.endingOf('settle', { relay: { lamports: GAS_LAMPORTS }, gasBalance: { lamports: escrowRent() } }),
    );
  });

  for (const [what, end, moved] of [
    ['settle', () => w.settleInstruction(run), { creator: { usdc: PRICE - FEE }, treasury: { usdc: FEE } }],
    ['refund', () => w.refundInstruction(run), { caller: { usdc: PRICE } }],
  ] as const) {
    it(`lets no ${what} fail: after a rise of the rent an empty one cannot take so little, and the record may`, async () => {
      w.vm.setRent(696n);
      const lent = escrowRent();
      for (const recordTakes of [true, false]) {
        w.vm.setRent(696n);
        await open();
        holds(0n);
        w.vm.setRent(6_960n);
        if (recordTakes) await w.must([tip(w.stranger, run.record, recordRent())], [w.stranger]);
        await w.moves([end()], [w.relay], {
          ...moved,
          ...(recordTakes ? { relay: { lamports: GAS_LAMPORTS }, record: { lamports: lent - GAS_LAMPORTS } } : {}),
          escrow: { usdc: -PRICE, ...(recordTakes && { lamports: -lent }) },
        });
        holds(GAS_BALANCE);
      }
    });
  }

  it('rejects: a balance that lacks one lamport, or would end below the rent minimum', async () => {
    const all = PAID + GAS_LAMPORTS + escrowRent();
    const cases: [bigint, Partial<program.OpenExecutionWithGrantInput>][] = [
      [all, {}],
      [escrowRent(), { feeLamports: 0, gasLamports: 0 }],
      [PAID, { gasLamports: 0, spenderLendsEscrow: false }],
      [all + recordRent(), { rentSponsor: gasBalance, spenderLendsEscrow: false }],
    ];
    for (const [needed, change] of cases) {
      holds(needed - 1n);
      await w.rejects([prepare(change)], [w.relay], 'GasBalanceTooLow');
      for (const left of [1n, w.vm.rent(0) - 1n]) {
        holds(needed + left);
        await w.rejects([prepare(change)], [w.relay], 'GasBalanceBelowRent');
      }
      for (const left of [0n, w.vm.rent(0)]) {
        holds(needed + left);
        await open(change);
        expect(await w.vm.lamports(gasBalance)).to.equal(left);
      }
    }
  });

  it("rejects: fee and gas together one lamport above the grant's limit; the rent does not count", async () => {
    const { maxGasLamports } = await w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId));
    for (const feeLamports of [maxGasLamports - GAS + 1, 0xffff_ffff]) {
      await w.rejects([prepare({ feeLamports })], [w.relay], 'GrantGasExceeded');
    }
    await open({ feeLamports: maxGasLamports - GAS });
    await w.rejects([prepare({ feeLamports: 1, gasLamports: maxGasLamports })], [w.relay], 'GrantGasExceeded');
    await open({ feeLamports: maxGasLamports, gasLamports: 0 });
  });

  it('is not named by a settle if the sponsor lent the escrow, and gets nothing', async () => {
    await open({ spenderLendsEscrow: false });
    const spender = program.findSpender(w.stranger.publicKey);
    await w.moves(
      [swap(w.settleInstruction(run), { spender })],
      [w.relay],
      w.endingOf('settle', { relay: { lamports: GAS_LAMPORTS }, sponsor: { lamports: escrowRent() } }),
    );
  });
});

describe('withdraw_gas', () => {
  const w = useWorld();
  const floor = () => w.vm.rent(0);

  const withdraw = (lamports: bigint, wallet = w.caller.publicKey) => program.withdrawGas({ wallet, lamports });

  it('returns everything by the greatest amount, also lamports that arrive just before', async () => {
    const dust = program.depositGas({ from: w.stranger.publicKey, wallet: w.caller.publicKey, lamports: 1n });
    const outcome = await w.moves([dust, withdraw(program.ALL_GAS)], [w.stranger, w.caller], {
      stranger: { lamports: -1n },
      caller: { lamports: GAS_BALANCE + 1n },
      gasBalance: { lamports: -GAS_BALANCE },
    });
    expect(outcome.events[0]?.data).to.include({ lamports: GAS_BALANCE + 1n, remaining: 0n });
  });

  it('returns a part, down to exactly the rent minimum', async () => {
    await w.moves([withdraw(1n)], [w.caller], { caller: { lamports: 1n }, gasBalance: { lamports: -1n } });
    const most = GAS_BALANCE - 1n - floor();
    const outcome = await w.moves([withdraw(most)], [w.caller], {
      caller: { lamports: most },
      gasBalance: { lamports: -most },
    });
    expect(outcome.events[0]?.data).to.include({ lamports: most, remaining: floor() });
    await w.must([withdraw(floor())], [w.caller]);
  });

  it('rejects: a remainder that is not rent-exempt', async () => {
    for (const left of [1n, floor() - 1n])
      await w.rejects([withdraw(GAS_BALANCE - left)], [w.caller], 'GasBalanceBelowRent');
  });

  it('rejects: zero, more than the balance, and everything from an empty gas balance', async () => {
    for (const lamports of [0n, GAS_BALANCE + 1n, program.ALL_GAS - 1n]) {
      await w.rejects([withdraw(lamports)], [w.caller], 'InvalidAmount');
    }
    for (const lamports of [1n, program.ALL_GAS]) {
      await w.rejects([withdraw(lamports, w.stranger.publicKey)], [w.stranger], 'InvalidAmount');
    }
  });

  it('returns all of a balance below a raised rent, of which no part can be spent; opens without gas still work', async () => {
    w.vm.setRent(696n);
    const left = floor() + 10n * GAS_LAMPORTS;
    await w.must([withdraw(GAS_BALANCE - left)], [w.caller]);
    w.vm.setRent(6_960n);
    await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'GasBalanceBelowRent');
    await w.rejects([withdraw(1n)], [w.caller], 'GasBalanceBelowRent');
    await w.must([program.openExecutionWithGrant(w.openGrantInput({ gasLamports: 0 }))], [w.relay]);
    await w.moves([withdraw(left)], [w.caller], { caller: { lamports: left }, gasBalance: { lamports: -left } });
  });
});
