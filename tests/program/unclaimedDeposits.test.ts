/** Deposits whose refund the caller's account cannot receive: moved, as executions' refunds are, and claimed once. */
import type { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { DEPOSIT_BYTES, TOKEN_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { PRICE, SERVICE_FEE, type World } from '../harness/vm/world.ts';
import { emptyAndClose, freeze, give, thaw } from './exploits/acts.ts';
import { CLAIM_BYTES, HOUR, lender, unclaimed, useUnclaimed } from './unclaimed.ts';

describe('unclaimed refunds of deposits:', () => {
  const kit = useUnclaimed();
  const { place, kept, claim, remade } = kit;
  let w: World;
  let quote: program.DepositQuote;
  let deposit: program.DepositAddress;
  const PAID = PRICE + SERVICE_FEE;
  const EXPIRED = 600n;

  beforeEach(() => {
    w = kit.w;
    quote = w.quote();
    deposit = program.depositAddress(quote);
    w.watch('deposit', deposit.address);
    w.watch('deposit vault', deposit.vault);
  });

  const prepared = async (amount = PAID) => {
    await w.must([program.prepareDeposit(w.prepareInput(quote, { rentSponsor: lender }))], [w.relay]);
    await w.must([w.pay(deposit.vault, amount)], [w.caller]);
  };
  const moveDeposit = (by: Keypair = w.stranger) =>
    program.moveUnclaimedDeposit({
      ...{ authority: by.publicKey, deposit: deposit.address, rentSponsor: lender, caller: w.caller.publicKey },
      ...{ usdcMint: w.usdcMint, ...place() },
    });
  const rents = () => w.vm.rent(DEPOSIT_BYTES) + w.vm.rent(TOKEN_BYTES);
  /** What moves when deposit and vault close. */
  const gone = (usdc: bigint) => ({
    deposit: { lamports: -w.vm.rent(DEPOSIT_BYTES) },
    'deposit vault': { usdc: -usdc, lamports: -w.vm.rent(TOKEN_BYTES) },
    lender: { lamports: rents() },
  });

  it('the open race: a payer who opens with the quote’s nonce and closes its account locks nothing', async () => {
    await prepared();
    const terms = quote.terms as program.DepositTerms;
    const own = w.openInput({ nonce: terms.nonce });
    await w.must([program.openExecution(own)], [w.caller]);
    await emptyAndClose(w, w.caller);
    const ours = program.openExecutionFromDeposit(
      w.openDepositInput(own, deposit.address, { depositRentSponsor: lender }),
    );
    await w.rejects([ours], [w.relay], 'AccountExists');
    const back = w.refundDepositInstruction(deposit.address, { rentSponsor: lender });
    await w.rejects([back], [w.relay], 'RefundDestinationUnusable');
    await w.vm.setClock(START + EXPIRED + HOUR - 1n);
    await w.rejects([moveDeposit(w.relay)], [w.relay], 'MoveTooEarly');
    await w.vm.setClock(START + EXPIRED + HOUR);
    // By a relay the service fee is kept, so such a payer pays for the transactions.
    const { events } = await w.moves([moveDeposit(w.relay)], [w.relay], {
      ...gone(PAID),
      unclaimed: { usdc: PRICE },
      treasury: { usdc: SERVICE_FEE },
    });
    const { address } = deposit;
    const told = { deposit: address, caller: w.caller.publicKey, destination: unclaimed, amount: PRICE };
    const leaf = { archive: kit.archive.address, tree: kit.archive.tree.publicKey, leafIndex: 0 };
    const data = { ...told, serviceFee: SERVICE_FEE, refundedAt: w.vm.now, closed: true, unclaimed: leaf };
    expect(plain(events)).to.deep.equal([{ name: 'DepositRefunded', data: plain(data) }]);
    expect(await w.vm.getAccount(address)).to.equal(null);
    expect(await w.vm.getAccount(deposit.vault)).to.equal(null);
    const refund = kept(address, w.caller.publicKey, PRICE);
    await w.must([remade()], [w.stranger]);
    await w.moves([claim(refund)], [w.caller], {
      unclaimed: { usdc: -PRICE },
      caller: { usdc: PRICE, lamports: -w.vm.rent(CLAIM_BYTES) },
    });
  });

  it('by a stranger everything goes to the unclaimed refunds, and two deposits at one address are two leaves', async () => {
    await prepared();
    const again = give(w, w.caller, w.wallet(w.stranger), 900_000_000n);
    await w.must([again], [w.caller]);
    await freeze(w, w.wallet(w.caller));
    await w.vm.setClock(START + EXPIRED + HOUR);
    await w.moves([moveDeposit()], [w.stranger], { ...gone(PAID), unclaimed: { usdc: PAID } });
    const first = kept(deposit.address, w.caller.publicKey, PAID);
    await thaw(w, w.wallet(w.caller));
    await prepared();
    await freeze(w, w.wallet(w.caller));
    await w.vm.setClock(w.vm.now + EXPIRED + HOUR);
    await w.moves([moveDeposit()], [w.stranger], { ...gone(PAID), unclaimed: { usdc: PAID } });
    const second = kept(deposit.address, w.caller.publicKey, PAID);
    await thaw(w, w.wallet(w.caller));
    for (const [index, refund] of [first, second].entries()) {
      await w.must([claim(refund, index)], [w.caller]);
      await w.rejects([claim(refund, index)], [w.caller], 'RefundAlreadyClaimed');
    }
    expect(await w.vm.tokens(unclaimed)).to.equal(0n);
  });

  it('an unpaid one waits for its day and an hour, and one that holds nothing makes no leaf', async () => {
    await prepared(5n);
    await freeze(w, w.wallet(w.caller));
    await w.vm.setClock(START + 86_400n + HOUR - 1n);
    await w.rejects([moveDeposit()], [w.stranger], 'MoveTooEarly');
    await w.vm.setClock(START + 86_400n + HOUR);
    // A relay's share of an unpaid one is all of it, so nothing is left to claim: it refunds instead.
    await w.rejects([moveDeposit(w.relay)], [w.relay], 'InvalidAmount');
    await w.moves([moveDeposit()], [w.stranger], { ...gone(5n), unclaimed: { usdc: 5n } });
  });

  it('rejects: a caller whose account can receive, and a full archive', async () => {
    await prepared();
    await w.vm.setClock(START + EXPIRED + HOUR);
    await w.rejects([moveDeposit()], [w.stranger], 'RefundDeliverable');
    await freeze(w, w.wallet(w.caller));
    await kit.archive.setCount(program.constants.archiveCapacity);
    await w.rejects([moveDeposit()], [w.stranger], 'ArchiveFull');
  });
});
