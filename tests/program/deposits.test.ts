/** Deposits: prepared by the relay, paid by a plain transfer, then opened as an execution or refunded. */
import { AccountLayout } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { DEPOSIT_BYTES, RECORD_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { GAS_LAMPORTS, NO_KEY, PRICE, SERVICE_FEE, useWorld } from '../harness/vm/world.ts';

const PAID = PRICE + SERVICE_FEE;

describe('deposits:', () => {
  const w = useWorld();
  let open: program.OpenTerms;
  let quote: program.DepositQuote;
  let place: program.DepositAddress;

  beforeEach(async () => {
    open = w.openTerms();
    quote = w.quote(open);
    place = program.depositAddress(quote);
    w.watch('deposit', place.address);
    w.watch('deposit vault', place.vault);
  });

  const prepare = (change: Partial<program.PrepareDepositInput> = {}) =>
    program.prepareDeposit(w.prepareInput(quote, change));
  const prepared = () => w.must([prepare()], [w.relay]);
  const pay = (amount = PAID) => w.must([w.pay(place.vault, amount)], [w.caller]);
  const openInstruction = (change: Partial<program.OpenExecutionFromDepositInput> = {}) =>
    program.openExecutionFromDeposit(w.openDepositInput(open, place.address, change));
  const rents = () => w.vm.rent(DEPOSIT_BYTES) + w.vm.rent(165);
  const refund = (change: Partial<program.RefundDepositInput> = {}) =>
    w.refundDepositInstruction(place.address, change);
  const executionOf = () => w.execution(open.nonce, w.caller.publicKey, NO_KEY, w.relay.publicKey);
  /** The changes of deposit and vault when they close. */
  const gone = (usdc: bigint) => ({
    deposit: { lamports: -w.vm.rent(DEPOSIT_BYTES) },
    'deposit vault': { ...(usdc > 0n && { usdc: -usdc }), lamports: -w.vm.rent(165) },
  });

  it('prepares deposit and vault by the relay, which lends the rent', async () => {
    await w.moves([prepare()], [w.relay], {
      relay: { lamports: -rents() },
      deposit: { lamports: w.vm.rent(DEPOSIT_BYTES) },
      'deposit vault': { lamports: w.vm.rent(165) },
    });
    const [address, bump] = PublicKey.findProgramAddressSync([Buffer.from('deposit'), place.hash], program.PROGRAM_ID);
    expect(address.toBase58()).to.equal(place.address.toBase58());
    const account = (await w.vm.getAccount(place.address))!;
    expect(account.data.length).to.equal(DEPOSIT_BYTES);
    const { vaultBump, ...fields } = await w.read('Deposit', place.address);
    const shared = {
      caller: w.caller.publicKey,
      rentSponsor: w.relay.publicKey,
      price: PRICE,
      serviceFee: SERVICE_FEE,
      preparedAt: START,
      expiresAt: START + 600n,
    };
    expect(plain(fields)).to.deep.equal(plain({ version: 1, bump, hash: place.hash, ...shared }));
    const token = AccountLayout.decode((await w.vm.getAccount(place.vault))!.data);
    expect([token.owner.toBase58(), token.mint.toBase58()]).to.deep.equal([address.toBase58(), w.usdcMint.toBase58()]);
    expect(vaultBump).to.be.within(0, 255);
  });

  it('opens an execution, pays the service fee to the treasury, and returns the rent', async () => {
    await prepared();
    await w.moves([w.pay(place.vault, PAID)], [w.caller], {
      caller: { usdc: -PAID },
      'deposit vault': { usdc: PAID },
    });
    const execution = w.track(executionOf());
    const outcome = await w.moves([openInstruction()], [w.relay], {
      deposit: { lamports: -w.vm.rent(DEPOSIT_BYTES) },
      'deposit vault': { usdc: -PAID, lamports: -w.vm.rent(165) },
      treasury: { usdc: SERVICE_FEE },
      record: { lamports: w.vm.rent(RECORD_BYTES) + GAS_LAMPORTS },
      escrow: { usdc: PRICE, lamports: w.vm.rent(165) },
      relay: { lamports: w.vm.rent(DEPOSIT_BYTES) - w.vm.rent(RECORD_BYTES) - GAS_LAMPORTS },
    });
    const [opened] = outcome.events;
    expect(outcome.events).to.have.length(1);
    expect(opened?.name).to.equal('ExecutionOpened');
    expect(plain(opened!.data)).to.include(
      plain({ caller: w.caller.publicKey, deposit: place.address, serviceFee: SERVICE_FEE, price: PRICE }),
    );
    expect(await w.vm.getAccount(place.address)).to.equal(null);
    expect(await w.vm.getAccount(place.vault)).to.equal(null);
    await w.moves([w.settleInstruction(execution)], [w.relay], w.endingOf('settle'));
  });

  it('lets a stranger refund an expired deposit to its payer, to the last unit', async () => {
    await prepared();
    await pay();
    const byStranger = () => refund({ authority: w.stranger.publicKey });
    await w.vm.setClock(START + 599n);
    await w.rejects([byStranger()], [w.stranger], 'DepositNotExpired');
    await w.vm.setClock(START + 600n);
    const outcome = await w.moves([byStranger()], [w.stranger], {
      ...gone(PAID),
      caller: { usdc: PAID },
      relay: { lamports: rents() },
    });
    const told = { amount: PAID, serviceFee: 0n, refundedAt: START + 600n, closed: true, unclaimed: null };
    expect(outcome.events[0]?.data).to.include(told);
  });

  it('lets the relay refund at once, less the service fee, and the payer only after the expiry', async () => {
    await prepared();
    await pay();
    await w.rejects([refund({ authority: w.caller.publicKey })], [w.caller], 'DepositNotExpired');
    const { events } = await w.moves([refund()], [w.relay], {
      ...gone(PAID),
      caller: { usdc: PRICE },
      treasury: { usdc: SERVICE_FEE },
      relay: { lamports: rents() },
    });
    expect(events[0]?.data).to.include({ amount: PRICE, serviceFee: SERVICE_FEE, closed: true });
  });

  it('lets the relay close an unpaid deposit at once, and anyone after a day, with any dust in it', async () => {
    for (const [dust, later] of [
      [0n, 0n],
      [1n, 0n],
      [0n, 86_400n],
      [PAID - 1n, 86_400n],
    ] as const) {
      const at = w.vm.now;
      await prepared();
      if (dust > 0n) await pay(dust);
      await w.vm.setClock(at + (later || 86_399n));
      const authority = later ? w.stranger : w.relay;
      if (!later) await w.rejects([refund({ authority: w.stranger.publicKey })], [w.stranger], 'DepositNotExpired');
      await w.moves([refund({ authority: authority.publicKey })], [authority], {
        ...gone(dust),
        ...(dust > 0n && { caller: { usdc: dust } }),
        relay: { lamports: rents() },
      });
    }
  });

  it('uses lamports that strangers sent to its addresses before, and returns them with the rest', async () => {
    await w.vm.airdrop(place.address, 900_000n);
    await w.vm.airdrop(place.vault, 900_001n);
    await w.moves([prepare()], [w.relay], {
      relay: { lamports: 1_800_001n - rents() },
      deposit: { lamports: w.vm.rent(DEPOSIT_BYTES) - 900_000n },
      'deposit vault': { lamports: w.vm.rent(165) - 900_001n },
    });
    await pay(PAID + 1n);
    await w.vm.airdrop(place.address, 7n);
    await w.vm.airdrop(place.vault, 8n);
    const execution = executionOf();
    await w.must([openInstruction()], [w.relay]);
    expect(await w.vm.tokens(execution.escrow)).to.equal(PRICE + 1n);
    await w.moves([w.refundInstruction(execution)], [w.relay], {
      caller: { usdc: PRICE + 1n },
      relay: { lamports: w.vm.rent(165) + GAS_LAMPORTS },
    });
  });

  it('opens and refunds while the treasury is frozen: the service fee stays with the caller', async () => {
    const frozen = { mint: w.usdcMint, owner: program.findTreasury(), frozen: true };
    w.vm.setTokenAccount(program.findTreasury(), frozen);
    await prepared();
    await pay();
    const execution = executionOf();
    const opened = await w.must([openInstruction()], [w.relay]);
    expect(opened.events[0]?.data).to.include({ serviceFee: 0n });
    expect(await w.vm.tokens(execution.escrow)).to.equal(PAID);
    await w.must([w.refundInstruction(execution)], [w.relay]);

    open = w.openTerms();
    quote = w.quote(open);
    place = program.depositAddress(quote);
    await prepared();
    await pay();
    await w.moves([refund()], [w.relay], { caller: { usdc: PAID }, relay: { lamports: rents() } });
  });

  it('waits until the caller can receive, unless it names another account or the deposit is empty', async () => {
    const wallet = w.wallet(w.caller);
    await prepared();
    await pay();
    w.vm.setTokenAccount(wallet, { mint: w.usdcMint, owner: w.caller.publicKey, frozen: true });
    await w.rejects([refund()], [w.relay], 'RefundDestinationUnusable');
    w.vm.closeAccount(wallet);
    await w.rejects([refund()], [w.relay], 'RefundDestinationUnusable');
    await w.vm.setClock(START + 600n);
    const savings = namedKeypair('savings').publicKey;
    w.vm.setTokenAccount(savings, { mint: w.usdcMint, owner: w.caller.publicKey });
    w.watch('savings', savings);
    const byCaller = (change = {}) => refund({ authority: w.caller.publicKey, destination: savings, ...change });
    await w.rejects([refund({ destination: savings })], [w.relay], 'WrongRefundDestination');
    await w.rejects([byCaller({ destination: w.wallet(w.stranger) })], [w.caller], 'RefundDestinationUnusable');
    await w.moves([byCaller()], [w.caller], { ...gone(PAID), savings: { usdc: PAID }, relay: { lamports: rents() } });

    await prepared();
    await w.moves([refund()], [w.relay], { ...gone(0n), relay: { lamports: rents() } });
  });

  it('gives what an unpaid deposit holds to the treasury if a relay refunds it and its caller cannot receive', async () => {
    const [wallet, treasury] = [w.wallet(w.caller), program.findTreasury()];
    for (const dust of [1n, PAID - 1n]) {
      await prepared();
      await pay(dust);
      w.vm.setTokenAccount(wallet, { mint: w.usdcMint, owner: w.caller.publicKey, frozen: true });
      w.vm.setTokenAccount(treasury, { mint: w.usdcMint, owner: treasury, frozen: true });
      await w.rejects([refund()], [w.relay], 'RefundDestinationUnusable');
      w.vm.setTokenAccount(treasury, { mint: w.usdcMint, owner: treasury });
      await w.vm.setClock(w.vm.now + 86_400n);
      await w.rejects([refund({ authority: w.stranger.publicKey })], [w.stranger], 'RefundDestinationUnusable');
      const { events } = await w.moves([refund()], [w.relay], {
        ...gone(dust),
        treasury: { usdc: dust },
        relay: { lamports: rents() },
      });
      expect(events[0]?.data).to.include({ amount: 0n, serviceFee: dust, closed: true });
      w.vm.setTokenAccount(wallet, { mint: w.usdcMint, owner: w.caller.publicKey, amount: 10n * PAID });
    }
  });

  it('lets anybody prepare a deposit that names its payer and is already paid', async () => {
    const rescue = (change: Partial<program.PrepareDepositInput> = {}) =>
      program.prepareDeposit(w.prepareInput(quote, { authority: w.stranger.publicKey, ...change }));
    await w.rejects([rescue()], [w.stranger], 'NotRelayAuthority');
    w.vm.setTokenAccount(place.vault, { mint: w.usdcMint, owner: place.address });
    await pay(PAID - 1n);
    await w.rejects([rescue()], [w.stranger], 'NotRelayAuthority');
    await pay(1n);
    await w.moves([rescue()], [w.stranger], {
      stranger: { lamports: -w.vm.rent(DEPOSIT_BYTES) },
      deposit: { lamports: w.vm.rent(DEPOSIT_BYTES) },
    });
    await w.vm.setClock(START + 600n);
    const byPayer = refund({ authority: w.caller.publicKey, rentSponsor: w.stranger.publicKey });
    await w.moves([byPayer], [w.caller], {
      ...gone(PAID),
      caller: { usdc: PAID },
      stranger: { lamports: rents() },
    });
  });

  it('lets only the relay prepare a deposit that names no payer, for a caller of its choice', async () => {
    quote = w.quote(open, { payer: null });
    place = program.depositAddress(quote);
    w.vm.setTokenAccount(place.vault, { mint: w.usdcMint, owner: place.address, amount: PAID });
    await w.rejects([prepare({ authority: w.stranger.publicKey })], [w.stranger], 'NotRelayAuthority');
    await prepared();
    await w.rejects([openInstruction()], [w.relay], 'DepositTermsMismatch');
    await w.must([openInstruction({ quotedPayer: null })], [w.relay]);
    expect(await w.read('ExecutionRecord', executionOf().record)).to.include({ status: 'open', price: PRICE });
  });

  it('rejects preparing: a fee above the limit, another caller, address, mint or vault, and a second time', async () => {
    const rejects = (error: string, change: Partial<program.PrepareDepositInput>) =>
      w.rejects([prepare(change)], [w.relay], error);
    await rejects('ServiceFeeOutOfBounds', { serviceFee: program.constants.maxServiceFee + 1n });
    await rejects('DepositCallerMismatch', { caller: w.stranger.publicKey });
    const moved = prepare();
    const elsewhere = namedKeypair('elsewhere').publicKey;
    moved.keys[4]!.pubkey = elsewhere;
    moved.keys[5]!.pubkey = w.wallet(elsewhere);
    await w.rejects([moved], [w.relay], 'ConstraintSeeds');
    for (const rentSponsor of [place.address, place.vault, program.PROGRAM_ID]) {
      const named = prepare({ rentSponsor });
      const ours = rentSponsor.equals(program.PROGRAM_ID) ? 'ConstraintMut' : 'InvalidRentSponsor';
      await w.rejects([named], [w.relay], ours);
    }
    for (const vault of [
      { owner: place.address, mint: namedKeypair('other mint').publicKey },
      { owner: w.stranger.publicKey, mint: w.usdcMint },
      { owner: place.address, mint: w.usdcMint, frozen: true },
    ]) {
      w.vm.setTokenAccount(place.vault, vault);
      await rejects('DepositVaultUnsound', {});
    }
    w.vm.closeAccount(place.vault);
    await w.must([prepare({ serviceFee: program.constants.maxServiceFee })], [w.relay]);
    await prepared();
    await rejects('system:0', {});
  });

  it('rejects opening: not by a relay, at other terms, too late, unpaid, or at another price', async () => {
    await prepared();
    await pay(PAID - 1n);
    const rejects = (error: string, change: Partial<program.OpenExecutionFromDepositInput>) =>
      w.rejects([openInstruction(change)], [w.relay], error);
    await rejects('DepositUnfunded', {});
    await pay(1n);
    const byStranger = openInstruction({ relayAuthority: w.stranger.publicKey });
    await w.rejects([byStranger], [w.stranger, w.relay], 'NotRelayAuthority');
    const { nonce, executionId } = w.openTerms();
    for (const change of [
      { listingVersion: 2 },
      { requestHash: new Uint8Array(32).fill(6) },
      { timeoutSeconds: open.timeoutSeconds - 1 },
      { nonce, executionId },
      { quotedPayer: null },
      { quotedPayer: w.stranger.publicKey },
    ]) {
      await rejects('DepositTermsMismatch', change);
    }
    await rejects('WrongRentSponsor', { depositRentSponsor: w.stranger.publicKey });
    await w.overwrite('AgentListing', w.listing, { price: PRICE - 1n });
    await rejects('DepositTermsMismatch', {});
    await w.overwrite('AgentListing', w.listing, { price: PRICE });
    await w.vm.setClock(START + 600n);
    await rejects('DepositExpired', { openBefore: START + 700n });
    await w.vm.setClock(START + 599n);
    await w.must([openInstruction({ openBefore: START + 700n })], [w.relay]);
    await rejects('AccountNotInitialized', {});
  });

  it('refunds the money even if its rent sponsor cannot receive the rent, which then waits', async () => {
    const sponsor = namedKeypair('rent return').publicKey;
    await w.must([prepare({ rentSponsor: sponsor })], [w.relay]);
    await pay();
    const programs = await w.vm.getAccount(program.PROGRAM_ID);
    w.vm.setAccount(sponsor, { lamports: 1_141_440n, owner: programs!.owner, data: new Uint8Array(200_000) });
    await w.rejects([openInstruction({ depositRentSponsor: sponsor })], [w.relay], 'InvalidRentSponsor');
    const { events } = await w.moves([refund({ rentSponsor: sponsor })], [w.relay], {
      'deposit vault': { usdc: -PAID },
      caller: { usdc: PRICE },
      treasury: { usdc: SERVICE_FEE },
    });
    expect(events[0]?.data).to.include({ amount: PRICE, closed: false });
    await w.rejects([refund({ rentSponsor: sponsor })], [w.relay], 'InvalidRentSponsor');
    w.vm.closeAccount(sponsor);
    w.watch('sponsor', sponsor);
    await w.moves([refund({ rentSponsor: sponsor })], [w.relay], { ...gone(0n), sponsor: { lamports: rents() } });
  });
});
