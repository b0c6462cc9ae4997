/** The gas balance: what an open takes from a wallet's Spender address, what must remain there, and withdraw_gas. */
import { SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { findCallerPda, relayed } from '../harness/vm/caller.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { FEE, GAS, GAS_BALANCE, GAS_LAMPORTS, NO_KEY, PRICE, USDC, type World, world } from '../harness/vm/world.ts';
import { RECORD_BYTES, TOKEN_BYTES } from './exploits/acts.ts';

describe('the gas balance in an open', () => {
  let w: World;
  const sponsor = namedKeypair('rent return');

  beforeEach(async () => {
    w = await world();
    await w.vm.airdrop(sponsor.publicKey, 1_000_000n);
    w.watch('sponsor', sponsor.publicKey);
  });

  const gasBalance = () => program.findSpender(w.caller.publicKey);
  const recordRent = () => w.vm.rent(RECORD_BYTES);
  const escrowRent = () => w.vm.rent(TOKEN_BYTES);
  const floor = () => w.vm.rent(0);
  const lent = () => recordRent() + escrowRent();
  const holds = (lamports: bigint) =>
    w.vm.setAccount(gasBalance(), { lamports, owner: SystemProgram.programId, data: new Uint8Array() });
  /** The instruction of an open by the grant, with its new accounts tracked. */
  const prepare = (change: Partial<program.OpenExecutionWithGrantInput> = {}) => {
    const input = w.openGrantInput(change);
    const run = w.execution(input.nonce, input.wallet, input.keyId, input.rentSponsor, input.gasLamports);
    w.watch('record', run.record);
    w.watch('escrow', run.escrow);
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
    await w.moves([open], [w.relay], { ...funded(), gasBalance: { lamports: -(lent() + GAS_LAMPORTS) } });
    const record = await w.read('ExecutionRecord', run.record);
    expect(record).to.include({ gasLamports: GAS });
    expect(record.rentSponsor.equals(gasBalance())).to.equal(true);
    await w.moves([w.refundInstruction(run)], [w.relay], {
      caller: { usdc: PRICE },
      relay: { lamports: GAS_LAMPORTS },
      gasBalance: { lamports: escrowRent() },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE, lamports: -escrowRent() },
    });
    await w.vm.setClock(w.vm.now + 3_600n);
    await w.moves([program.closeExecution(run)], [], {
      gasBalance: { lamports: recordRent() },
      record: { lamports: -recordRent() },
    });
    expect(await w.vm.lamports(gasBalance())).to.equal(GAS_BALANCE - GAS_LAMPORTS);
  });

  it('pays the gas when the payer lends the rent for a third party', async () => {
    const { open } = prepare({ payer: w.stranger.publicKey, rentSponsor: sponsor.publicKey });
    await w.moves([open], [w.relay, w.stranger], {
      ...funded(),
      stranger: { lamports: -lent() },
      gasBalance: { lamports: -GAS_LAMPORTS },
    });
  });

  it('pays nothing when no gas is requested, and may then be empty', async () => {
    holds(0n);
    const { run, open } = prepare({ gasLamports: 0 });
    await w.moves([open], [w.relay], { ...funded(0n), relay: { lamports: -lent() } });
    await w.moves([w.settleInstruction(run)], [w.relay], {
      creator: { usdc: PRICE - FEE },
      treasury: { usdc: FEE },
      relay: { lamports: escrowRent() },
      escrow: { usdc: -PRICE, lamports: -escrowRent() },
    });
  });

  it('may end empty or at exactly the rent minimum after it has paid the gas, or the gas and the rent', async () => {
    for (const left of [0n, floor()]) {
      holds(GAS_LAMPORTS + left);
      await w.must([prepare().open], [w.relay]);
      expect(await w.vm.lamports(gasBalance())).to.equal(left);
      holds(GAS_LAMPORTS + lent() + left);
      await w.must([byGasBalance().open], [w.relay]);
      expect(await w.vm.lamports(gasBalance())).to.equal(left);
    }
  });

  it('rejects: a balance that lacks one lamport for the gas, or for the gas and the rent', async () => {
    holds(GAS_LAMPORTS - 1n);
    await w.rejects([prepare().open], [w.relay], 'GasBalanceTooLow');
    holds(GAS_LAMPORTS + lent() - 1n);
    await w.rejects([byGasBalance().open], [w.relay], 'GasBalanceTooLow');
    holds(0n);
    await w.rejects([prepare().open], [w.relay], 'GasBalanceTooLow');
    await w.rejects([byGasBalance({ gasLamports: 0 }).open], [w.relay], 'GasBalanceTooLow');
  });

  it('rejects: a balance that would end at 1 lamport, or one lamport below the rent minimum', async () => {
    for (const left of [1n, floor() - 1n]) {
      holds(GAS_LAMPORTS + left);
      await w.rejects([prepare().open], [w.relay], 'GasBalanceBelowRent');
      holds(GAS_LAMPORTS + lent() + left);
      await w.rejects([byGasBalance().open], [w.relay], 'GasBalanceBelowRent');
      holds(lent() + left);
      await w.rejects([byGasBalance({ gasLamports: 0 }).open], [w.relay], 'GasBalanceBelowRent');
    }
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
    await w.moves([w.settleInstruction(many.run)], [w.relay], {
      creator: { usdc: PRICE - FEE },
      treasury: { usdc: FEE },
      relay: { lamports: GAS_LAMPORTS },
      gasBalance: { lamports: escrowRent() },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE, lamports: -escrowRent() },
    });
  });

  it("charges gas and rent of a wallet's own open to the payer, whoever gets the rent back", async () => {
    for (const rentSponsor of [w.caller.publicKey, sponsor.publicKey, gasBalance()]) {
      const input = w.openInput({ rentSponsor, payer: w.stranger.publicKey });
      const run = w.execution(input.nonce, input.caller, NO_KEY, rentSponsor);
      w.watch('record', run.record);
      w.watch('escrow', run.escrow);
      await w.moves([program.openExecution(input)], [w.caller, w.stranger], {
        ...funded(),
        stranger: { lamports: -(lent() + GAS_LAMPORTS) },
      });
      await w.must([w.settleInstruction(run)], [w.relay]);
    }
  });
});

