/** A call paid by the gas balance: its fee to the payer, its gas in the record, and the escrow's rent that it lends. */
import { type Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { RECORD_BYTES, TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, FEE, GAS, GAS_BALANCE, GAS_LAMPORTS, PRICE, useWorld } from '../harness/vm/world.ts';
import { closeGrant, ENDED, REFUND_AFTER, swap, tip } from './exploits/acts.ts';

/** What the open itself costs, lamports. */
const OPEN_FEE = 5_678;
const PAID = BigInt(OPEN_FEE);

describe('a gas balance that pays a call and lends its escrow', () => {
  const w = useWorld();
  let run: Execution;
  let gasBalance: PublicKey;
  const sponsor = namedKeypair('rent return');

  beforeEach(async () => {
    gasBalance = program.findSpender(w.caller.publicKey);
    await w.vm.airdrop(sponsor.publicKey, 1_000_000n);
    w.watch('sponsor', sponsor.publicKey);
    const { limits } = w.grantInput({ maxGasLamports: GAS + OPEN_FEE });
    await w.must([program.updateGrant({ wallet: w.caller.publicKey, keyId: w.keyId, limits })], [w.caller]);
  });

  const recordRent = () => w.vm.rent(RECORD_BYTES);
  const escrowRent = () => w.vm.rent(TOKEN_BYTES);
  const holds = (lamports: bigint) =>
    w.vm.setAccount(gasBalance, { lamports, owner: SystemProgram.programId, data: new Uint8Array() });
  /** The open. The relay lends the record's rent, which a third party gets back. */
  const prepare = (change: Partial<program.OpenExecutionWithGrantInput> = {}) => {
    const input = w.openGrantInput({
      ...{ feeLamports: OPEN_FEE, spenderLendsEscrow: true, rentSponsor: sponsor.publicKey },
      ...change,
    });
    run = w.track(w.execution(input.nonce, input.wallet, input.keyId, input.rentSponsor));
    return program.openExecutionWithGrant(input);
  };
  const open = (change: Partial<program.OpenExecutionWithGrantInput> = {}) => w.must([prepare(change)], [w.relay]);
  const refund = (who: Keypair) => w.refundInstruction(run, { authority: who.publicKey });
  const closeRecord = async () => {
    await w.vm.setClock(w.vm.now + ENDED);
    const { executionId, rentSponsor } = run;
    await w.moves([program.closeExecution({ executionId, rentSponsor })], [], {
      sponsor: { lamports: recordRent() },
      record: { lamports: -recordRent() },
    });
  };

  it('pays the fee to the payer and the gas into the record, lends the escrow only, and says so', async () => {
    const { events } = await w.moves([prepare()], [w.relay], {
      caller: { usdc: -PRICE },
      relay: { lamports: PAID - recordRent() },
      gasBalance: { lamports: -PAID - GAS_LAMPORTS - escrowRent() },
      record: { lamports: recordRent() + GAS_LAMPORTS },
      escrow: { usdc: PRICE, lamports: escrowRent() },
    });
    expect(events[0]?.data).to.include({ feeLamports: OPEN_FEE, gasLamports: GAS, spenderLendsEscrow: true });
    const record = await w.read('ExecutionRecord', run.record);
    expect(record.spenderBump).to.equal(program.findSpenderBump(w.caller.publicKey));
    expect(record.rentSponsor.equals(sponsor.publicKey)).to.equal(true);
  });

  for (const [kind, who] of [
    ['settle', 'relay'],
    ['refund', 'relay'],
    ['refund', 'stranger'],
    ['refund', 'caller'],
  ] as const) {
    const isRelay = who === 'relay';
    const what = isRelay ? 'the rent; the relay keeps fee and gas' : 'rent and gas; the fee stays paid';
    it(`gets back at a ${kind} by the ${who}: ${what}`, async () => {
      await open();
      if (!isRelay) await w.vm.setClock(START + REFUND_AFTER);
      if (who === 'caller') await w.must([closeGrant(w)], [w.caller]);
      const end = kind === 'settle' ? w.settleInstruction(run) : refund(w[who]);
      const [gas, back] = isRelay ? [GAS_LAMPORTS, 0n] : [0n, GAS_LAMPORTS];
      const relay = isRelay && { relay: { lamports: gas } };
      await w.moves([end], [w[who]], w.endingOf(kind, { ...relay, gasBalance: { lamports: escrowRent() + back } }));
      if (kind === 'refund') await closeRecord();
      expect(await w.vm.lamports(gasBalance)).to.equal(GAS_BALANCE - PAID - gas);
    });
  }

  for (const [what, end, moved] of [
    ['settle', () => w.settleInstruction(run), { creator: { usdc: PRICE - FEE }, treasury: { usdc: FEE } }],
    ['refund', () => refund(w.relay), { caller: { usdc: PRICE } }],
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

  it("rejects: a settle or refund that names another account than the lender's, and moves nothing", async () => {
    await open();
    const [relay, caller] = [w.relay.publicKey, w.caller.publicKey];
    for (const spender of [sponsor.publicKey, relay, caller, program.findSpender(w.stranger.publicKey)]) {
      await w.rejects([swap(w.settleInstruction(run), { spender })], [w.relay], 'WrongAddress');
      await w.rejects([swap(refund(w.relay), { spender })], [w.relay], 'WrongAddress');
    }
  });

  it('settles with any account in its place if the sponsor lent the escrow, and gives it nothing', async () => {
    await open({ spenderLendsEscrow: false });
    const spender = program.findSpender(w.stranger.publicKey);
    await w.moves(
      [swap(w.settleInstruction(run), { spender })],
      [w.relay],
      w.endingOf('settle', { relay: { lamports: GAS_LAMPORTS }, sponsor: { lamports: escrowRent() } }),
    );
  });
});
