/** Closing of ended records and disputes: the rent returns to its lender. exploits/accounts.test.ts opens their ids again. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { DISPUTE_BYTES, RECORD_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, PRICE, useWorld } from '../harness/vm/world.ts';
import {
  BOND,
  claim,
  dispute,
  disputed,
  ENDED,
  freeze,
  LAPSE,
  lapse,
  reject,
  settled,
  thaw,
  UNARCHIVED,
  uphold,
  WINDOW,
} from './exploits/acts.ts';

describe('close_execution', () => {
  const w = useWorld();
  const sponsor = namedKeypair('rent return').publicKey;

  beforeEach(async () => {
    await w.vm.airdrop(sponsor, 1_000_000n);
    w.watch('sponsor', sponsor);
  });

  const close = (run: Execution) => program.closeExecution(run);
  /** Expects a refusal one second before `moment`, then a close that sends all lamports to the sponsor. */
  const closesAt = async (run: Execution, moment: bigint) => {
    w.watch('record', run.record);
    await w.vm.setClock(moment - 1n);
    await w.rejects([close(run)], [], 'CloseTooEarly');
    await w.vm.setClock(moment);
    const rent = w.vm.rent(RECORD_BYTES);
    await w.moves([close(run)], [], { sponsor: { lamports: rent }, record: { lamports: -rent } });
    await w.rejects([close(run)], [], 'AccountNotInitialized');
  };

  it('closes a refunded record an hour after it was opened, not after it ended, whatever record_seconds is', async () => {
    const run = await w.openWithGrant({ rentSponsor: sponsor });
    await w.vm.setClock(START + 500n);
    await w.must([w.refundInstruction(run)], [w.relay]);
    await w.must([program.updateConfig({ admin: w.admin.publicKey, recordSeconds: 259_200 })], [w.admin]);
    await closesAt(run, START + ENDED);
  });

  it('closes a completed record a year after the window of its own open', async () => {
    const run = await w.openWithGrant({ rentSponsor: sponsor });
    await w.vm.setClock(START + 50n);
    await w.must([w.settleInstruction(run)], [w.relay]);
    const longer = program.updateConfig({ admin: w.admin.publicKey, disputeWindowSeconds: 2_592_000 });
    await w.must([longer], [w.admin]);
    await closesAt(run, START + 50n + WINDOW + UNARCHIVED);
  });

  it('rejects: an open record at any age', async () => {
    const open = await w.open();
    await w.vm.setClock(START + 100n * UNARCHIVED);
    await w.rejects([close(open)], [], 'ExecutionNotEnded');
  });
});

describe('close_dispute', () => {
  const w = useWorld();

  const close = (run: Execution) => program.closeDispute({ ...run, rentSponsor: w.caller.publicKey });
  /** Expects a refusal one second before `moment`, then a close. The record can have no other dispute. */
  const closesAt = async (run: Execution, moment: bigint, lamports = w.vm.rent(DISPUTE_BYTES)) => {
    w.watch('dispute', program.findDispute(run.record));
    await w.vm.setClock(moment - 1n);
    await w.rejects([close(run)], [], 'CloseTooEarly');
    await w.vm.setClock(moment);
    await w.moves([close(run)], [], { caller: { lamports }, dispute: { lamports: -lamports } });
    await w.rejects([close(run)], [], 'AccountNotInitialized');
    await w.rejects([dispute(w, run)], [w.caller], 'DisputeWindowClosed');
  };

  for (const [outcome, answer] of [
    ['rejected', (run: Execution) => reject(w, run)],
    ['upheld', (run: Execution) => uphold(w, run, PRICE)],
    ['lapsed', (run: Execution) => lapse(w, run)],
  ] as const) {
    it(`returns the rent of a dispute that was ${outcome} thirty days later`, async () => {
      const run = await disputed(w);
      const at = outcome === 'lapsed' ? LAPSE : 100n;
      await w.vm.setClock(START + at);
      await w.must([answer(run)], outcome === 'lapsed' ? [] : [w.admin]);
      await closesAt(run, START + at + LAPSE);
    });
  }

  it('waits for an unpaid award, and closes as soon as it was claimed', async () => {
    const run = await disputed(w);
    await freeze(w, w.wallet(w.caller));
    await w.must([uphold(w, run, PRICE)], [w.admin]);
    await w.vm.setClock(START + 2n * LAPSE);
    await w.rejects([close(run)], [], 'DisputeNotEnded');
    await thaw(w, w.wallet(w.caller));
    await w.moves([claim(w, run, w.stranger), close(run)], [w.stranger], {
      caller: { usdc: PRICE, lamports: w.vm.rent(DISPUTE_BYTES) },
      vault: { usdc: -PRICE },
    });
  });

  it('returns a bond that its receiver could not accept', async () => {
    const run = await disputed(w);
    const creator = (await w.vm.getAccount(w.creator.publicKey))!;
    w.vm.setAccount(w.creator.publicKey, (await w.vm.getAccount(program.PROGRAM_ID))!);
    await w.must([reject(w, run)], [w.admin]);
    w.vm.setAccount(w.creator.publicKey, creator);
    await closesAt(run, START + LAPSE, w.vm.rent(DISPUTE_BYTES) + BOND);
  });

  it('rejects: an open dispute at any age', async () => {
    const run = await disputed(w);
    await w.vm.setClock(START + 100n * LAPSE);
    await w.rejects([close(run)], [], 'DisputeNotEnded');
  });

  it('closes in the last second of the longest window, when no other dispute is possible', async () => {
    const longest = program.updateConfig({ admin: w.admin.publicKey, disputeWindowSeconds: Number(LAPSE) });
    await w.must([longest], [w.admin]);
    const run = await settled(w);
    await w.must([dispute(w, run), reject(w, run)], [w.caller, w.admin]);
    await w.vm.setClock(START + LAPSE - 1n);
    await w.rejects([close(run), dispute(w, run)], [w.caller], 'CloseTooEarly');
    await w.vm.setClock(START + LAPSE);
    await w.rejects([close(run), dispute(w, run)], [w.caller], 'DisputeWindowClosed');
    await w.must([close(run)], []);
  });

  it('does not pause a listing with an award of zero, even after the tiers have risen', async () => {
    const run = await disputed(w);
    const tiers = [{ maxPrice: 100_000_000n, deposit: 1_000_000_000n }];
    await w.must([program.updateConfig({ admin: w.admin.publicKey, tiers })], [w.admin]);
    const other = await w.open();
    await w.must([w.settleInstruction(other), dispute(w, other)], [w.relay, w.caller]);
    const { events } = await w.moves([uphold(w, run, 0n)], [w.admin], { caller: { lamports: BOND } });
    expect(events[0]?.data).to.include({ listingStatus: 0 });
    expect(await w.read('AgentListing', w.listing)).to.include({ status: 'active' });
    await w.must([uphold(w, other, 1n)], [w.admin]);
    expect(await w.read('AgentListing', w.listing)).to.include({ status: 'paused' });
  });
});
