/**
 * Every stage of an execution at the highest and the lowest rent, with a drop or a rise between any two stages. Nothing
 * may be blocked, and every lamport must be in the right place. fuzz/ has the rents between them. Only on LiteSVM:
 * bankrun checks accounts with the initial rent, whatever its sysvar says.
 */
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { DISPUTE_BYTES, RECORD_BYTES, TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, FEE, GAS_LAMPORTS, PRICE, useWorld, type World, world } from '../harness/vm/world.ts';
import {
  BOND,
  delist,
  dispute,
  ENDED,
  giveBack,
  LAPSE,
  lapse,
  REFUND_AFTER,
  reject,
  SPAN,
  UNARCHIVED,
  uphold,
  WINDOW,
} from './exploits/acts.ts';

const RECORD = BigInt(RECORD_BYTES + 128);
/** A small rise: the record keeps its rent, but not all of its gas above it. Then a rise just beyond. */
const WITHIN_GAS = 6_960n + GAS_LAMPORTS / RECORD;
const BEYOND_GAS = WITHIN_GAS + 1n;
/** The largest fall and rise, from the original rent to the last of SIMD-0437 and back, and the small rises. */
const CHANGES = [
  [6_960n, 696n],
  [696n, 6_960n],
  [6_960n, WITHIN_GAS],
  [6_960n, BEYOND_GAS],
] as const;

/** The part of `asked` that an account can give without falling below its rent. It may be zero after a rise. */
const given = (held: bigint, rent: bigint, asked: bigint) => {
  const above = held > rent ? held - rent : 0n;
  return above < asked ? above : asked;
};

