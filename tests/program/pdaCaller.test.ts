/** Programs as callers and creators: their PDAs sign by CPI, and are paid and refunded like wallets. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { findCallerPda, printed, relayed } from '../harness/vm/caller.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { FEE, GAS_LAMPORTS, NO_KEY, PRICE, USDC, type World, world } from '../harness/vm/world.ts';

describe('a caller that is an address of another program', () => {
  let w: World;
  const pda = findCallerPda();

  beforeEach(async () => {
    w = await world();
    w.vm.setWallet(pda, w.usdcMint, 10n * USDC);
    w.watch('pda', w.wallet(pda));
  });

  /** Opens by CPI. The stranger pays the rent. */
  const open = async () => {
    const payer = w.stranger.publicKey;
    const input = w.openInput({ caller: pda, payer });
    const execution = w.execution(input.nonce, pda, NO_KEY, payer);
    w.watch('escrow', execution.escrow);
    w.watch('record', execution.record);
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
    await w.moves([w.settleInstruction(execution)], [w.relay], {
      creator: { usdc: PRICE - FEE },
      treasury: { usdc: FEE },
      stranger: { lamports: w.vm.rent(165) },
      relay: { lamports: GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE, lamports: -w.vm.rent(165) },
    });
  });

  it('gets its refund into its associated account', async () => {
    const { execution, instruction } = await open();
    await w.must([relayed(instruction)], [w.stranger]);
    await w.moves([w.refundInstruction(execution)], [w.relay], {
      pda: { usdc: PRICE },
      stranger: { lamports: w.vm.rent(165) },
      relay: { lamports: GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE, lamports: -w.vm.rent(165) },
    });
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

  it('opens two executions in one transaction', async () => {
    const [first, second] = [await open(), await open()];
    await w.must([relayed(first.instruction), relayed(second.instruction)], [w.stranger]);
    expect(await w.vm.tokens(w.wallet(pda))).to.equal(10n * USDC - 2n * PRICE);
  });

  it('rejects: an open whose PDA does not sign', async () => {
    const { instruction } = await open();
    const unsigned = relayed(instruction, 1, 'another seed');
    for (const key of unsigned.keys) if (key.pubkey.equals(pda)) key.isSigner = false;
    await w.rejects([unsigned], [w.stranger], 'AccountNotSigner');
  });

  it('rejects: the same open twice by one call', async () => {
    const { instruction } = await open();
    await w.rejects([relayed(instruction, 2)], [w.stranger], 'AccountExists');
  });

  it('grants and revokes a key by CPI', async () => {
    const keyId = new Uint8Array(16).fill(0x55);
    const limits = w.grantInput().limits;
    const grant = program.createGrant({ wallet: pda, payer: w.stranger.publicKey, keyId, limits });
    await w.must([relayed(grant)], [w.stranger]);
    const spender = program.approveSpender({ wallet: pda, usdcMint: w.usdcMint, amount: 5n * USDC });
    await w.must([relayed(spender)], []);
    await w.must([program.depositGas({ from: w.stranger.publicKey, wallet: pda, lamports: 1_000_000n })], [w.stranger]);
    await w.openWithGrant({ wallet: pda, keyId });
    expect(await w.vm.tokens(w.wallet(pda))).to.equal(10n * USDC - PRICE);
    await w.must([relayed(program.revokeGrant({ authority: pda, wallet: pda, keyId }))], []);
    await w.rejects(
      [program.openExecutionWithGrant(w.openGrantInput({ wallet: pda, keyId }))],
      [w.relay],
      'GrantRevoked',
    );
  });

  it('lists an agent by CPI', async () => {
    const signingKey = namedKeypair('pda key');
    const change = { creator: pda, payer: w.stranger.publicKey, signingKey: signingKey.publicKey };
    const list = w.listInstruction(change, signingKey);
    const unproved = w.listInstruction({ ...change, possession: new Uint8Array(64) });
    await w.rejects([relayed(unproved)], [w.stranger], 'SignatureInvalid');
    await w.must([relayed(list)], [w.stranger]);
    const listing = await w.read('AgentListing', program.findListing(pda, w.listingId));
    expect(listing.creator.toBase58()).to.equal(pda.toBase58());
    expect(await w.vm.tokens(w.wallet(pda))).to.equal(0n);
  });

  it('prints no event of the marketplace, even with lines that look like one', async () => {
    const { events } = await w.must(
      [
        program.revokeGrant({
          authority: w.caller.publicKey,
          wallet: w.caller.publicKey,
          keyId: w.keyId,
        }),
      ],
      [w.caller],
    );
    expect(events.map((event) => event.name)).to.deep.equal(['GrantRevoked']);
    const discriminator = program.idl.events!.find((event) => event.name === 'GrantRevoked')!.discriminator;
    const forged = Buffer.concat([Buffer.from(discriminator), Buffer.alloc(80)]);
    const outcome = await w.must([printed(forged, 'Program data: AAAA')], []);
    expect(outcome.logs.some((log) => log.startsWith('Program data: '))).to.equal(true);
    expect(outcome.events).to.deep.equal([]);
  });
});
