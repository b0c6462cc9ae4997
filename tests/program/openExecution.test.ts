/** open_execution: a wallet funds an escrow from its own account, exactly at the terms that it has seen. */
import { AccountLayout } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { createNonce, deriveExecutionId } from '../../app/sdk/receipt/receipt.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { RECORD_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import {
  GAS,
  GAS_LAMPORTS,
  GRACE,
  NO_KEY,
  PRICE,
  TERMS,
  TIMEOUT,
  USDC,
  useWorld,
  type World,
  world,
} from '../harness/vm/world.ts';

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

  it('accepts exact limits: max_price, both timeouts, the second of open_before', async () => {
    const cases: Partial<program.OpenExecutionInput>[] = [
      { maxPrice: PRICE },
      { maxPrice: 0xffff_ffff_ffff_ffffn },
      { timeoutSeconds: TERMS.minTimeoutSeconds },
      { timeoutSeconds: TERMS.timeoutSeconds },
      { openBefore: START },
    ];
    for (const change of cases) await w.open(change);
    const { record } = await w.open({ timeoutSeconds: 5 });
    expect(await w.read('ExecutionRecord', record)).to.include({ deadline: START + 5n, refundAt: START + 605n });
  });

  it('rejects: one step over each limit, and another version of the listing than the caller saw', async () => {
    await rejects({ maxPrice: PRICE - 1n }, 'PriceAboveMax');
    await rejects({ timeoutSeconds: TERMS.minTimeoutSeconds - 1 }, 'TimeoutOutOfRange');
    await rejects({ timeoutSeconds: TERMS.timeoutSeconds + 1 }, 'TimeoutOutOfRange');
    await rejects({ openBefore: START - 1n }, 'OpenTooLate');
    for (const halfHour of [w.halfHour() + 1, w.halfHour() - 2]) {
      await rejects({ nonce: createNonce(halfHour) }, 'WrongNonceHalfHour');
    }
    await rejects({ listingVersion: 0 }, 'ListingVersionMismatch');
    await rejects({ listingVersion: 2 }, 'ListingVersionMismatch');
  });

  it('rejects: while the admin or the guardian has paused opens', async () => {
    for (const pauses of [
      { adminPaused: true, guardianPaused: false },
      { adminPaused: false, guardianPaused: true },
    ]) {
      await w.overwrite('Config', program.findConfig(), pauses);
      await rejects({}, 'OpensPaused');
    }
    await w.overwrite('Config', program.findConfig(), { guardianPaused: false });
    await w.open();
  });

  it('rejects: an id that is not derived from caller and nonce', async () => {
    const { nonce, executionId } = w.openTerms();
    await rejects({ nonce: createNonce(w.halfHour()), executionId }, 'WrongExecutionId');
    const raw = deriveExecutionId(w.caller.publicKey.toBytes(), nonce);
    raw[6]! ^= 0x10;
    await rejects({ nonce, executionId: raw }, 'WrongExecutionId');
    const foreign = deriveExecutionId(w.stranger.publicKey.toBytes(), nonce);
    await rejects({ nonce, executionId: foreign }, 'WrongExecutionId');
  });

  it('rejects: a used id, by wallet or grant, while it runs, after its settle and after its refund', async () => {
    const first = await w.open();
    const used = { nonce: first.nonce, executionId: first.executionId };
    await rejects(used, 'AccountExists');
    const byGrant = program.openExecutionWithGrant(w.openGrantInput(used));
    await w.rejects([byGrant], [w.relay], 'AccountExists');
    await w.must([w.settleInstruction(first)], [w.relay]);
    await rejects(used, 'AccountExists');
    const second = await w.open();
    await w.must([w.refundInstruction(second)], [w.relay]);
    await rejects({ nonce: second.nonce, executionId: second.executionId }, 'AccountExists');
  });

  it("rejects: another owner's account, another token, too little USDC, a frozen account", async () => {
    await rejects({ source: w.wallet(w.stranger) }, 'InvalidSource');
    const otherMint = namedKeypair('other mint').publicKey;
    w.vm.setMint(otherMint, w.mintAuthority.publicKey);
    await rejects({ source: w.vm.setWallet(w.caller.publicKey, otherMint, 5n * USDC) }, 'InvalidSource');
    await rejects({ usdcMint: otherMint }, 'WrongMint');
    w.vm.setWallet(w.caller.publicKey, w.usdcMint, PRICE - 1n);
    await rejects({}, 'InsufficientBalance');
    const frozen = { mint: w.usdcMint, owner: w.caller.publicKey, amount: PRICE, frozen: true };
    w.vm.setTokenAccount(w.wallet(w.caller), frozen);
    await rejects({}, 'token:17');
  });
});

describe('exposure limit', () => {
  let w: World;
  const collateral = () => w.read('CreatorCollateral', program.findCollateral(w.listing));

  beforeEach(async () => {
    // A deposit of 10 USDC and a multiple of 1: eight executions at 1.234567 USDC fit, a ninth does not.
    w = await world({ config: { exposureMultiple: 1 } });
    for (let count = 0; count < 7; count += 1) await w.open();
    await w.openWithGrant();
  });

  it('counts every open, also settled ones, and refuses the one that would exceed it', async () => {
    expect(await collateral()).to.include({ exposureOpened: 8n * PRICE, exposureWindowStart: START });
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ExposureLimitReached');
    await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'ExposureLimitReached');
  });

  it('is inclusive', async () => {
    await w.overwrite('CreatorCollateral', program.findCollateral(w.listing), { deposited: 9n * PRICE });
    await w.open();
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ExposureLimitReached');
  });

  it('restarts one dispute window after its start, and not a second earlier', async () => {
    await w.vm.setClock(START + 259_199n);
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ExposureLimitReached');
    await w.vm.setClock(START + 259_200n);
    await w.open();
    expect(await collateral()).to.include({ exposureOpened: PRICE, exposureWindowStart: START + 259_200n });
  });

  it('rejects: a sum out of range, and a book with more losses than deposits', async () => {
    const address = program.findCollateral(w.listing);
    await w.overwrite('CreatorCollateral', address, { exposureOpened: 2n ** 64n - 1n });
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'ArithmeticOverflow');
    await w.overwrite('CreatorCollateral', address, { exposureOpened: 0n, slashed: 10n * USDC + 1n });
    await w.rejects([program.openExecution(w.openInput())], [w.caller], 'CollateralInsolvent');
  });
});
