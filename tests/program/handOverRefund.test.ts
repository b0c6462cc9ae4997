/** hand_over_refund and close_escrow end a refund that the caller's account cannot receive, and return all rent. */

import {
  AuthorityType,
  createCloseAccountInstruction,
  createSetAuthorityInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import type { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, GAS, GAS_LAMPORTS, PRICE, type World, world } from '../harness/vm/world.ts';
import { ENDED, emptyAndClose, freeze, give, RECORD_BYTES, swap, TOKEN_BYTES } from './exploits/acts.ts';

const REFUND_AT = START + 660n;
const DUE = REFUND_AT + 604_800n;

describe('hand_over_refund', () => {
  let w: World;
  let execution: Execution;
  const lender = namedKeypair('lender').publicKey;

  beforeEach(async () => {
    w = await world();
    await w.vm.airdrop(lender, 1_000_000n);
    execution = await w.openWithGrant({ rentSponsor: lender });
    w.watch('lender', lender);
    w.watch('record', execution.record);
    w.watch('escrow', execution.escrow);
  });

  const handOver = (change: Partial<program.HandOverRefundInput> = {}, run = execution) => {
    const { executionId, listing, caller, keyId, rentSponsor } = run;
    const input = { authority: w.stranger.publicKey, executionId, listing, caller, keyId, rentSponsor };
    return program.handOverRefund({ ...input, destination: w.wallet(caller), ...change });
  };
  const closeEscrow = (rentSponsor: PublicKey = lender) =>
    program.closeEscrow({ executionId: execution.executionId, rentSponsor });
  const due = async () => {
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE);
  };

  it('gives the escrow account to its caller, ends the record, and returns all rent to its lenders', async () => {
    await due();
    const before = await w.read('ExecutionRecord', execution.record);
    const { events } = await w.moves([handOver()], [w.stranger], {
      tank: { lamports: GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
    });
    expect(plain(events)).to.deep.equal([
      {
        name: 'ExecutionRefunded',
        data: plain({
          record: execution.record,
          executionId: execution.executionId,
          listing: w.listing,
          caller: w.caller.publicKey,
          amount: PRICE,
          reason: 5,
          refundedAt: DUE,
          grantRestored: true,
          grantTotalSpent: 0n,
          grantPeriodSpent: 0n,
          exposureWindowStart: START,
          exposureOpened: 0n,
          gasTo: program.findSpender(w.caller.publicKey),
          gasLamports: GAS,
          handedOver: true,
        }),
      },
    ]);
    expect(plain(await w.read('ExecutionRecord', execution.record))).to.deep.equal(
      plain({ ...before, status: 'refunded', settledAt: DUE }),
    );
    const { collateral, grant } = {
      collateral: await w.read('CreatorCollateral', program.findCollateral(w.listing)),
      grant: await w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId)),
    };
    expect(collateral.exposureOpened).to.equal(0n);
    expect(grant).to.include({ totalSpent: 0n, periodSpent: 0n });
    await w.rejects([handOver()], [w.stranger], 'ExecutionNotOpen');
    await w.rejects([w.refundInstruction(execution)], [w.relay], 'RefundDestinationUnusable');

    // The record's rent is returned without waiting for the caller.
    await w.vm.setClock(DUE + ENDED);
    await w.moves([program.closeExecution({ executionId: execution.executionId, rentSponsor: lender })], [], {
      lender: { lamports: w.vm.rent(RECORD_BYTES) },
      record: { lamports: -w.vm.rent(RECORD_BYTES) },
    });

    // The caller can spend from the account. Only the program can close it, and returns the rent to its lender.
    await w.rejects([closeEscrow()], [], 'EscrowNotEmpty');
    const { caller, stranger } = w;
    const close = createCloseAccountInstruction(execution.escrow, caller.publicKey, caller.publicKey);
    const take = createSetAuthorityInstruction(
      execution.escrow,
      caller.publicKey,
      AuthorityType.CloseAccount,
      caller.publicKey,
    );
    const spend = (amount: bigint) =>
      createTransferInstruction(execution.escrow, w.wallet(stranger), caller.publicKey, amount);
    await w.moves([spend(PRICE - 1n)], [caller], { escrow: { usdc: 1n - PRICE }, stranger: { usdc: PRICE - 1n } });
    await w.rejects([closeEscrow()], [], 'EscrowNotEmpty');
    await w.must([give(w, stranger, execution.escrow, 5n), spend(6n)], [stranger, caller]);
    for (const theft of [close, take]) await w.rejects([theft], [caller]);
    await w.rejects([closeEscrow(stranger.publicKey)], [], 'WrongRentSponsor');
    await w.rejects([closeEscrow(caller.publicKey)], [], 'WrongRentSponsor');

    const rent = w.vm.rent(TOKEN_BYTES);
    const closed = await w.moves([closeEscrow()], [], { lender: { lamports: rent }, escrow: { lamports: -rent } });
    expect(plain(closed.events)).to.deep.equal([
      { name: 'EscrowClosed', data: plain({ record: execution.record, rentSponsor: lender, lamports: rent }) },
    ]);
    expect(await w.vm.getAccount(execution.escrow)).to.equal(null);
    await w.rejects([closeEscrow()], [], 'EscrowNotHandedOver');
  });

  it('pays the gas to a relay authority that hands over, and to the rent sponsor if the wallet opened', async () => {
    const own = await w.open({ rentSponsor: lender });
    await w.vm.setClock(DUE);
    await freeze(w, w.wallet(w.caller));
    await w.moves([handOver({}, own)], [w.stranger], { lender: { lamports: GAS_LAMPORTS } });
    await w.moves([handOver({ authority: w.relay.publicKey })], [w.relay], {
      relay: { lamports: GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
    });
  });

  it('rejects: a hand-over before its time, or while the caller’s account can receive', async () => {
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE - 1n);
    for (const who of [w.stranger, w.relay, w.caller]) {
      await w.rejects([handOver({ authority: who.publicKey })], [who], 'HandOverTooEarly');
    }
    await w.vm.setClock(DUE);
    w.vm.setTokenAccount(w.wallet(w.caller), { mint: w.usdcMint, owner: w.caller.publicKey });
    await w.rejects([handOver()], [w.stranger], 'RefundDeliverable');
    w.vm.setTokenAccount(w.wallet(w.caller), { mint: w.usdcMint, owner: w.stranger.publicKey });
    await w.must([handOver()], [w.stranger]);
  });

  it('rejects: any other destination, sponsor, grant, gas balance, escrow or collateral', async () => {
    const other = await w.openWithGrant();
    await due();
    const missing = w.wallet(namedKeypair('nobody').publicKey);
    await w.rejects([handOver({ destination: missing })], [w.stranger], 'WrongRefundDestination');
    await w.rejects(
      [handOver({ authority: w.caller.publicKey, destination: missing })],
      [w.caller],
      'WrongRefundDestination',
    );
    await w.rejects([handOver({ rentSponsor: w.stranger.publicKey })], [w.stranger], 'WrongRentSponsor');
    await w.rejects([handOver({ keyId: new Uint8Array(16).fill(0x66) })], [w.stranger], 'WrongGrant');
    for (const [name, address, error] of [
      ['escrow', other.escrow, 'WrongAddress'],
      ['spender', program.findSpender(w.stranger.publicKey), 'WrongAddress'],
    ] as const) {
      await w.rejects([swap(handOver(), { [name]: address })], [w.stranger], error);
    }
    await w.rejects([closeEscrow()], [], 'EscrowNotHandedOver');
  });
});
