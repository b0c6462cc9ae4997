/** The receiver of an open's gas, depending on who ends the execution and on what the receivers can take. */
import { type Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { RECORD_BYTES, TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, FEE, GAS, GAS_LAMPORTS, PRICE, useWorld, type World } from '../harness/vm/world.ts';
import { ENDED, REFUND_AFTER } from './exploits/acts.ts';

type Moved = Parameters<World['moves']>[2];

/** Checks that all gains and losses add up to zero, in lamports and in USDC. */
function conserved(moved: Moved): Moved {
  for (const unit of ['lamports', 'usdc'] as const) {
    const sum = Object.values(moved).reduce((total, movement) => total + (movement[unit] ?? 0n), 0n);
    expect(sum, `${unit} of all parties`).to.equal(0n);
  }
  return moved;
}

describe('the gas in a record', () => {
  const w = useWorld();
  let run: Execution;
  const sponsor = namedKeypair('rent return');
  const second = namedKeypair('second relay');
  const poor = namedKeypair('relay without lamports');

  beforeEach(async () => {
    await w.must(w.addRelaysInstructions(second.publicKey, poor.publicKey), [w.admin]);
    for (const { publicKey } of [sponsor, second]) await w.vm.airdrop(publicKey, 1_000_000n);
    w.watch('sponsor', sponsor.publicKey);
    w.watch('second', second.publicKey);
    w.watch('poor', poor.publicKey);
    await opened();
  });

  /** Makes `run` a new execution, by the grant or by the wallet itself, and tracks its accounts. */
  const opened = async (change: Partial<program.OpenExecutionWithGrantInput> = {}) => {
    run = w.track(await w.openWithGrant({ rentSponsor: sponsor.publicKey, ...change }));
  };
  const openedByWallet = async () => {
    run = w.track(await w.open({ rentSponsor: sponsor.publicKey }));
  };
  const rent = () => w.vm.rent(TOKEN_BYTES);
  const settle = (by: Keypair) => w.settleInstruction(run, { relayAuthority: by.publicKey });
  const refund = (by: Keypair) => w.refundInstruction(run, { authority: by.publicKey });
  const paid = { creator: { usdc: PRICE - FEE }, treasury: { usdc: FEE } };
  const back = { caller: { usdc: PRICE } };
  const says = (data: Record<string, unknown> | undefined, gasTo: PublicKey, gasLamports = GAS, gasReturned = 0) =>
    expect(plain(data)).to.deep.include(plain({ gasTo, gasLamports, gasReturned }) as object);

  it('goes to the relay authority that settles, whichever one opened', async () => {
    const moved = { ...paid, ...w.emptied(), second: { lamports: GAS_LAMPORTS }, sponsor: { lamports: rent() } };
    const { events } = await w.moves([settle(second)], [second], conserved(moved));
    says(events[0]?.data, second.publicKey);
    expect(await w.vm.lamports(run.record)).to.equal(w.vm.rent(RECORD_BYTES));
    expect(await w.read('ExecutionRecord', run.record)).to.include({ gasLamports: GAS });
  });

  it('goes to the relay authority that refunds, before and after anyone may', async () => {
    for (const seconds of [0n, REFUND_AFTER]) {
      await opened();
      await w.vm.setClock(START + seconds);
      const moved = { ...back, ...w.emptied(), second: { lamports: GAS_LAMPORTS }, sponsor: { lamports: rent() } };
      const { events } = await w.moves([refund(second)], [second], conserved(moved));
      says(events[0]?.data, second.publicKey);
    }
  });

  /** The ends of a call by the second relay, which takes these lamports: what each pays out, and its instruction. */
  const takings = (gasLamports: number) => [
    { money: paid, instruction: w.settleInstruction(run, { relayAuthority: second.publicKey, gasLamports }) },
    { money: back, instruction: w.refundInstruction(run, { authority: second.publicKey, gasLamports }) },
  ];

  it('goes in part to the relay authority that takes part of it, and the rest back to the gas balance', async () => {
    for (const taken of [0, 1, 5_700, GAS - 1]) {
      for (const end of [0, 1]) {
        await opened();
        const { money, instruction } = takings(taken)[end]!;
        const rest = GAS_LAMPORTS - BigInt(taken);
        const parts = { ...(taken > 0 && { second: { lamports: BigInt(taken) } }), gasBalance: { lamports: rest } };
        const moved = { ...money, ...w.emptied(), ...parts, sponsor: { lamports: rent() } };
        const { events } = await w.moves([instruction], [second], conserved(moved));
        says(events[0]?.data, taken > 0 ? second.publicKey : PublicKey.default, taken, GAS - taken);
      }
    }
  });

  it('goes in part back to the gas balance that lent the escrow as well', async () => {
    for (const end of [0, 1]) {
      await opened({ spenderLendsEscrow: true });
      const { money, instruction } = takings(5_700)[end]!;
      const parts = { second: { lamports: 5_700n }, gasBalance: { lamports: rent() + GAS_LAMPORTS - 5_700n } };
      const { events } = await w.moves([instruction], [second], conserved({ ...money, ...w.emptied(), ...parts }));
      says(events[0]?.data, second.publicKey, 5_700, GAS - 5_700);
    }
  });

  it('goes in part back to the rent sponsor when a wallet opened the call itself', async () => {
    for (const end of [0, 1]) {
      await openedByWallet();
      const { money, instruction } = takings(5_700)[end]!;
      const parts = { second: { lamports: 5_700n }, sponsor: { lamports: rent() + GAS_LAMPORTS - 5_700n } };
      const { events } = await w.moves([instruction], [second], conserved({ ...money, ...w.emptied(), ...parts }));
      says(events[0]?.data, second.publicKey, 5_700, GAS - 5_700);
    }
  });

  it('goes in full to the relay authority when the gas balance is empty and cannot take the rest', async () => {
    for (const end of [0, 1]) {
      await opened();
      const gasBalance = program.findSpender(w.caller.publicKey);
      const full = (await w.vm.getAccount(gasBalance))!;
      w.vm.closeAccount(gasBalance);
      const { money, instruction } = takings(5_700)[end]!;
      const moved = { ...money, ...w.emptied(), second: { lamports: GAS_LAMPORTS }, sponsor: { lamports: rent() } };
      const { events } = await w.moves([instruction], [second], conserved(moved));
      says(events[0]?.data, second.publicKey);
      w.vm.setAccount(gasBalance, full);
    }
  });

  it('goes back to the gas balance beside the part that a relay authority without lamports leaves to others', async () => {
    const settle = w.settleInstruction(run, { relayAuthority: poor.publicKey, gasLamports: 5_700 });
    const parts = { sponsor: { lamports: rent() + 5_700n }, gasBalance: { lamports: GAS_LAMPORTS - 5_700n } };
    const { events } = await w.moves([settle], [poor], conserved({ ...paid, ...w.emptied(), ...parts }));
    says(events[0]?.data, sponsor.publicKey, 5_700, GAS - 5_700);
    await opened();
    const refund = w.refundInstruction(run, { authority: poor.publicKey, gasLamports: 5_700 });
    const all = { sponsor: { lamports: rent() }, gasBalance: { lamports: GAS_LAMPORTS } };
    const refunded = await w.moves([refund], [poor], conserved({ ...back, ...w.emptied(), ...all }));
    says(refunded.events[0]?.data, program.findSpender(w.caller.publicKey), 5_700, GAS - 5_700);
  });

  it('is not what a stranger asks for: all of it goes back', async () => {
    await w.vm.setClock(START + REFUND_AFTER);
    const moved = { ...back, ...w.emptied(), sponsor: { lamports: rent() }, gasBalance: { lamports: GAS_LAMPORTS } };
    const ask = w.refundInstruction(run, { authority: w.stranger.publicKey, gasLamports: 0xffff_ffff });
    const { events } = await w.moves([ask], [w.stranger], conserved(moved));
    says(events[0]?.data, program.findSpender(w.caller.publicKey));
  });

  it('rejects: a relay authority that takes more than it holds', async () => {
    for (const taken of [GAS + 1, 0xffff_ffff]) {
      for (const { instruction } of takings(taken)) await w.rejects([instruction], [second], 'GasAboveRecord');
    }
  });

  it("rejects: a settle that returns gas to an account that is not the caller's gas balance", async () => {
    const part = { relayAuthority: second.publicKey, gasLamports: 5_700 };
    const others = w.settleInstruction(run, { ...part, caller: w.stranger.publicKey });
    await w.rejects([others], [second], 'WrongAddress');
    const own = w.settleInstruction(run, part);
    // The bump is the last argument.
    for (const bump of [0, 1, own.data.at(-1)! - 1]) {
      const data = Buffer.from(own.data);
      data[data.length - 1] = bump;
      await w.rejects([new TransactionInstruction({ ...own, data })], [second], 'WrongAddress');
    }
    await w.must([own], [second]);
  });

  it('goes back to the gas balance that paid it when a stranger or the caller refunds', async () => {
    for (const by of [w.stranger, w.caller]) {
      await w.vm.setClock(START);
      await opened();
      await w.vm.setClock(START + REFUND_AFTER);
      const moved = { ...back, ...w.emptied(), sponsor: { lamports: rent() }, gasBalance: { lamports: GAS_LAMPORTS } };
      const { events } = await w.moves([refund(by)], [by], conserved(moved));
      says(events[0]?.data, program.findSpender(w.caller.publicKey));
    }
  });

  it('goes to the caller, else to the rent sponsor, when the gas balance is empty and cannot take so little', async () => {
    const gasBalance = program.findSpender(w.caller.publicKey);
    w.vm.closeAccount(gasBalance);
    await w.vm.setClock(START + REFUND_AFTER);
    const before = await w.vm.lamports(run.record);
    const own = { ...back, ...w.emptied(), sponsor: { lamports: rent() } };
    const moved = { ...own, caller: { usdc: PRICE, lamports: GAS_LAMPORTS } };
    const { events } = await w.moves([refund(w.caller)], [w.caller], conserved(moved));
    says(events[0]?.data, w.caller.publicKey);
    expect(await w.vm.lamports(run.record)).to.equal(before - GAS_LAMPORTS);
  });

  it('goes to the rent sponsor when anyone refunds what a wallet opened itself', async () => {
    await openedByWallet();
    await w.vm.setClock(START + REFUND_AFTER);
    const moved = { ...back, ...w.emptied(), sponsor: { lamports: rent() + GAS_LAMPORTS } };
    const { events } = await w.moves([refund(w.stranger)], [w.stranger], conserved(moved));
    says(events[0]?.data, sponsor.publicKey);
  });

  it('goes to the rent sponsor when the relay authority has no lamports and would not be rent-exempt', async () => {
    const moved = { ...paid, ...w.emptied(), sponsor: { lamports: rent() + GAS_LAMPORTS } };
    const { events } = await w.moves([settle(poor)], [poor], conserved(moved));
    says(events[0]?.data, sponsor.publicKey);
    await opened();
    const toGasBalance = { sponsor: { lamports: rent() }, gasBalance: { lamports: GAS_LAMPORTS } };
    await w.moves([refund(poor)], [poor], conserved({ ...back, ...w.emptied(), ...toGasBalance }));
  });

  it('stays in the record when nobody can receive it, blocks nothing, and is returned with the close', async () => {
    w.vm.closeAccount(program.findSpender(w.caller.publicKey));
    const gone = (await w.vm.getAccount(sponsor.publicKey))!;
    w.vm.setAccount(sponsor.publicKey, (await w.vm.getAccount(program.PROGRAM_ID))!);
    const moved = { ...back, record: { lamports: rent() }, escrow: { usdc: -PRICE, lamports: -rent() } };
    const { events } = await w.moves([refund(poor)], [poor], conserved(moved));
    expect(events[0]?.data).to.include({ gasLamports: 0, gasReturned: 0 });
    w.vm.setAccount(sponsor.publicKey, gone);
    await w.vm.setClock(START + ENDED);
    const left = w.vm.rent(RECORD_BYTES) + rent() + GAS_LAMPORTS;
    const close = { sponsor: { lamports: left }, record: { lamports: -left } };
    await w.moves([program.closeExecution(run)], [], conserved(close));
  });

  it('is zero when none was requested', async () => {
    await opened({ gasLamports: 0 });
    const moved = { ...paid, sponsor: { lamports: rent() }, escrow: { usdc: -PRICE, lamports: -rent() } };
    const { events } = await w.moves([settle(second)], [second], conserved(moved));
    expect(events[0]?.data).to.include({ gasLamports: 0, gasReturned: 0 });
  });

  it('is the deposited amount, whatever else the record contains', async () => {
    await w.vm.airdrop(run.record, 5_000_000n);
    const moved = { ...paid, ...w.emptied(), second: { lamports: GAS_LAMPORTS }, sponsor: { lamports: rent() } };
    await w.moves([settle(second)], [second], conserved(moved));
    await w.vm.setClock(START + 259_200n + 31_536_000n);
    const left = w.vm.rent(RECORD_BYTES) + 5_000_000n;
    await w.moves([program.closeExecution(run)], [], {
      sponsor: { lamports: left },
      record: { lamports: -left },
    });
  });
});
