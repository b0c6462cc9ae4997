/** open_execution: a wallet funds an escrow, exactly at the terms that it has seen. opens.test.ts has the refusals. */
import { AccountLayout, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { RECORD_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { GAS, GAS_LAMPORTS, GRACE, NO_KEY, PRICE, TIMEOUT, USDC, useWorld } from '../harness/vm/world.ts';

describe('open_execution', () => {
  const w = useWorld();

  const open = (change: Partial<program.OpenExecutionInput> = {}) => program.openExecution(w.openInput(change));
  const rejects = (change: Partial<program.OpenExecutionInput>, error: string) =>
    w.rejects([open(change)], [w.caller], error);
  const rents = () => w.vm.rent(RECORD_BYTES) + w.vm.rent(165);

  it('moves the price into its own escrow and writes the agreed terms', async () => {
    const input = w.openInput({ payer: w.relay.publicKey });
    const record = program.findExecution(input.executionId);
    const escrow = program.findEscrow(record);
    w.watch('record', record);
    w.watch('escrow', escrow);
    await w.moves([program.openExecution(input)], [w.caller, w.relay], {
      caller: { usdc: -PRICE },
      relay: { lamports: -(rents() + GAS_LAMPORTS) },
      record: { lamports: w.vm.rent(RECORD_BYTES) + GAS_LAMPORTS },
      escrow: { usdc: PRICE, lamports: w.vm.rent(165) },
    });

    const [, bump] = PublicKey.findProgramAddressSync(
      [Buffer.from('execution'), input.executionId],
      program.PROGRAM_ID,
    );
    const seeds = [Buffer.from('escrow'), record.toBytes()];
    const [, escrowBump] = PublicKey.findProgramAddressSync(seeds, program.PROGRAM_ID);
    const terms = {
      executionId: input.executionId,
      listing: w.listing,
      caller: w.caller.publicKey,
      signingKey: w.signingKey.publicKey,
      keyId: NO_KEY,
      rentSponsor: w.relay.publicKey,
      price: PRICE,
      feeBps: 100,
      listingVersion: 1,
      requestHash: input.requestHash,
      openedAt: START,
      deadline: START + BigInt(TIMEOUT),
      refundAt: START + BigInt(TIMEOUT + GRACE),
      disputeWindowSeconds: 259_200,
      gasLamports: GAS,
    };
    expect((await w.vm.getAccount(record))!.data.length).to.equal(RECORD_BYTES);
    expect(plain(await w.read('ExecutionRecord', record))).to.deep.equal(
      plain({
        ...terms,
        version: 1,
        status: 'open',
        bump,
        escrowBump,
        spenderBump: 0,
        resultHash: new Uint8Array(32),
        settledAt: 0n,
        executionTimeMs: 0,
      }),
    );
    const token = AccountLayout.decode((await w.vm.getAccount(escrow))!.data);
    expect([token.owner.toBase58(), token.mint.toBase58()]).to.deep.equal([record.toBase58(), w.usdcMint.toBase58()]);
    expect([token.delegateOption, token.closeAuthorityOption, token.state]).to.deep.equal([0, 0, 1]);
  });

  it('pays from any USDC account of the caller, down to its last unit', async () => {
    const source = namedKeypair('savings').publicKey;
    w.vm.setTokenAccount(source, { mint: w.usdcMint, owner: w.caller.publicKey, amount: PRICE });
    const execution = await w.open({ source });
    expect(await w.vm.tokens(source)).to.equal(0n);
    expect(await w.vm.tokens(execution.escrow)).to.equal(PRICE);
  });

  it("rejects: another owner's account, another token, too little USDC, a frozen account", async () => {
    await rejects({ source: w.wallet(w.stranger) }, 'InvalidSource');
    // An account of Token-2022 with the bytes of a USDC account.
    const look = namedKeypair('look-alike').publicKey;
    w.vm.setTokenAccount(look, { mint: w.usdcMint, owner: w.caller.publicKey, amount: PRICE });
    w.vm.setAccount(look, { ...(await w.vm.getAccount(look))!, owner: TOKEN_2022_PROGRAM_ID });
    await rejects({ source: look }, 'InvalidSource');
    const otherMint = namedKeypair('other mint').publicKey;
    w.vm.setMint(otherMint, w.mintAuthority.publicKey);
    await rejects({ source: w.vm.setWallet(w.caller.publicKey, otherMint, 5n * USDC) }, 'InvalidSource');
    w.vm.setWallet(w.caller.publicKey, w.usdcMint, PRICE - 1n);
    await rejects({}, 'InsufficientBalance');
    const frozen = { mint: w.usdcMint, owner: w.caller.publicKey, amount: PRICE, frozen: true };
    w.vm.setTokenAccount(w.wallet(w.caller), frozen);
    await rejects({}, 'token:17');
  });
});
