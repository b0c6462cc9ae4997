/**
 * Refunds that their callers' accounts cannot receive: moved to one account of the program, with all rent back at its
 * lenders, and claimed once each by their leaves.
 */
import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { type Keypair, type PublicKey, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { TOKEN_PROGRAM_ID } from '../../app/sdk/program/token.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { type Execution, GAS, GAS_LAMPORTS, PRICE, SERVICE_FEE, type World, world } from '../harness/vm/world.ts';
import { leavesOf, proofsOfHashes, ripe, TestArchive, unclaimedHash } from './archiving.ts';
import { emptyAndClose, freeze, give, RECORD_BYTES, swap, TOKEN_BYTES, thaw, tip } from './exploits/acts.ts';

const REFUND_AT = START + 660n;
const HOUR = 3_600n;
const DUE = REFUND_AT + HOUR;
const DEPOSIT_BYTES = 8 + 3 + 3 * 32 + 4 * 8;
const CLAIM_BYTES = 0;
/** Compute units of a claim with its proof. */
const MOST_UNITS = 60_000;

describe('unclaimed refunds:', () => {
  let w: World;
  let archive: TestArchive;
  /** Hashes of the tree's leaves in order. */
  let hashes: Buffer[];
  const lender = namedKeypair('lender').publicKey;
  const unclaimed = program.findUnclaimed();

  beforeEach(async () => {
    w = await world();
    archive = await new TestArchive(w).create();
    hashes = [];
    await w.vm.airdrop(lender, 1_000_000n);
    w.watch('lender', lender);
    w.watch('unclaimed', unclaimed);
  });

  const place = () => ({ archiveIndex: archive.index, tree: archive.tree.publicKey });
  const watched = (run: Execution): Execution => {
    w.watch('record', run.record);
    w.watch('escrow', run.escrow);
    return run;
  };
  const opened = async () => watched(await w.openWithGrant({ rentSponsor: lender }));
  const move = (run: Execution, by: Keypair = w.stranger) => {
    const input = { ...run, ...place(), authority: by.publicKey, usdcMint: w.usdcMint };
    return program.moveUnclaimedRefund({ ...input, reason: 'creatorFailed' });
  };
  /** Moves it, and keeps the leaf. */
  const moved = async (run: Execution, amount = PRICE): Promise<program.UnclaimedRefund> => {
    await w.must([move(run)], [w.stranger]);
    return kept(run.record, run.caller, amount);
  };
  const kept = (source: PublicKey, caller: PublicKey, amount: bigint): program.UnclaimedRefund => {
    const refund = { source, caller, amount, unclaimedAt: w.vm.now };
    hashes.push(unclaimedHash(refund));
    return refund;
  };
  const claim = (
    refund: program.UnclaimedRefund,
    leafIndex = 0,
    change: Partial<program.ClaimRefundInput> = {},
  ): TransactionInstruction => {
    const { proof } = proofsOfHashes(hashes)[leafIndex]!;
    const input = { refund, leafIndex, proof, payer: refund.caller, destination: w.wallet(refund.caller) };
    return program.claimRefund({ ...input, ...place(), ...change });
  };
  const remade = (owner = w.caller, to = w.usdcMint) =>
    createAssociatedTokenAccountIdempotentInstruction(w.stranger.publicKey, w.wallet(owner), owner.publicKey, to);

  it('moves an execution’s price, ends the record, and returns the escrow’s rent to its lender', async () => {
    const run = await opened();
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE);
    const before = await w.read('ExecutionRecord', run.record);
    const { events } = await w.moves([move(run)], [w.stranger], {
      unclaimed: { usdc: PRICE },
      lender: { lamports: w.vm.rent(TOKEN_BYTES) },
      gasBalance: { lamports: GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE, lamports: -w.vm.rent(TOKEN_BYTES) },
    });
    expect(plain(events)).to.deep.equal([
      {
        name: 'ExecutionRefunded',
        data: plain({
          record: run.record,
          executionId: run.executionId,
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
          gasReturned: 0,
          unclaimed: { archive: archive.address, tree: archive.tree.publicKey, leafIndex: 0 },
        }),
      },
    ]);
    expect(plain(await w.read('ExecutionRecord', run.record))).to.deep.equal(
      plain({ ...before, status: 'refunded', settledAt: DUE }),
    );
    expect(await w.read('CreatorCollateral', program.findCollateral(w.listing))).to.include({ exposureOpened: 0n });
    const grant = await w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId));
    expect(grant).to.include({ totalSpent: 0n, periodSpent: 0n });
    expect(await archive.read()).to.include({ count: 1 });
    await w.rejects([move(run)], [w.stranger], 'ExecutionNotOpen');
    await w.rejects([w.refundInstruction(run)], [w.relay], 'RefundDestinationUnusable');
    const refund = kept(run.record, run.caller, PRICE);
    expect(await archive.splTree().then((tree) => tree.getCurrentRoot())).to.deep.equal(
      proofsOfHashes(hashes)[0]!.root,
    );

    // The caller claims it once, to an account that exists again.
    await w.must([remade()], [w.stranger]);
    const address = program.findRefundClaim(archive.tree.publicKey, 0);
    w.watch('claim', address);
    const claimed = await w.moves([claim(refund)], [w.caller], {
      unclaimed: { usdc: -PRICE },
      caller: { usdc: PRICE, lamports: -w.vm.rent(CLAIM_BYTES) },
      claim: { lamports: w.vm.rent(CLAIM_BYTES) },
    });
    expect(claimed.computeUnits).to.be.at.most(MOST_UNITS);
    expect(plain(claimed.events)).to.deep.equal([
      {
        name: 'RefundClaimed',
        data: plain({
          claim: address,
          tree: archive.tree.publicKey,
          leafIndex: 0,
          destination: w.wallet(w.caller),
          claimedAt: DUE,
          refund,
        }),
      },
    ]);
    await w.rejects([claim(refund)], [w.caller], 'RefundAlreadyClaimed');
  });

  it('moves the whole balance with what strangers sent, and pays the gas to a relay that moves', async () => {
    const run = await opened();
    await w.must([give(w, w.stranger, run.escrow, 7n)], [w.stranger]);
    await freeze(w, w.wallet(w.caller));
    await w.vm.setClock(DUE);
    const { events } = await w.moves([move(run, w.relay)], [w.relay], {
      unclaimed: { usdc: PRICE + 7n },
      lender: { lamports: w.vm.rent(TOKEN_BYTES) },
      relay: { lamports: GAS_LAMPORTS },
      record: { lamports: -GAS_LAMPORTS },
      escrow: { usdc: -PRICE - 7n, lamports: -w.vm.rent(TOKEN_BYTES) },
    });
    expect(events[0]!.data).to.include({ reason: 0, amount: PRICE + 7n });
    const refund = kept(run.record, run.caller, PRICE + 7n);
    // A frozen account takes nothing; another of the caller does.
    await w.rejects([claim(refund)], [w.caller], 'DestinationUnusable');
    const other = namedKeypair('other account').publicKey;
    w.vm.setTokenAccount(other, { mint: w.usdcMint, owner: w.caller.publicKey });
    await w.must([claim(refund, 0, { destination: other })], [w.caller]);
    expect(await w.vm.tokens(other)).to.equal(PRICE + 7n);
    expect(await w.vm.tokens(unclaimed)).to.equal(0n);
  });

  it('rejects: a move before its time, while the account can receive, or with any other account', async () => {
    const run = await opened();
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE - 1n);
    for (const who of [w.stranger, w.relay, w.caller]) await w.rejects([move(run, who)], [who], 'MoveTooEarly');
    await w.vm.setClock(DUE);
    const tooMuch = move(run, w.relay);
    // The gas is the last argument.
    tooMuch.data.writeUInt32LE(Number(GAS_LAMPORTS) + 1, tooMuch.data.length - 4);
    await w.rejects([tooMuch], [w.relay], 'GasAboveRecord');
    const missing = w.wallet(namedKeypair('nobody').publicKey);
    for (const [name, address, error] of [
      ['destination', missing, 'WrongRefundDestination'],
      ['rent_sponsor', w.stranger.publicKey, 'WrongRentSponsor'],
      ['grant', program.findGrant(w.caller.publicKey, new Uint8Array(16).fill(0x66)), 'WrongGrant'],
      ['spender', program.findSpender(w.stranger.publicKey), 'WrongAddress'],
    ] as const) {
      await w.rejects([swap(move(run), { [name]: address })], [w.stranger], error);
    }
    await w.must([remade()], [w.stranger]);
    await w.rejects([move(run)], [w.stranger], 'RefundDeliverable');
    w.vm.setTokenAccount(w.wallet(w.caller), { mint: w.usdcMint, owner: w.stranger.publicKey });
    await w.must([move(run)], [w.stranger]);
  });

  it('rejects: a move to a frozen account of unclaimed refunds, and to a full archive', async () => {
    const run = await opened();
    await emptyAndClose(w, w.caller);
    await w.vm.setClock(DUE);
    await freeze(w, unclaimed);
    await w.rejects([move(run)], [w.stranger], 'DestinationUnusable');
    await thaw(w, unclaimed);
    await archive.setCount(program.constants.archiveCapacity);
    await w.rejects([move(run)], [w.stranger], 'ArchiveFull');
    archive = await new TestArchive(w, 1).create();
    await w.must([move(run)], [w.stranger]);
  });

  it('is blocked by no lost grant, empty gas balance, frozen treasury or lender that cannot take the rent', async () => {
    const gasBalance = program.findSpender(w.caller.publicKey);
    const run = watched(await w.openWithGrant({ rentSponsor: lender }));
    await emptyAndClose(w, w.caller);
    await freeze(w, program.findTreasury());
    w.vm.closeAccount(program.findGrant(w.caller.publicKey, w.keyId));
    w.vm.closeAccount(gasBalance);
    w.vm.setAccount(lender, { ...(await w.vm.getAccount(program.PROGRAM_ID))! });
    await w.vm.setClock(DUE);
    await w.moves([move(run)], [w.stranger], {
      unclaimed: { usdc: PRICE },
      escrow: { usdc: -PRICE, lamports: -w.vm.rent(TOKEN_BYTES) },
      record: { lamports: w.vm.rent(TOKEN_BYTES) },
    });
  });

  describe('attacks:', () => {
    it('bulk: a caller without an account leaves no rent of the lender behind, whatever it opens', async () => {
      const runs: Execution[] = [];
      for (let index = 0; index < 8; index += 1) runs.push(await w.openWithGrant({ rentSponsor: lender }));
      await emptyAndClose(w, w.caller);
      await w.vm.setClock(DUE);
      // The record closes in the same transaction: its nonce is too old by then.
      for (const run of runs) {
        const { executionId, rentSponsor } = run;
        await w.moves([move(run), program.closeExecution({ executionId, rentSponsor })], [w.stranger], {
          unclaimed: { usdc: PRICE },
          lender: { lamports: w.vm.rent(TOKEN_BYTES) + w.vm.rent(RECORD_BYTES) },
          gasBalance: { lamports: GAS_LAMPORTS },
        });
        kept(run.record, run.caller, PRICE);
      }
      expect(await w.vm.tokens(unclaimed)).to.equal(8n * PRICE);
    });

    it('excess rent: its caller can never withdraw lamports of an escrow, and a fall of rents gives it nothing', async () => {
      const run = await opened();
      // Instruction 38 of the token program: withdraw_excess_lamports, by the account's owner.
      const withdraw = (account: PublicKey) =>
        new TransactionInstruction({
          programId: TOKEN_PROGRAM_ID,
          keys: [
            { pubkey: account, isSigner: false, isWritable: true },
            { pubkey: w.caller.publicKey, isSigner: false, isWritable: true },
            { pubkey: w.caller.publicKey, isSigner: true, isWritable: false },
          ],
          data: Buffer.from([38]),
        });
      const own = w.wallet(w.caller);
      await w.must([tip(w.stranger, own, 7n)], [w.stranger]);
      await w.moves([withdraw(own)], [w.caller], { caller: { lamports: 7n } });
      await emptyAndClose(w, w.caller);
      await w.vm.setClock(DUE);
      const lent = w.vm.rent(TOKEN_BYTES);
      w.vm.setRent(696n);
      await w.rejects([withdraw(run.escrow)], [w.caller], 'token:4');
      await w.moves([move(run)], [w.stranger], {
        unclaimed: { usdc: PRICE },
        lender: { lamports: lent },
        gasBalance: { lamports: GAS_LAMPORTS },
        record: { lamports: -GAS_LAMPORTS },
        escrow: { usdc: -PRICE, lamports: -lent },
      });
      await w.rejects([withdraw(run.escrow)], [w.caller], 'token:13');
      expect(await w.vm.getAccount(run.escrow)).to.equal(null);
    });

    it('claims: a second time, by another, another’s leaf, changed fields, a wrong place or an old proof', async () => {
      const mine = await opened();
      const second = await w.openWithGrant({ rentSponsor: lender });
      await freeze(w, w.wallet(w.caller));
      await w.vm.setClock(DUE);
      const [refund, next] = [await moved(mine), await moved(second)];
      await thaw(w, w.wallet(w.caller));
      const lies: Partial<program.UnclaimedRefund>[] = [
        ...[{ amount: PRICE + 1n }, { amount: 2n * PRICE }, { amount: 0n }, { unclaimedAt: refund.unclaimedAt + 1n }],
        ...[{ source: second.record }, { source: mine.escrow }],
      ];
      for (const lie of lies) await w.rejects([claim({ ...refund, ...lie })], [w.caller], 'ArchiveProofInvalid');
      const thief = { ...refund, caller: w.stranger.publicKey };
      await w.rejects([claim(thief)], [w.stranger], 'ArchiveProofInvalid');
      const toThief = { destination: w.wallet(w.stranger) };
      await w.rejects([claim(refund, 0, toThief)], [w.caller], 'DestinationUnusable');
      for (const leafIndex of [1, 2, 2 ** 20, 2 ** 32 - 1]) {
        const { proof } = proofsOfHashes(hashes)[0]!;
        const input = { refund, leafIndex, proof, payer: w.caller.publicKey, destination: w.wallet(w.caller) };
        await w.rejects([program.claimRefund({ ...input, ...place() })], [w.caller], 'ArchiveProofInvalid');
      }
      await w.moves([claim(refund)], [w.caller], {
        unclaimed: { usdc: -PRICE },
        caller: { usdc: PRICE, lamports: -w.vm.rent(CLAIM_BYTES) },
      });
      for (const index of [0, 1]) {
        const again = claim(refund, index, { proof: proofsOfHashes(hashes)[0]!.proof });
        await w.rejects([again], [w.caller], index === 0 ? 'RefundAlreadyClaimed' : 'ArchiveProofInvalid');
      }
      await w.must([claim(next, 1)], [w.caller]);
      expect(await w.vm.tokens(unclaimed)).to.equal(0n);
    });

    it('claims: a paid execution’s leaf is no refund, a refund’s leaf is no execution, nor is one of another tree', async () => {
      const refunded = await opened();
      const [paid] = await ripe(w, 1);
      await freeze(w, w.wallet(w.caller));
      await w.vm.setClock(DUE);
      const [leaf] = await leavesOf(w, [paid!]);
      await w.must([archive.archive([paid!])], []);
      hashes.push(leaf!.hash);
      const refund = await moved(refunded);
      await thaw(w, w.wallet(w.caller));
      const { execution } = leaf!;
      const asRefund = { source: paid!.record, caller: execution.caller, amount: PRICE, unclaimedAt: 1n };
      await w.rejects([claim(asRefund, 0)], [w.caller], 'ArchiveProofInvalid');
      const dispute = program.openDisputeWithProof({
        ...{ ...place(), leafIndex: 1, proof: proofsOfHashes(hashes)[1]!.proof, payer: w.caller.publicKey },
        ...{ execution: { ...execution, executionId: refunded.executionId } },
        ...{ evidenceHash: new Uint8Array(32), evidenceUri: '', maxBond: 2n ** 64n - 1n },
      });
      await w.rejects([dispute], [w.caller], 'ArchiveProofInvalid');
      await archive.setCount(program.constants.archiveSuccessorCount);
      const next = await new TestArchive(w, 1).create();
      const elsewhere = { archiveIndex: 1, tree: next.tree.publicKey };
      await w.rejects([claim(refund, 1, elsewhere)], [w.caller], 'ArchiveProofInvalid');
      await w.rejects([claim(refund, 1, { tree: next.tree.publicKey })], [w.caller], 'WrongAddress');
    });

    it('lamports at the address of the claim stop no claim', async () => {
      const run = await opened();
      await freeze(w, w.wallet(w.caller));
      await w.vm.setClock(DUE);
      const refund = await moved(run);
      await thaw(w, w.wallet(w.caller));
      const address = program.findRefundClaim(archive.tree.publicKey, 0);
      await w.must([tip(w.stranger, address, w.vm.rent(0))], [w.stranger]);
      await w.moves([claim(refund)], [w.caller], {
        unclaimed: { usdc: -PRICE },
        caller: { usdc: PRICE },
      });
      await w.rejects([claim(refund)], [w.caller], 'RefundAlreadyClaimed');
    });
  });

  describe('of deposits:', () => {
    let quote: program.DepositQuote;
    let deposit: program.DepositAddress;
    const PAID = PRICE + SERVICE_FEE;
    const EXPIRED = 600n;

    beforeEach(() => {
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
      const leaf = { archive: archive.address, tree: archive.tree.publicKey, leafIndex: 0 };
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

    it('rejects: any other vault, destination or sponsor, and a caller whose account can receive', async () => {
      await prepared();
      await w.vm.setClock(START + EXPIRED + HOUR);
      await w.rejects([moveDeposit()], [w.stranger], 'RefundDeliverable');
      await freeze(w, w.wallet(w.caller));
      for (const [name, address, error] of [
        ['destination', w.wallet(namedKeypair('nobody').publicKey), 'WrongRefundDestination'],
        ['rent_sponsor', w.stranger.publicKey, 'WrongRentSponsor'],
      ] as const) {
        await w.rejects([swap(moveDeposit(), { [name]: address })], [w.stranger], error);
      }
      await archive.setCount(program.constants.archiveCapacity);
      await w.rejects([moveDeposit()], [w.stranger], 'ArchiveFull');
    });
  });

  it('a claim fits one transaction with two signers, a new account for it and both budget instructions', async () => {
    const run = await opened();
    await freeze(w, w.wallet(w.caller));
    await w.vm.setClock(DUE);
    const refund = await moved(run);
    await thaw(w, w.wallet(w.caller));
    await w.moves([remade(), claim(refund, 0, { payer: w.stranger.publicKey })], [w.stranger, w.caller], {
      unclaimed: { usdc: -PRICE },
      caller: { usdc: PRICE },
      stranger: { lamports: -w.vm.rent(CLAIM_BYTES) },
    });
  });
});
