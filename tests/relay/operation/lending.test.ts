/**
 * What the operator lends and loses, on a ledger that two relays share: the limits of a claim, their refusals, and the
 * sums after attacks by a hundred wallets. SECURITY.md shows these sums.
 */
import { expect } from 'chai';
import type { ApiError } from '../../../app/relay/errors.ts';
import {
  cannotLend,
  gasShortage,
  lentShortage,
  type Means,
  obstacleOf,
  waysToPay,
  whatHolds,
} from '../../../app/relay/execution/begin/waysToPay.ts';
import { NotFunded } from '../../../app/relay/ledger/claims.ts';
import { FIRST_OPENS_OF_LISTING, type Lending, type Way } from '../../../app/relay/ledger/funding.ts';
import { readLent } from '../../../app/relay/ledger/sums.ts';
import { lastOf } from '../../../app/relay/ledger/transactions.ts';
import { FREE, free } from '../../harness/edge/funding.ts';
import { depositOf, executionOf, SIGNED, signedAnew, TIMES, useJournals, WALLET } from '../../harness/edge/journals.ts';

const FEE = 5_000n;
const NOW = Date.now();
const MINUTE = 60_000;
/** At 5,080 lamports a byte. */
const RENTS = { empty: 650_240n, record: 2_148_840n, escrow: 1_488_440n };
const ALL = RENTS.record + RENTS.escrow;
/** The wallet's address, for messages that name its gas balance. */
const ADDRESS = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';

