/** Refunds that wait for their callers' accounts, on a ledger that two relays share. */
import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { createReturning } from '../../../app/relay/execution/deposits/returning.ts';
import { type EngineDeps, newProgress } from '../../../app/relay/execution/deps.ts';
import { createEnding, type Ending } from '../../../app/relay/execution/ending.ts';
import { createRefunding, isHeldBack } from '../../../app/relay/execution/refund.ts';
import type { Snapshot } from '../../../app/relay/execution/snapshot.ts';
import { lastOf } from '../../../app/relay/ledger/transactions.ts';
import type { NewTransaction } from '../../../app/relay/ledger/writing.ts';
import { accountDiscriminator, movableFrom, PROGRAM_ID, RECORD_OFFSETS } from '../../../app/sdk/program/program.ts';
import { free } from '../../harness/edge/funding.ts';
import { depositOf, executionOf, SIGNED, signedAnew, TIMES, useJournals } from '../../harness/edge/journals.ts';
import { encodeTokenAccount } from '../../harness/tokenAccount.ts';

const NOT_SHARED = { share: async () => false, exclude: () => undefined };
const FAR = 2n ** 53n;
const MINT = PublicKey.default;
const WAITS = { reason: 1, code: 'execution_failed', message: '', rebuilds: 0n, waits: true };

type Account = ReturnType<typeof tokenAccount>;

/** A token account with 2 base units. */
function tokenAccount(owner: PublicKey, frozen = false) {
  return { owner: TOKEN_PROGRAM_ID, data: encodeTokenAccount({ mint: MINT, owner, amount: 2n, frozen }) };
}

