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
type End = 'settle' | 'refund';
/** `taken`: lamports of the gas that a relay authority takes. */
type Ending = { end: End; by: Keypair; taken?: number };

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

  /** Makes `run` a new execution, and tracks its accounts. */
  const opened = async (change: Partial<program.OpenExecutionWithGrantInput> = {}) => {
    run = w.track(await w.openWithGrant({ rentSponsor: sponsor.publicKey, ...change }));
  };
  const rent = () => w.vm.rent(TOKEN_BYTES);
  const money = {
    settle: { creator: { usdc: PRICE - FEE }, treasury: { usdc: FEE } },
    refund: { caller: { usdc: PRICE } },
  };
  const ending = (end: End, by: Keypair, gasLamports = GAS) =>
    end === 'settle'
      ? w.settleInstruction(run, { relayAuthority: by.publicKey, gasLamports })
      : w.refundInstruction(run, { authority: by.publicKey, gasLamports });

  /** Ends `run`. Its gas and the escrow's rent go to these parties, and the event says who took how much. */
  const ends = async ({ end, by, taken = GAS }: Ending, to: Record<string, bigint>, gasTo: PublicKey, gas = taken) => {
    const moved: Moved = { ...money[end], ...w.emptied() };
    for (const [party, lamports] of Object.entries(to)) {
      if (lamports > 0n) moved[party] = { ...moved[party], lamports };
    }
    const { events } = await w.moves([ending(end, by, taken)], [by], conserved(moved));
    expect(plain(events[0]?.data)).to.include(plain({ gasTo, gasLamports: gas, gasReturned: GAS - gas }) as object);
  };
  const gasBalance = program.findSpender(namedKeypair('caller').publicKey);
  const both: End[] = ['settle', 'refund'];

  /** The rent of the escrow goes back to whichever of these lent it. */
  const LENDERS = [
    [false, 'sponsor'],
    [true, 'gasBalance'],
  ] as const;

  it('goes to the relay authority that ends the execution, whichever one opened', async () => {
    for (const [end, seconds] of [
      ['settle', 0n],
      ['refund', 0n],
      ['refund', REFUND_AFTER],
    ] as const) {
      for (const [spenderLendsEscrow, lender] of LENDERS) {
        await opened({ spenderLendsEscrow });
        await w.vm.setClock(START + seconds);
        await ends({ end, by: second }, { second: GAS_LAMPORTS, [lender]: rent() }, second.publicKey);
        await w.vm.setClock(START);
      }
    }
    expect(await w.vm.lamports(run.record)).to.equal(w.vm.rent(RECORD_BYTES));
    expect(await w.read('ExecutionRecord', run.record)).to.include({ gasLamports: GAS });
  });

  it('goes in part to the relay authority that takes part of it, and the rest back to the gas balance', async () => {
    for (const taken of [0, 1, 5_700, GAS - 1]) {
      for (const end of both) {
        await opened();
        const to = { second: BigInt(taken), gasBalance: GAS_LAMPORTS - BigInt(taken), sponsor: rent() };
        await ends({ end, by: second, taken }, to, taken > 0 ? second.publicKey : PublicKey.default);
      }
    }
  });

  it('goes in full to the relay authority when the gas balance is empty and cannot take the rest', async () => {
    for (const end of both) {
      await opened();
      const full = (await w.vm.getAccount(gasBalance))!;
      w.vm.closeAccount(gasBalance);
      const to = { second: GAS_LAMPORTS, sponsor: rent() };
      await ends({ end, by: second, taken: 5_700 }, to, second.publicKey, GAS);
      w.vm.setAccount(gasBalance, full);
    }
  });

  it('goes to others where the relay authority has no lamports and would not be rent-exempt', async () => {
    for (const taken of [5_700, GAS]) {
      const part = BigInt(taken);
      await opened();
      const settled = { sponsor: rent() + part, gasBalance: GAS_LAMPORTS - part };
      await ends({ end: 'settle', by: poor, taken }, settled, sponsor.publicKey);
      await opened();
      await ends({ end: 'refund', by: poor, taken }, { sponsor: rent(), gasBalance: GAS_LAMPORTS }, gasBalance);
    }
  });

  it('goes back to the gas balance that paid it when a stranger or the caller refunds, whatever they ask for', async () => {
    for (const [by, taken] of [
      [w.stranger, GAS],
      [w.stranger, 0xffff_ffff],
      [w.caller, GAS],
    ] as const) {
      for (const [spenderLendsEscrow, lender] of LENDERS) {
        await opened({ spenderLendsEscrow });
        await w.vm.setClock(START + REFUND_AFTER);
        const to = { sponsor: 0n, gasBalance: GAS_LAMPORTS };
        await ends({ end: 'refund', by, taken }, { ...to, [lender]: to[lender] + rent() }, gasBalance, GAS);
        await w.vm.setClock(START);
      }
    }
  });

  it('goes to the caller when the gas balance is empty and cannot take so little', async () => {
    w.vm.closeAccount(gasBalance);
    await w.vm.setClock(START + REFUND_AFTER);
    const before = await w.vm.lamports(run.record);
    await ends({ end: 'refund', by: w.caller }, { sponsor: rent(), caller: GAS_LAMPORTS }, w.caller.publicKey);
    expect(await w.vm.lamports(run.record)).to.equal(before - GAS_LAMPORTS);
  });

  it('rejects: a relay authority that takes more than it holds', async () => {
    for (const taken of [GAS + 1, 0xffff_ffff]) {
      for (const end of both) await w.rejects([ending(end, second, taken)], [second], 'GasAboveRecord');
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

  it('stays in the record when nobody can receive it, blocks nothing, and is returned with the close', async () => {
    w.vm.closeAccount(gasBalance);
    const gone = (await w.vm.getAccount(sponsor.publicKey))!;
    w.vm.setAccount(sponsor.publicKey, (await w.vm.getAccount(program.PROGRAM_ID))!);
    const moved = { ...money.refund, record: { lamports: rent() }, escrow: { usdc: -PRICE, lamports: -rent() } };
    const { events } = await w.moves([ending('refund', poor)], [poor], conserved(moved));
    expect(events[0]?.data).to.include({ gasLamports: 0, gasReturned: 0 });
    w.vm.setAccount(sponsor.publicKey, gone);
    await w.vm.setClock(START + ENDED);
    const left = w.vm.rent(RECORD_BYTES) + rent() + GAS_LAMPORTS;
    const close = { sponsor: { lamports: left }, record: { lamports: -left } };
    await w.moves([program.closeExecution(run)], [], conserved(close));
  });
});
