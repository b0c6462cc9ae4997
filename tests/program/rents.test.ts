/**
 * What the highest and the lowest rent change: gas, bonds and vaults that a rise has consumed in part or in whole. fuzz/
 * has falls and rises between all steps. Only on LiteSVM: bankrun checks accounts with the initial rent, whatever its
 * sysvar says.
 */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { DISPUTE_BYTES, RECORD_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, FEE, GAS_LAMPORTS, PRICE, useWorld } from '../harness/vm/world.ts';
import { BOND, delist, disputed, giveBack, LAPSE, SPAN, uphold } from './exploits/acts.ts';

const RECORD = BigInt(RECORD_BYTES + 128);
/** A rise after which the record keeps its rent, but not all of its gas above it. */
const WITHIN_GAS = 6_960n + GAS_LAMPORTS / RECORD;

describe('the program at other rents', () => {
  const w = useWorld();
  let run: Execution;
  const sponsor = namedKeypair('rent return');

  beforeEach(async () => {
    await w.vm.airdrop(sponsor.publicKey, 1_000_000n);
    w.watch('sponsor', sponsor.publicKey);
  });

  const open = async () => {
    run = w.track(await w.openWithGrant({ rentSponsor: sponsor.publicKey }));
  };
  const ENDS = [
    ['settles', () => w.settleInstruction(run), { creator: { usdc: PRICE - FEE }, treasury: { usdc: FEE } }],
    ['refunds', () => w.refundInstruction(run), { caller: { usdc: PRICE } }],
  ] as const;

  for (const [what, end, moved] of ENDS) {
    it(`${what} after a small rise: of the gas, only the part above the rent is paid`, async () => {
      await open();
      const escrow = await w.vm.lamports(run.escrow);
      w.vm.setRent(WITHIN_GAS);
      const part = GAS_LAMPORTS % RECORD;
      const { events } = await w.moves([end()], [w.relay], {
        ...moved,
        relay: { lamports: part },
        record: { lamports: -part },
        sponsor: { lamports: escrow },
        escrow: { usdc: -PRICE, lamports: -escrow },
      });
      expect(events[0]?.data).to.include({ gasLamports: Number(part) });
      expect(await w.vm.lamports(run.record)).to.equal(w.vm.rent(RECORD_BYTES));
    });
  }

  it('keeps a bond that a rise of the rent has consumed, and returns it with the close', async () => {
    run = await disputed(w);
    const claimant = program.findDispute(run.record);
    w.watch('dispute', claimant);
    const before = await w.vm.lamports(claimant);
    // The dispute's account needs all but a thousand lamports of its bond as rent.
    w.vm.setRent((before - 1_000n) / BigInt(DISPUTE_BYTES + 128));
    const kept = w.vm.rent(DISPUTE_BYTES);
    const outcome = await w.must([uphold(w, run, PRICE)], [w.admin]);
    expect(outcome.events[0]?.data).to.include({ bond: before - kept });
    expect((await w.read('Dispute', claimant)).bond).to.equal(BOND - (before - kept));
    await w.vm.setClock(w.vm.now + LAPSE);
    const close = program.closeDispute({ executionId: run.executionId, rentSponsor: w.caller.publicKey });
    await w.moves([close], [], { caller: { lamports: kept }, dispute: { lamports: -kept } });
  });

  it('closes a vault that a rise of the rent left open, once somebody can receive its rent', async () => {
    await w.must([delist(w)], [w.creator]);
    await w.vm.setClock(START + SPAN);
    const collateral = program.findCollateral(w.listing);
    const vault = program.findCollateralVault(w.listing);
    w.watch('collateral', collateral);
    const lamports = await w.vm.lamports(vault);
    // The sponsor, which is the creator, is now a program, and the collateral account is below its own rent.
    w.vm.setAccount(w.creator.publicKey, (await w.vm.getAccount(program.PROGRAM_ID))!);
    w.vm.setRent(69_600n);
    const usdc = (await w.vm.tokens(vault))!;
    const first = await w.moves([giveBack(w)], [], { creator: { usdc }, vault: { usdc: -usdc } });
    expect(first.events[0]?.data).to.include({ amount: usdc, vaultClosed: false });
    await w.rejects([giveBack(w)], [], 'CollateralNotReturnable');

    w.vm.setRent(6_960n);
    const closed = await w.moves([giveBack(w)], [], { collateral: { lamports }, vault: { lamports: -lamports } });
    expect(closed.events[0]?.data).to.include({ amount: 0n, owed: 0n, vaultClosed: true });
    expect(await w.vm.getAccount(vault)).to.equal(null);
    await w.rejects([giveBack(w)], [], 'CollateralNotReturnable');
  });
});