describe('lent and lost lamports', function () {
  this.timeout(300_000);
  const { opened, mine, others } = useJournals();

  const upTo = (limit: bigint): Lending => ({ sponsorsAll: false, limit: () => limit, returnSeconds: () => 4_260 });
  const LENT: Way = { ...FREE, fee: FEE, gas: 5_700n, recordRent: RENTS.record };
  const OWN: Way = { ...LENT, recordRent: 0n };
  const BOUGHT: Way = { ...FREE, recordRent: RENTS.record, escrowRent: RENTS.escrow };
  interface Call {
    wallet?: string;
    listing?: string;
    ways?: Way[];
    limit?: bigint;
    atMs?: number;
    journal?: typeof mine;
  }
  const claim = (id: string, { ways = [LENT], limit = 10n ** 12n, atMs = NOW, journal = mine, ...who }: Call = {}) =>
    journal.claim(executionOf(id, who), atMs, { ways, lending: upTo(limit), funds: null });
  const buy = (id: string, { ways = [BOUGHT], limit = 10n ** 12n, atMs = NOW, ...who }: Call = {}) =>
    mine.claimDeposit(depositOf(id, who), atMs, { ways, lending: upTo(limit), funds: null });
  const refusal = (promise: Promise<unknown>): Promise<NotFunded['sums']> =>
    promise.then(
      () => expect.fail('it was taken'),
      (error) => {
        expect(error).to.be.instanceOf(NotFunded);
        return error.sums;
      },
    );
  type Row = Awaited<ReturnType<typeof claim>>;
  async function open(row: Row): Promise<Row> {
    await mine.openSigned(row, SIGNED, 60n);
    await mine.openConfirmed(row, TIMES, 1);
    return row;
  }
  /** The call's open fails on the chain. */
  async function fail(row: Row, culprit: 'wallet' | 'listing' | 'operator' = 'wallet'): Promise<void> {
    await mine.openSigned(row, signedAnew(), 60n);
    await mine.failed(row, lastOf(row, 'open'), culprit);
    await mine.void(row, 'insufficient_balance', 'refused', 1);
  }
  async function complete(row: Row, settledAt = BigInt(Math.floor(NOW / 1_000))): Promise<void> {
    await open(row);
    await mine.dispatched(row);
    await mine.verified(row, SIGNED, 1n, 0n);
    await mine.settled(row, { settledAt, creatorAmount: 1n, platformAmount: 0n });
  }
  const sums = (wallet = WALLET, listing = 'listing', atMs = NOW) => mine.sumsOf(wallet, listing, atMs);
  /** When a wallet lost the latest fee that it owes, unix milliseconds. */
  const lostAt = async (wallet = WALLET) => Number((await sums(wallet)).owed_ms);
  const lent = async () => {
    const { lent_keys, lent_x402 } = await sums();
    return [lent_keys, lent_x402];
  };

  describe('loans', () => {
    it('are the sums of the rows by kind, whatever state they are in', async () => {
      const ways = [{ ...LENT, escrowRent: 7n, recordRent: 100n }];
      const rows = [await claim('one', { ways })];
      for (const row of rows) await open(row);
      const two = await claim('two', { ways });
      const bought = await buy('three', { wallet: 'another', ways });
      expect(await lent()).to.deep.equal([214n, 107n]);
      await mine.void(two, 'insufficient_balance', 'refused');
      expect(await lent()).to.deep.equal([107n, 107n]);
      await mine.depositSigned(bought, SIGNED);
      await mine.depositConfirmed(bought);
      await mine.returning(bought, SIGNED, { code: 'agent_paused', message: '', culprit: 'listing', rebuilds: 0n });
      await mine.refundWaits('three');
      expect(await readLent(opened.ledger as never)).to.deep.include({ lent: 214n, unclaimed: 107n, due: 0n });
      await mine.returned((await mine.get('three'))!, 2n);
      await mine.refunding(rows[0]!, SIGNED, { reason: 1, code: 'execution_failed', message: '', rebuilds: 0n });
      await mine.refunded(rows[0]!, 2n);
      expect(await lent()).to.deep.equal([100n, 0n]);
      expect(await readLent(opened.ledger as never)).to.deep.include({ lent: 100n, due: 100n, due_since: 2n });
      const since = await Promise.all(([null, 'keys', 'x402'] as const).map((kind) => mine.lentSince(kind)));
      expect(since).to.deep.equal([2n, 2n, null]);
      await mine.rentReturned(['one']);
      expect(await lent()).to.deep.equal([0n, 0n]);
    });

    it('never exceed three quarters for one kind, nor the limit in all, whichever relays lend at once', async () => {
      const limit = 40n * RENTS.record;
      const calls = Array.from({ length: 60 }, (_, n) =>
        claim(`call ${n}`, { wallet: `wallet ${n}`, listing: `agent ${n}`, limit, journal: n % 2 ? mine : others }),
      );
      const taken = (await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled').length;
      expect(taken).to.equal(30);
      expect(await lent()).to.deep.equal([30n * RENTS.record, 0n]);
      // The last quarter is for x402 clients.
      let sold = 0;
      for (; sold < 20; sold += 1) {
        const who = { wallet: `buyer ${sold}`, listing: `agent ${sold}`, limit };
        const row = await buy(`bought ${sold}`, who).catch(() => null);
        if (!row) break;
      }
      expect(BigInt(sold)).to.equal((10n * RENTS.record) / ALL);
      // The gas balance lends what the operator cannot.
      const own = await claim('own', { wallet: 'rich', ways: [LENT, OWN], limit });
      expect([own.record_lent, own.gas_lamports]).to.deep.equal([0n, 5_700n]);
    });

    it('that are used up give a 503 with the rule, the figures and the seconds until the oldest comes back', async () => {
      const limit = 4n * RENTS.record;
      const now = BigInt(Math.floor(NOW / 1_000));
      for (const n of [1, 2, 3]) {
        await complete(await claim(`call ${n}`, { wallet: `wallet ${n}`, limit }), now - 100n * BigInt(n));
      }
      const seen = await refusal(claim('four', { limit }));
      const means: Means = { fee: FEE, gas: 5_700n, maxGas: 20_000n, rents: RENTS, gasBalance: RENTS.escrow + 10_700n };
      const ways = waysToPay(means, upTo(limit));
      expect(whatHolds(ways, means, seen, upTo(limit))).to.equal('lent');
      const loansOf = (of: bigint) => ({ sums: seen, lending: upTo(of), lentSince: mine.lentSince, now });
      const error = await cannotLend(ways, ADDRESS, means, loansOf(limit));
      expect(error.code).to.equal('service_unavailable');
      expect(error.retryAfterSeconds).to.equal(3_960);
      expect(error.message).to.match(
        /at most 6446520 lamports to calls with keys at a time. It has lent 6446520, and this call needs 2148840. The gas balance of wallet \w+ could lend it instead: it has 1499140 lamports left and needs 4298220. Send SOL to \w+, or wait. Nothing was charged. Retry in \d+ s.$/,
      );
      const shortage = (of: bigint) => lentShortage(BOUGHT, 'x402', loansOf(of));
      const whole = (await shortage(limit))!;
      expect(whole.message).to.match(/at most 8595360 lamports to all calls at a time. It has lent 6446520/);
      expect(whole.retryAfterSeconds).to.equal(3_960);
      expect(await shortage(10n * limit)).to.equal(null);
      // None of the deposits that count against its share come back by the clock, nor do these that are late.
      const none = (await shortage(0n))!;
      expect(none.message).to.match(/at most 0 lamports to x402 clients/);
      expect(none.retryAfterSeconds).to.equal(60);
      const late = await cannotLend(ways, ADDRESS, means, { ...loansOf(limit), now: now + 3_901n });
      expect(late.retryAfterSeconds).to.equal(60);
    });

    it('need no gas balance with SPONSOR=all, and a gas balance pays first', async () => {
      const means: Means = { fee: FEE, gas: 5_700n, maxGas: 20_000n, rents: RENTS, gasBalance: 0n };
      const [own, given, whole] = waysToPay(means, { sponsorsAll: true });
      expect(own).to.deep.equal({ ...LENT, gasBalance: 10_700n + RENTS.escrow });
      expect(given).to.deep.equal(BOUGHT);
      expect(whole).to.deep.equal({ ...OWN, gasBalance: 10_700n + ALL });
      expect(waysToPay({ ...means, maxGas: 10_699n }, { sponsorsAll: true })).to.deep.equal([BOUGHT]);
      expect(waysToPay({ ...means, maxGas: 10_699n }, { sponsorsAll: false })).to.deep.equal([]);
    });
  });

  it('names the missing gas in lamports and in calls, and what holds the rest', async () => {
    const means: Means = { fee: FEE, gas: 5_700n, maxGas: 20_000n, rents: RENTS, gasBalance: 0n };
    const error = gasShortage(ADDRESS, means, await sumsWithHeld());
    expect(error.details).to.include({
      limit: 'gas',
      have_lamports: 0,
      need_lamports: Number(10_700n + RENTS.escrow + RENTS.empty),
    });
    expect(error.message).to.match(/with 0.0045 SOL more it is enough for 220 calls/);
    const small = gasShortage(ADDRESS, { ...means, maxGas: 10_699n }, await sumsWithHeld());
    expect(small.details).to.include({ have_lamports: 10_699, need_lamports: 10_700 });
    // While a call of the wallet is in progress, its escrow holds gas that comes back.
    const gasBalance = 10_700n + RENTS.empty;
    const ways = waysToPay(means, upTo(10n ** 12n));
    await open(await claim('running', { ways: [ways[0]!] }));
    const seen = await sumsWithHeld();
    expect(seen.gas_balance_escrows).to.equal(1n);
    expect(whatHolds(ways, { ...means, gasBalance }, seen, upTo(10n ** 12n))).to.equal('gasBalance');
    expect(whatHolds(ways, { ...means, gasBalance: gasBalance - 1n }, seen, upTo(10n ** 12n))).to.equal('gas');
  });
  const sumsWithHeld = async () => ({ ...(await sums()), ...(await mine.heldOf(WALLET, 'key', 10n)) });

  describe('opens in flight', () => {
    it('are one for a new wallet, and one more for each four calls that it completed within a day', async () => {
      const running = await claim('first');
      await refusal(claim('second', { journal: others }));
      expect(obstacleOf(await sums(), upTo(0n))).to.deep.equal({ opens: 1n });
      await complete(running);
      for (const n of [2, 3, 4]) await complete(await claim(`call ${n}`));
      await claim('a');
      await claim('b', { journal: others });
      await refusal(claim('c'));
      // Completed calls of the day before yesterday do not count.
      await opened.run('UPDATE executions SET settled_at = settled_at - 86401');
      await refusal(claim('c'));
      expect(obstacleOf(await sums(), upTo(0n))).to.deep.equal({ opens: 1n });
      // With SPONSOR=all there is no such rule.
      await mine.claim(executionOf('c'), NOW, free());
    });

    it('of one listing are eight for all its new callers together', async () => {
      for (let n = 0; n < FIRST_OPENS_OF_LISTING; n += 1) await claim(`call ${n}`, { wallet: `wallet ${n}` });
      await refusal(claim('late', { wallet: 'late' }));
      expect(obstacleOf(await sums('late'), upTo(0n))).to.deep.equal({ opens: 8n });
      await claim('elsewhere', { wallet: 'late', listing: 'another' });
    });

    it('count unpaid deposits of x402 clients by the same rule', async () => {
      const row = await buy('first');
      await refusal(buy('second'));
      await mine.depositSigned(row, SIGNED);
      await mine.depositConfirmed(row);
      await refusal(buy('second'));
      await mine.paid(row, 1);
      await buy('second');
    });
  });

  describe('lost fees', () => {
    it('are owed by the wallet, which may try once in a minute for each, and its next open repays them', async () => {
      await fail(await claim('lost'));
      expect(await sums()).to.include({ owed: FEE });
      const owedMs = await lostAt();
      const repaying = waysToPay(
        { fee: FEE, gas: 5_700n, maxGas: 20_000n, rents: RENTS, gasBalance: 0n },
        upTo(0n),
        FEE,
      )[1]!;
      expect([repaying.fee, repaying.repaid]).to.deep.equal([10_000n, 5_000n]);
      const early = obstacleOf(await sums(WALLET, 'listing', owedMs + MINUTE - 1_500), upTo(0n)) as ApiError;
      expect([early.code, early.retryAfterSeconds]).to.deep.equal(['service_unavailable', 2]);
      expect(early.message).to.match(/owes 5000 lamports .* once in 1 minutes/);
      await refusal(claim('early', { ways: [repaying], atMs: owedMs + MINUTE - 1 }));
      // A call that repays nothing is not opened.
      await refusal(claim('unpaid', { atMs: owedMs + MINUTE }));
      const row = await claim('repaid', { ways: [repaying], atMs: owedMs + MINUTE });
      await refusal(claim('more', { ways: [repaying], atMs: owedMs + MINUTE }));
      // Only an open that has landed repays.
      expect(await sums()).to.include({ owed: FEE });
      await open(row);
      expect(await sums()).to.include({ owed: 0n });
      expect((await mine.get('repaid'))!.repaid_lamports).to.equal(FEE);
      await claim('next');
      // Somebody who owes more waits longer.
      await fail(await claim('again', { wallet: 'thrice' }));
      const twice = async (id: string) =>
        claim(id, { wallet: 'thrice', ways: [repaying], atMs: (await lostAt('thrice')) + MINUTE });
      await fail(await twice('and again'));
      await refusal(twice('too early'));
    });

    it('are not repaid twice: while a paid deposit waits for its open, the wallet has no second one', async () => {
      await fail(await claim('lost'));
      const repaying = { ways: [{ ...BOUGHT, repaid: FEE }], atMs: (await lostAt()) + 2 * MINUTE };
      const row = await buy('first', repaying);
      await mine.depositSigned(row, SIGNED);
      await mine.depositConfirmed(row);
      await mine.paySigned(row, SIGNED);
      await mine.paid(row, 1);
      const refused = async () => {
        const seen = await refusal(buy('second', repaying));
        expect([seen.owed, seen.in_flight, seen.repaying]).to.deep.equal([FEE, 0n, 1n]);
        expect(obstacleOf(seen, upTo(0n))).to.deep.equal({ opens: 1n });
      };
      await refused();
      await mine.openSigned(row, SIGNED, 60n);
      await refused();
      await mine.openConfirmed(row, TIMES, 2);
      expect(await sums()).to.include({ owed: 0n, repaying: 0n });
      await refusal(buy('second', repaying));
      await buy('second', { atMs: repaying.atMs });
      expect(await opened.run('SELECT lamports FROM debts')).to.deep.equal([]);
    });

    it('of an adopted record keep what its open has repaid', async () => {
      await fail(await claim('lost'));
      const atMs = (await lostAt()) + 2 * MINUTE;
      const row = await claim('repaid', { ways: [{ ...LENT, fee: 10_000n, repaid: 5_000n }], atMs });
      await mine.openSigned(row, SIGNED, 60n);
      await mine.void(row, 'service_unavailable', 'expired');
      expect(await sums()).to.include({ owed: FEE });
      expect(await mine.adopt(executionOf('repaid'), TIMES, atMs)).to.equal(true);
      expect(await sums()).to.include({ owed: 0n });
    });

    it('are owed again if a restart of the cluster lost the open that repaid them', async () => {
      await fail(await claim('lost'));
      const atMs = (await lostAt()) + 2 * MINUTE;
      const row = await claim('repaid', { ways: [{ ...LENT, fee: 10_000n, repaid: 5_000n }], atMs });
      await complete(row);
      expect(await sums()).to.include({ owed: 0n });
      await mine.endLost(row, 5n);
      expect(await sums()).to.include({ owed: FEE });
      expect(await lent()).to.deep.equal([0n, 0n]);
    });

    it('that a listing caused count against it alone, and refuse its calls for an hour', async () => {
      for (let n = 0; n < 10; n += 1) await fail(await claim(`call ${n}`, { wallet: `wallet ${n}` }), 'listing');
      expect(obstacleOf(await sums('wallet 1'), upTo(0n))).to.equal(null);
      await fail(await claim('eleventh', { wallet: 'eleventh' }), 'listing');
      const seen = await refusal(claim('late', { wallet: 'late', atMs: Date.now() }));
      const error = obstacleOf(seen, upTo(0n)) as ApiError;
      expect(error.message).to.match(
        /cost the marketplace 55000 lamports of network fees within an hour, more than 50000/,
      );
      const leftMs = Number(seen.listing_lost_ms) + 3_600_000 - Number(seen.now_ms);
      expect(error.retryAfterSeconds).to.equal(Math.ceil(leftMs / 1_000));
      expect(await sums('eleventh')).to.include({ owed: 0n });
      await claim('elsewhere', { wallet: 'late', listing: 'another' });
      await claim('later', { wallet: 'later', atMs: Date.now() + 3_600_000 });
    });

    it('that nobody has caused are owed by nobody', async () => {
      await fail(await claim('paused'), 'operator');
      expect(await sums()).to.include({ owed: 0n, listing_lost: 0n });
    });
  });

  // The tables of SECURITY.md show these sums.
  describe('after an attack by a hundred wallets', () => {
    const WALLETS = 100;
    const each = (run: (n: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: WALLETS }, (_, n) => run(n)));
    const owedInAll = async () =>
      (await opened.run('SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) AS owed FROM debts'))[0].owed;

    it('whose opens fail, the operator has lost one fee for each wallet, and nobody else waits', async () => {
      await each(async (n) => fail(await claim(`call ${n}`, { wallet: `wallet ${n}`, listing: `agent ${n}` })));
      expect(await owedInAll()).to.equal(BigInt(WALLETS) * FEE);
      // None of them can try again at once, with whatever key.
      await refusal(claim('again', { wallet: 'wallet 99', atMs: Date.now() }));
      await claim('honest', { wallet: 'honest', listing: 'agent 0', atMs: Date.now() });
      await buy('bought', { wallet: 'buyer', listing: 'agent 0', atMs: Date.now() });
    });

    it('whose x402 payments never arrive, the operator has lost what one such payment costs for each wallet', async () => {
      const why = { code: 'payment_required', message: '', culprit: 'wallet', rebuilds: 0n } as const;
      await each(async (n) => {
        const row = await buy(`call ${n}`, { wallet: `wallet ${n}`, listing: `agent ${n}` });
        await mine.depositSigned(row, signedAnew());
        await mine.depositConfirmed(row);
        await mine.returning(row, signedAnew(), why);
        for (const one of row.transactions) await mine.burnt(row, one, 'wallet');
        await mine.void(row, 'payment_required', '', 1);
      });
      expect(await owedInAll()).to.equal(BigInt(WALLETS) * 2n * FEE);
      expect(await lent()).to.deep.equal([0n, 0n]);
      await refusal(buy('again', { wallet: 'wallet 99', atMs: Date.now() }));
      await buy('bought', { wallet: 'buyer', listing: 'agent 0', atMs: Date.now() });
    });

    it('that borrow all they can, three quarters are lent, and callers with gas and x402 buyers go on', async () => {
      // A hundredth of 9.9 SOL.
      const limit = 99_000_000n;
      const most = Number((limit * 3n) / 4n / RENTS.record);
      for (let n = 0; n < most; n += 1) await complete(await claim(`call ${n}`, { wallet: `wallet ${n}`, limit }));
      await refusal(claim('more', { wallet: 'wallet 0', limit }));
      expect(await lent()).to.deep.equal([BigInt(most) * RENTS.record, 0n]);
      expect((await claim('own', { wallet: 'rich', ways: [LENT, OWN], limit })).record_lent).to.equal(0n);
      expect((await buy('bought', { wallet: 'buyer', limit })).record_lent).to.equal(RENTS.record);
      // They come back by the clock alone.
      const ended = await mine.lent(BigInt(2 ** 52), 99, null);
      await mine.rentReturned(ended.map((row) => row.execution_id));
      expect((await lent())[0]).to.equal(0n);
    });
  });
});
