import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { RECORD_BYTES, TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { GAS, GAS_BALANCE, GAS_LAMPORTS, PRICE, useWorld } from '../harness/vm/world.ts';

describe('the gas balance in an open', () => {
  const w = useWorld();
  const sponsor = namedKeypair('rent return');

  beforeEach(async () => {
    await w.vm.airdrop(sponsor.publicKey, 1_000_000n);
    w.watch('sponsor', sponsor.publicKey);
  });

  const gasBalance = () => program.findSpender(w.caller.publicKey);
  const recordRent = () => w.vm.rent(RECORD_BYTES);
  const escrowRent = () => w.vm.rent(TOKEN_BYTES);
  const lent = () => recordRent() + escrowRent();
  /** The instruction of an open by the grant, with its new accounts tracked. */
  const prepare = (change: Partial<program.OpenExecutionWithGrantInput> = {}) => {
    const input = w.openGrantInput(change);
    const run = w.track(w.execution(input.nonce, input.wallet, input.keyId, input.rentSponsor, input.gasLamports));
    return { run, open: program.openExecutionWithGrant(input) };
  };
  const byGasBalance = (change: Partial<program.OpenExecutionWithGrantInput> = {}) =>
    prepare({ rentSponsor: gasBalance(), ...change });
  const funded = (gas = GAS_LAMPORTS) => ({
    caller: { usdc: -PRICE },
    record: { lamports: recordRent() + gas },
    escrow: { usdc: PRICE, lamports: escrowRent() },
  });

  it('lends the rent and pays the gas, and gets the rent back at settle and close', async () => {
    const { run, open } = byGasBalance();
    const { events } = await w.moves([open], [w.relay], {
      ...funded(),
      gasBalance: { lamports: -(lent() + GAS_LAMPORTS) },
    });
    expect(events[0]?.data).to.include({ spenderLendsEscrow: true });
    const record = await w.read('ExecutionRecord', run.record);
    expect(record).to.include({ gasLamports: GAS });
    expect(record.rentSponsor.equals(gasBalance())).to.equal(true);
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
    expect(await w.vm.lamports(gasBalance())).to.equal(GAS_BALANCE - GAS_LAMPORTS);
  });

  it("rejects: gas one lamport above the grant's limit, and above the general maximum", async () => {
    const limits = w.grantInput({ maxGasLamports: 100_000 }).limits;
    const raise = program.updateGrant({ wallet: w.caller.publicKey, keyId: w.keyId, limits });
    await w.rejects([prepare({ gasLamports: GAS + 1 }).open], [w.relay], 'GrantGasExceeded');
    await w.must([raise], [w.caller]);
    await w.must([prepare({ gasLamports: GAS + 1 }).open], [w.relay]);
    await w.must([prepare({ gasLamports: 100_000 }).open], [w.relay]);
    for (const gasLamports of [100_001, 0xffff_ffff]) {
      await w.rejects([prepare({ gasLamports }).open], [w.relay], 'GasOutOfBounds');
      await w.rejects([program.openExecution(w.openInput({ gasLamports }))], [w.caller], 'GasOutOfBounds');
    }
  });

  it("counts a stranger's lamports in the record toward its rent, and the excess toward the gas", async () => {
    const few = prepare();
    await w.vm.airdrop(few.run.record, 1n);
    await w.moves([few.open], [w.relay], {
      ...funded(),
      record: { lamports: recordRent() + GAS_LAMPORTS - 1n },
      relay: { lamports: -(lent() - 1n) },
      gasBalance: { lamports: -GAS_LAMPORTS },
    });
    const many = byGasBalance();
    await w.vm.airdrop(many.run.record, recordRent() + GAS_LAMPORTS + 7n);
    await w.moves([many.open], [w.relay], {
      caller: { usdc: -PRICE },
      escrow: { usdc: PRICE, lamports: escrowRent() },
      gasBalance: { lamports: -escrowRent() },
    });
    await w.moves(
      [w.settleInstruction(many.run)],
      [w.relay],
      w.endingOf('settle', { relay: { lamports: GAS_LAMPORTS }, gasBalance: { lamports: escrowRent() } }),
    );
  });
});

describe('withdraw_gas', () => {
  const w = useWorld();
  const floor = () => w.vm.rent(0);

  const withdraw = (lamports: bigint, wallet = w.caller.publicKey) => program.withdrawGas({ wallet, lamports });

  it('returns everything', async () => {
    const outcome = await w.moves([withdraw(GAS_BALANCE)], [w.caller], {
      caller: { lamports: GAS_BALANCE },
      gasBalance: { lamports: -GAS_BALANCE },
    });
    expect(outcome.events[0]).to.deep.include({ name: 'GasWithdrawn' });
    expect(outcome.events[0]?.data).to.include({ lamports: GAS_BALANCE, remaining: 0n });
    expect(await w.vm.getAccount(program.findSpender(w.caller.publicKey))).to.equal(null);
  });

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
