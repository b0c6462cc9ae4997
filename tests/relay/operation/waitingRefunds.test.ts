/** Refunds that wait for their callers' accounts, and their share of the budgets, on a ledger that two relays share. */
import { expect } from 'chai';
import { DAY_MS } from '../../../app/relay/ledger/funding.ts';
import { free, ON_HOUSE } from '../../harness/edge/funding.ts';
import { depositOf, executionOf, type Journals, openJournals, SIGNED, TIMES } from '../../harness/edge/journals.ts';

const FAR = 2n ** 53n;

describe('waiting refunds', () => {
  let opened: Journals;
  let mine: Journals['mine'];
  let others: Journals['others'];
  before(async () => {
    opened = await openJournals();
    ({ mine, others } = opened);
  });
  after(() => opened.close());
  beforeEach(() => opened.clear());

  /** A call whose refund waits for its caller's account. */
  async function wait(id: string, journal = mine) {
    const row = await journal.claim(executionOf(id), Date.now(), free());
    await journal.openSigned(row, SIGNED, 60n);
    await journal.openConfirmed(row, TIMES, 1);
    const why = { reason: 1, code: 'execution_failed', message: '', rebuilds: 0n, waits: 'blocked' as const };
    await journal.refunding(row, SIGNED, why);
    return row;
  }

  it("counts waiting refunds, and the fees that callers' own accounts cause, for their wallets alone", async () => {
    const burdens = async () => {
      const sums = await mine.sumsOf('wallet', 'listing', Date.now());
      return [
        [sums.burnt_wallet, sums.risk_wallet],
        [sums.burnt_listing, sums.risk_listing],
        [sums.burnt_total, sums.risk_total],
      ];
    };
    const NONE = [0n, 0n];
    const row = await wait('one');
    expect(await burdens()).to.deep.equal([[0n, 10_000n], NONE, NONE]);
    // While its next transaction is signed, it counts in all three budgets.
    expect(await mine.reserveRefund(row, free().budgets)).to.equal(true);
    expect(await burdens()).to.deep.equal(Array(3).fill([0n, 10_000n]));
    await mine.burnt(row, 5_000n);
    await mine.refundWaits('one', 'blocked');
    expect(await burdens()).to.deep.equal([[5_000n, 10_000n], NONE, NONE]);
    // The caller sends the refund.
    await mine.refunded((await mine.get('one'))!, 2n, 10_000n);
    expect(await burdens()).to.deep.equal([[15_000n, 0n], NONE, NONE]);
    // A fee that no caller's account caused counts in all three budgets.
    const refused = await mine.claim(executionOf('refused'), Date.now(), free());
    await mine.openSigned(refused, SIGNED, 60n);
    await mine.void(refused, 'service_unavailable', 'refused', { slot: 1, burnt: SIGNED.fee });
    expect(await burdens()).to.deep.equal([[20_000n, 0n], ...Array(2).fill([5_000n, 0n])]);
  });

  it('count the loan of a deposit whose return waits apart from the other loans, until it ends', async () => {
    const ways = [{ ...ON_HOUSE, recordRent: 100n, escrowRent: 7n }];
    const sums = async () => {
      const { lent_wallet, lent_listing, lent_total, lent_waiting, waits } = await mine.sumsOf('wallet', 'listing', 1);
      return { normal: [lent_wallet, lent_listing, lent_total], lent_waiting, waits };
    };
    const LENT = { normal: Array(3).fill(107n), lent_waiting: 0n, waits: 0n };
    const WAITS = { normal: Array(3).fill(0n), lent_waiting: 107n, waits: 1n };
    const NONE = { ...WAITS, lent_waiting: 0n, waits: 0n };
    for (const end of ['returned', 'void', 'opened'] as const) {
      const row = await mine.claimDeposit(depositOf(end), Date.now(), { ...free(), ways });
      await mine.depositSigned(row, SIGNED);
      await mine.depositConfirmed(row);
      await mine.returning(row, SIGNED, { code: 'agent_paused', message: '', rebuilds: 0n });
      expect(await sums(), end).to.deep.equal(LENT);
      await mine.refundWaits(end, 'claimable');
      Object.assign(row, await mine.get(end));
      expect(await sums(), end).to.deep.equal(WAITS);
      // While it is signed again, it still waits.
      await mine.returning(row, SIGNED, { code: 'agent_paused', message: '', rebuilds: 0n });
      expect(await sums(), end).to.deep.equal(WAITS);
      await mine.refundWaits(end, 'blocked');
      if (end === 'returned') await mine.returned(row, 2n);
      if (end === 'void') await mine.void(row, 'payment_required', '');
      if (end === 'opened') await mine.openConfirmed(row, TIMES, 1);
      expect(await sums(), end).to.deep.equal(end === 'opened' ? LENT : NONE);
      expect((await mine.sumsOf('wallet', 'listing', Date.now())).risk_wallet, end).to.equal(0n);
      await opened.clear();
      expect(await sums(), end).to.deep.equal(NONE);
    }
  });

  it("signs waiting refunds anew within half of the day's budget, however many relays do it at once", async () => {
    const budgets = { burnt: { wallet: FAR, listing: FAR, total: 140_000n } };
    const journals = [mine, others];
    const rows: Awaited<ReturnType<typeof wait>>[] = [];
    for (let n = 0; n < 12; n += 1) rows.push(await wait(`waits ${n}`, journals[n % 2]));
    const reserve = async () => {
      const reserved = await Promise.all(rows.map((row, n) => journals[n % 2]!.reserveRefund(row, budgets)));
      return rows.filter((_row, n) => reserved[n]);
    };
    /** They fail, because their caller closes its account again. */
    async function fail(sent: typeof rows) {
      for (const row of sent) {
        await mine.burnt(row, 5_000n);
        await mine.refundWaits(row.execution_id, 'blocked');
        row.is_waiting = 1n;
      }
    }
    const first = await reserve();
    expect(first).to.have.length(7);
    await fail(first);
    // 70,000 lamports less the 35,000 that are lost leave room for three of 10,000.
    const second = await reserve();
    expect(second).to.have.length(3);
    await fail(second);
    // Only the day of a loss counts, not the day of its call.
    await opened.run(`UPDATE executions SET created_ms = created_ms - ${2n * DAY_MS}`);
    const third = await reserve();
    expect(third).to.have.length(2);
    await fail(third);
    await opened.run(`UPDATE executions SET lost_ms = lost_ms - ${DAY_MS}`);
    expect(await reserve()).to.have.length(7);
  });
});