describe('the program at other rents', () => {
  const w = useWorld();
  let run: Execution;
  const sponsor = namedKeypair('rent return');

  beforeEach(async () => {
    await w.vm.airdrop(sponsor.publicKey, 1_000_000n);
    w.watch('sponsor', sponsor.publicKey);
  });

  const held = (account: PublicKey) => w.vm.lamports(account);
  const claimant = () => program.findDispute(run.record);
  const send = (instruction: TransactionInstruction, signers: Keypair[]) => ({
    moving: (expected: Parameters<World['moves']>[2]) => w.moves([instruction], signers, prune(expected)),
  });

  /** Opens. The relay lends the rent, which a third party gets back; the gas balance pays the gas. */
  const open = async () => {
    const input = w.openGrantInput({ rentSponsor: sponsor.publicKey, openBefore: w.vm.now });
    run = w.track(w.execution(input.nonce, input.wallet, input.keyId, input.rentSponsor));
    w.watch('dispute', claimant());
    const [record, escrow] = [w.vm.rent(RECORD_BYTES), w.vm.rent(TOKEN_BYTES)];
    await send(program.openExecutionWithGrant(input), [w.relay]).moving({
      caller: { usdc: -PRICE },
      relay: { lamports: -record - escrow },
      gasBalance: { lamports: -GAS_LAMPORTS },
      record: { lamports: record + GAS_LAMPORTS },
      escrow: { usdc: PRICE, lamports: escrow },
    });
  };
  /** Movements at an execution's end, without the price. */
  const ending = async () => {
    const escrow = await held(run.escrow);
    const gas = given(await held(run.record), w.vm.rent(RECORD_BYTES), GAS_LAMPORTS);
    return {
      relay: { lamports: gas },
      record: { lamports: -gas },
      sponsor: { lamports: escrow },
      escrow: { usdc: -PRICE, lamports: -escrow },
    };
  };
  const settle = async () =>
    send(w.settleInstruction(run), [w.relay]).moving({
      ...(await ending()),
      creator: { usdc: PRICE - FEE },
      treasury: { usdc: FEE },
    });
  const refund = async () =>
    send(w.refundInstruction(run), [w.relay]).moving({ ...(await ending()), caller: { usdc: PRICE } });
  /** A refund by a stranger, after which the gas returns to the gas balance. */
  const expire = async () => {
    await w.vm.setClock(w.vm.now + REFUND_AFTER);
    const { relay: gasBalance, ...others } = await ending();
    await send(w.refundInstruction(run, { authority: w.stranger.publicKey }), [w.stranger]).moving({
      ...others,
      gasBalance,
      caller: { usdc: PRICE },
    });
  };
  const raise = async () => {
    const lamports = w.vm.rent(DISPUTE_BYTES) + BOND;
    await send(dispute(w, run), [w.caller]).moving({ caller: { lamports: -lamports }, dispute: { lamports } });
  };
  const bond = async () => given(await held(claimant()), w.vm.rent(DISPUTE_BYTES), BOND);
  const upheld = async () => {
    const lamports = await bond();
    await send(uphold(w, run, PRICE), [w.admin]).moving({
      caller: { usdc: PRICE, lamports },
      vault: { usdc: -PRICE },
      dispute: { lamports: -lamports },
    });
  };
  const rejected = async () => {
    const lamports = await bond();
    await send(reject(w, run), [w.admin]).moving({ creator: { lamports }, dispute: { lamports: -lamports } });
  };
  const lapsed = async () => {
    await w.vm.setClock(w.vm.now + LAPSE);
    const lamports = await bond();
    await send(lapse(w, run), []).moving({ caller: { lamports }, dispute: { lamports: -lamports } });
  };
  /** Returns everything that is left, including what was kept for the rent. */
  const closeDispute = async () => {
    await w.vm.setClock(w.vm.now + LAPSE);
    const lamports = await held(claimant());
    const close = program.closeDispute({ executionId: run.executionId, rentSponsor: w.caller.publicKey });
    await send(close, []).moving({ caller: { lamports }, dispute: { lamports: -lamports } });
  };
  const close = async () => {
    await w.vm.setClock(w.vm.now + WINDOW + UNARCHIVED + ENDED);
    const lamports = await held(run.record);
    await send(program.closeExecution(run), []).moving({
      sponsor: { lamports },
      record: { lamports: -lamports },
    });
    expect([await held(run.record), await held(run.escrow)]).to.deep.equal([0n, 0n]);
  };

  const LIVES: [string, (() => Promise<unknown>)[]][] = [
    ['open, settle, close', [open, settle, close]],
    ['open, refund, close', [open, refund, close]],
    ['open, refund by a stranger, close', [open, expire, close]],
    ['open, settle, dispute upheld, both closed', [open, settle, raise, upheld, closeDispute, close]],
    ['open, settle, dispute rejected, both closed', [open, settle, raise, rejected, closeDispute, close]],
    ['open, settle, dispute lapsed, both closed', [open, settle, raise, lapsed, closeDispute, close]],
  ];

  for (const [life, stages] of LIVES) {
    for (const [from, to] of CHANGES) {
      it(`stays exact through ${life}, when ${from} becomes ${to} lamports a byte before any one stage`, async () => {
        for (let change = 1; change < stages.length; change += 1) {
          w.vm.setRent(from);
          for (const [at, stage] of stages.entries()) {
            if (at === change) w.vm.setRent(to);
            await stage();
          }
          // The next lifecycle needs an active listing, a live grant and a full vault.
          Object.assign(w, await world());
          await w.vm.airdrop(sponsor.publicKey, 1_000_000n);
          w.watch('sponsor', sponsor.publicKey);
        }
      });
    }
  }

  it('pays only the part of the gas that a small rise leaves above the rent', async () => {
    await open();
    w.vm.setRent(WITHIN_GAS);
    const left = w.vm.rent(RECORD_BYTES);
    const outcome = await w.must([w.settleInstruction(run)], [w.relay]);
    const part = GAS_LAMPORTS % RECORD;
    expect(outcome.events[0]?.data).to.include({ gasLamports: Number(part) });
    expect(await held(run.record)).to.equal(left);
  });

  it('keeps a bond that a rise of the rent has consumed, and returns it with the close', async () => {
    await open();
    await settle();
    await raise();
    const before = await held(claimant());
    // The dispute's account needs all but a thousand lamports of its bond as rent.
    const perByte = (before - 1_000n) / BigInt(DISPUTE_BYTES + 128);
    w.vm.setRent(perByte);
    const kept = w.vm.rent(DISPUTE_BYTES);
    const outcome = await w.must([uphold(w, run, PRICE)], [w.admin]);
    expect(outcome.events[0]?.data).to.include({ bond: before - kept });
    expect((await w.read('Dispute', claimant())).bond).to.equal(BOND - (before - kept));
    await closeDispute();
  });

  for (const [what, end, moved] of [
    ['settles', () => w.settleInstruction(run), { creator: { usdc: PRICE - FEE }, treasury: { usdc: FEE } }],
    ['refunds', () => w.refundInstruction(run), { caller: { usdc: PRICE } }],
  ] as const) {
    it(`${what} after a rise when the sponsor became a program: the money is paid, and the escrow stays`, async () => {
      w.vm.setRent(696n);
      await open();
      w.vm.setRent(6_960n);
      w.vm.setAccount(sponsor.publicKey, (await w.vm.getAccount(program.PROGRAM_ID))!);
      await w.moves([end()], [w.relay], { ...moved, escrow: { usdc: -PRICE } });
      expect(await w.vm.tokens(run.escrow)).to.equal(0n);
      const stranger = w.refundInstruction(run, { authority: w.stranger.publicKey });
      await w.vm.setClock(START + REFUND_AFTER);
      await w.rejects([stranger], [w.stranger], 'ExecutionNotOpen');
    });
  }

  it('closes a vault that a rise of the rent left open, once somebody can receive its rent', async () => {
    await w.must([delist(w)], [w.creator]);
    await w.vm.setClock(START + SPAN);
    const collateral = program.findCollateral(w.listing);
    const vault = program.findCollateralVault(w.listing);
    w.watch('collateral', collateral);
    const lamports = await held(vault);
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

/** Removes zero movements. */
function prune(expected: Record<string, { usdc?: bigint; lamports?: bigint }>) {
  const entries = Object.entries(expected).map(([name, { usdc, lamports }]) => {
    return [name, { ...(usdc && { usdc }), ...(lamports && { lamports }) }] as const;
  });
  return Object.fromEntries(entries.filter(([, moved]) => Object.keys(moved).length > 0));
}
