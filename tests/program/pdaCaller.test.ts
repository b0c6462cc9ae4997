/** Programs as callers and creators: their PDAs sign by CPI, and are paid and refunded like wallets. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { findCallerPda, relayed } from '../harness/vm/caller.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { GAS_LAMPORTS, NO_KEY, PRICE, USDC, useWorld } from '../harness/vm/world.ts';

describe('a caller that is an address of another program', () => {
  const w = useWorld();
  const pda = findCallerPda();

  beforeEach(async () => {
    w.vm.setWallet(pda, w.usdcMint, 10n * USDC);
    w.watch('pda', w.wallet(pda));
  });

  /** Opens by CPI. The stranger pays the rent. */
  const open = async () => {
    const payer = w.stranger.publicKey;
    const input = w.openInput({ caller: pda, payer });
    const execution = w.track(w.execution(input.nonce, pda, NO_KEY, payer));
    return { execution, instruction: program.openExecution(input) };
  };

  it('opens by CPI with a payer of its own, and is settled', async () => {
    const { execution, instruction } = await open();
    const recordRent = w.vm.rent(295);
    const outcome = await w.moves([relayed(instruction)], [w.stranger], {
      pda: { usdc: -PRICE },
      stranger: { lamports: -(recordRent + GAS_LAMPORTS + w.vm.rent(165)) },
      record: { lamports: recordRent + GAS_LAMPORTS },
      escrow: { usdc: PRICE, lamports: w.vm.rent(165) },
    });
    expect(plain(outcome.events[0]?.data)).to.include(
      plain({ caller: pda, rentSponsor: w.stranger.publicKey }) as object,
    );
    await w.moves(
      [w.settleInstruction(execution)],
      [w.relay],
      w.endingOf('settle', { stranger: { lamports: w.vm.rent(165) }, relay: { lamports: GAS_LAMPORTS } }),
    );
  });

  it('refunds itself by CPI from refund_at on, into any account that it owns', async () => {
    const { execution, instruction } = await open();
    await w.must([relayed(instruction)], [w.stranger]);
    const savings = namedKeypair('pda savings').publicKey;
    w.vm.setTokenAccount(savings, { mint: w.usdcMint, owner: pda });
    const refund = relayed(w.refundInstruction(execution, { authority: pda, destination: savings }));
    await w.rejects([refund], [], 'RefundTooEarly');
    await w.vm.setClock(START + 660n);
    await w.must([refund], []);
    expect(await w.vm.tokens(savings)).to.equal(PRICE);
  });
});