describe('withdraw_gas', () => {
  let w: World;
  const floor = () => w.vm.rent(0);

  beforeEach(async () => {
    w = await world();
  });

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

  it('accepts deposits from anyone', async () => {
    const deposit = program.depositGas({ from: w.stranger.publicKey, wallet: w.caller.publicKey, lamports: 5n });
    await w.moves([deposit], [w.stranger], { stranger: { lamports: -5n }, gasBalance: { lamports: 5n } });
  });

  it('pays a wallet that is an address of another program, by CPI', async () => {
    const pda = findCallerPda();
    await w.vm.airdrop(pda, floor());
    w.watch('pda', pda);
    w.watch('its gas balance', program.findSpender(pda));
    const deposit = program.depositGas({ from: w.stranger.publicKey, wallet: pda, lamports: 2n * floor() });
    await w.must([deposit], [w.stranger]);
    await w.moves([relayed(withdraw(floor(), pda))], [], {
      pda: { lamports: floor() },
      'its gas balance': { lamports: -floor() },
    });
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

  it("rejects: another wallet's gas balance, and a wallet that does not sign", async () => {
    const theft = withdraw(1n, w.stranger.publicKey);
    theft.keys[1]!.pubkey = program.findSpender(w.caller.publicKey);
    await w.rejects([theft], [w.stranger], 'ConstraintSeeds');
    const unsigned = withdraw(1n);
    unsigned.keys[0]!.isSigner = false;
    await w.rejects([unsigned], [], 'AccountNotSigner');
  });

  it("does not change the wallet's USDC approval: the key pays again once there is gas", async () => {
    await w.must([withdraw(GAS_BALANCE)], [w.caller]);
    await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'GasBalanceTooLow');
    await w.must([w.depositInstruction(GAS_LAMPORTS + floor())], [w.caller]);
    await w.openWithGrant();
    expect(await w.vm.tokens(w.wallet(w.caller))).to.equal(1_000n * USDC - PRICE);
  });
});