describe('waiting refunds', () => {
  const { opened, mine, others } = useJournals();

  /** A call whose refund waits for its caller's account. */
  async function wait(id: string, journal = mine, signed: NewTransaction = signedAnew()) {
    const row = await journal.claim(executionOf(id), Date.now(), free());
    await journal.openSigned(row, signedAnew(), 60n);
    await journal.openConfirmed(row, TIMES, 1);
    await journal.refunding(row, signed, WAITS);
    return row;
  }

  it('are held back while their wallet owes a lost fee; from an hour after anyone could make them, until its next try', async () => {
    const row = await wait('one');
    const isHeld = (now: bigint, sponsorsAll = false) =>
      isHeldBack({ journal: others, lending: { ...free().lending, sponsorsAll } }, row, now, TIMES.refundAt);
    const later = movableFrom(TIMES.refundAt);
    expect(await isHeld(later - 1n)).to.equal(false);
    await mine.failed(row, lastOf(row, 'refund'), 'wallet');
    expect([await isHeld(later - 1n), await isHeld(later)]).to.deep.equal([true, true]);
    // With SPONSOR=all the rules for lost fees do not apply.
    expect(await isHeld(later - 1n, true)).to.equal(false);
    const pass = (minutes: number) => opened.run(`UPDATE debts SET lost_ms = lost_ms - ${minutes * 60_000}`);
    await pass(1);
    expect([await isHeld(later - 1n), await isHeld(later)]).to.deep.equal([true, false]);
    await mine.refunding(row, signedAnew(), WAITS);
    await mine.failed(row, lastOf(row, 'refund'), 'wallet');
    await pass(1);
    expect(await isHeld(later)).to.equal(true);
    await pass(1);
    expect(await isHeld(later)).to.equal(false);
  });

  it('that somebody else ends cost their wallet the fees that the chain took, or may still take', async () => {
    const message = new TransactionMessage({ payerKey: MINT, recentBlockhash: MINT.toBase58(), instructions: [] });
    const bytes = Uint8Array.from(new VersionedTransaction(message.compileToV0Message()).serialize());
    const end = { isRefunded: true, settledAt: TIMES.refundAt, refundAt: TIMES.refundAt };
    const node = { hasSucceeded: async () => false };
    const authorities = { names: () => true };
    const deps = { chain: node, journal: mine, authorities, closedEnd: async () => end } as unknown as EngineDeps;
    const { withoutRecord } = createEnding(deps, NOT_SHARED, new AbortController().signal);
    type Row = Awaited<ReturnType<typeof wait>>;
    const lostBy = async (id: string, note?: (row: Row, refund: ReturnType<typeof lastOf>) => Promise<unknown>) => {
      const row = await wait(id, mine, { ...signedAnew(), bytes });
      await note?.(row, lastOf(row, 'refund'));
      expect(await withoutRecord(row)).to.equal('ended');
      return (await mine.get(id))!.lost_fees;
    };
    expect(await lostBy('never sent', (row, refund) => mine.decided(row, refund, 'expired'))).to.equal(0n);
    expect(await lostBy('on its way')).to.equal(5_000n);
    expect(await lostBy('too late', (row, refund) => mine.failed(row, refund, null))).to.equal(5_000n);
    expect(await lostBy('noted before', (row, refund) => mine.failed(row, refund, 'wallet'))).to.equal(5_000n);
    // Nor does what an earlier call of this id has lost count for this refund.
    const earlier = await mine.claim(executionOf('again'), Date.now(), free());
    await mine.openSigned(earlier, signedAnew(), 60n);
    await mine.failed(earlier, lastOf(earlier, 'open'), 'wallet');
    await mine.void(earlier, 'insufficient_balance', 'refused', 1);
    expect(await lostBy('again', (row, refund) => mine.failed(row, refund, null))).to.equal(10_000n);
  });

  it('are simulated only if their account looks usable, and sent once they would succeed', async () => {
    const [caller, deposit, listing] = [Keypair.generate(), Keypair.generate(), Keypair.generate()].map(
      ({ publicKey }) => publicKey,
    ) as [PublicKey, PublicKey, PublicKey];
    const depositAccount = { owner: PROGRAM_ID, data: Buffer.alloc(1_024) };
    depositAccount.data.set(accountDiscriminator('Deposit'));
    let account = null as Account | null;
    let simulated = 0;
    let failure = { error: 'RefundDestinationUnusable', message: '' } as object | null;
    let sent = 0;
    const chain = {
      authority: MINT,
      quote: () => ({ open: 0n, settle: 0n }),
      sign: async () => SIGNED,
      read: async () => ({ accounts: [account], now: 1n, slot: 1 }),
      readAgreed: async (keys: PublicKey[]) => {
        // A snapshot, or a deposit with its accounts.
        const accounts =
          keys.length === 2 ? [null, null] : [null, depositAccount, tokenAccount(deposit), account, null];
        return { accounts, now: 1n, slot: 1 };
      },
      simulate: async () => {
        simulated += 1;
        return failure;
      },
      submit: async () => {
        sent += 1;
        return { kind: 'unknown' };
      },
    };
    const deps = { chain, journal: mine, usdcMint: MINT, lending: free().lending } as unknown as EngineDeps;
    const followOutcome = async () => 'wait';
    const ending = { isByRemovedAuthority: () => false, submit: chain.submit, followOutcome } as unknown as Ending;
    const { retryRefund } = createRefunding(deps, ending, NOT_SHARED);
    const { sendBack } = createReturning(deps, ending, new AbortController().signal);

    const refund = { ...(await wait('00000000-0000-8000-8000-000000000001')), listing: listing.toBase58() };
    const record = { caller, executionId: new Uint8Array(16), listing, rentSponsor: MINT, keyId: new Uint8Array(16) };
    const snapshot = { record: { ...record, refundAt: FAR, gasLamports: 0 }, now: 1n } as unknown as Snapshot;
    const id = '00000000-0000-8000-8000-000000000002';
    const terms = { deposit: deposit.toBase58(), wallet: caller.toBase58(), listing: listing.toBase58() };
    const back = await mine.claimDeposit(depositOf(id, terms), Date.now(), free());
    await mine.depositSigned(back, SIGNED);
    await mine.depositConfirmed(back);
    await mine.returning(back, SIGNED, { code: 'agent_paused', message: '', culprit: 'listing', rebuilds: 0n });
    await mine.refundWaits(id);

    const looks: [Account | null, number][] = [
      [null, 0],
      [tokenAccount(caller, true), 0],
      [tokenAccount(deposit), 0],
      [tokenAccount(caller), 2],
    ];
    for (const [now, expected] of looks) {
      [account, simulated] = [now, 0];
      expect(await retryRefund(refund, snapshot)).to.equal('rest');
      expect(await sendBack((await mine.get(id))!, newProgress({ isFresh: false }))).to.equal('rest');
      expect((await mine.get(id))!.refund_state).to.equal('waiting');
      expect([simulated, sent]).to.deep.equal([expected, 0]);
    }
    failure = null;
    expect(await retryRefund(refund, snapshot)).to.equal('wait');
    expect(await sendBack((await mine.get(id))!, newProgress({ isFresh: false }))).to.equal('wait');
    expect(sent).to.equal(2);
  });

  describe('of a deposit that is gone, while the record of its open is there', () => {
    /** A row that gives its deposit back. The record may be of its own open, which has landed if `node.hasLanded`. */
    async function givesBack(id: string) {
      const [deposit, listing] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
      const record = { owner: PROGRAM_ID, data: Buffer.alloc(1_024) };
      record.data.set(accountDiscriminator('ExecutionRecord'));
      listing.toBuffer().copy(record.data, RECORD_OFFSETS.listing);
      record.data.writeBigUInt64LE(1n, RECORD_OFFSETS.price);
      const node = { hasLanded: false, isReturned: false };
      const chain = {
        readAgreed: async () => ({ accounts: [record, null, null, null, null], now: 1n, slot: 1 }),
        hasSucceeded: async () => node.hasLanded,
      };
      const log = { error: () => undefined };
      const isReturned = async () => node.isReturned;
      const own = { chain, journal: mine, usdcMint: MINT, lending: free().lending, log, isReturned };
      const deps = own as unknown as EngineDeps;
      const ending = { isByRemovedAuthority: () => false } as unknown as Ending;
      const { sendBack } = createReturning(deps, ending, new AbortController().signal);
      const terms = { deposit: deposit.toBase58(), wallet: MINT.toBase58(), listing: listing.toBase58() };
      const claimed = { ...depositOf(id, terms), request_hash: '00'.repeat(32) };
      const row = await mine.claimDeposit(claimed, Date.now(), free());
      await mine.depositSigned(row, SIGNED);
      await mine.depositConfirmed(row);
      await mine.paid(row, 1);
      await mine.openSigned(row, SIGNED, 60n);
      await mine.returning(row, SIGNED, { code: 'agent_paused', message: '', culprit: 'listing', rebuilds: 0n });
      const state = async () => (await mine.get(id))!.state;
      return { node, send: () => sendBack(row, newProgress({ isFresh: false })), state };
    }

    it('wait for a node that does not know the open', async () => {
      const { node, send, state } = await givesBack('00000000-0000-8000-8000-000000000003');
      expect(await send()).to.equal('wait');
      expect(await state()).to.equal('returning');
      node.hasLanded = true;
      expect(await send()).to.equal('rest');
      expect(await state()).to.equal('parked');
    });

    it('end once the index knows that the deposit was refunded: the payer has opened the record itself', async () => {
      const { node, send, state } = await givesBack('00000000-0000-8000-8000-000000000004');
      expect(await send()).to.equal('wait');
      node.isReturned = true;
      expect(await send()).to.equal('ended');
      expect(await state()).to.equal('returned');
    });
  });
});
