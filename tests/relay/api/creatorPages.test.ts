/** Pages of listings for their creators, of outcomes for everybody, and of creators for the admin. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { deleteContent } from '../../../app/relay/ledger/content.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { REFUND_REASONS } from '../../../app/sdk/program/program.ts';
import { REFUND_REASON_NAMES } from '../../../app/sdk/wire/agentStatistics.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import type { ExecutionRow } from '../../../indexer/queries/tables.ts';
import { ADMIN } from '../../harness/edge/accounts.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, metadataOf, newAddress } from '../../harness/edge/rows.ts';
import { idsOf, refusal, refusedAs, sessionsOf } from './sessions.ts';

const DAY = 86_400;
/** The first second of the day of EPOCH. */
const TODAY = EPOCH - (EPOCH % DAY);
const dayOf = (daysAgo: number) => new Date((TODAY - daysAgo * DAY) * 1000).toISOString().slice(0, 10);
const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

describe('pages of creators', () => {
  const world = useWorld();
  const { anonymous, signIn } = sessionsOf(() => world);

  /** A record that ended this many days ago. */
  function ended(listing: string, daysAgo: number, changes: Partial<ExecutionRow> = {}): Promise<string> {
    const settled_at = BigInt(TODAY - daysAgo * DAY + 7);
    return world.addRecord({ caller: newAddress(), listing, settled_at, ...changes });
  }
  /** A creator's session and listing. */
  async function addCreator() {
    const wallet = Keypair.generate();
    const creator = wallet.publicKey.toBase58();
    return { wallet, creator, listing: await world.addListing({ creator }), session: await signIn(wallet) };
  }
  const refunded = (reason: bigint): Partial<ExecutionRow> => ({
    status: 'refunded',
    reason,
    creator_amount: 0n,
    platform_amount: 0n,
    execution_time_ms: null,
  });

  describe('listings.mine', () => {
    it("returns the wallet's own listings, also delisted ones, with the exact bytes of their descriptions", async () => {
      const wallet = Keypair.generate();
      const creator = wallet.publicKey.toBase58();
      const amounts = { deposited: 25_000_000n, slashed: 1_000_001n, forfeited: 7n };
      const listing = await world.addListing({ creator, ...amounts, listed_at: BigInt(EPOCH + 5) }, { name: 'mine' });
      const over = { status: 'delisted', returnable_at: BigInt(EPOCH + 9), collateral_returned: 1n } as const;
      const gone = await world.addListing({ creator, ...over, metadata_hash: '00'.repeat(32) }, null);
      await world.addListing();
      await ended(listing, 0, { creator_amount: 247_501n });
      await ended(listing, 1, { status: 'disputed', creator_amount: 1n });
      await ended(listing, 1, refunded(0n));
      await ended(listing, 1, refunded(4n));
      const execution_id = await ended(listing, 0, { status: 'disputed', creator_amount: 0n });
      await world.addDispute({ execution_id, caller: newAddress(), listing });
      const { listings } = await (await signIn(wallet)).call('listings.mine');
      expect(listings.map(({ agent_id }) => agent_id)).to.deep.equal([listing, gone]);
      const collateral = { deposited_usdc: 25, slashed_usdc: 1.000001, forfeited_usdc: 0.000007 };
      expect(listings[0]).to.deep.include({
        name: 'mine',
        status: 'active',
        price_usdc: 0.25,
        tags: ['data'],
        metadata: new TextDecoder().decode(encodeMetadata(metadataOf({ name: 'mine' }))),
        collateral: { ...collateral, returnable_at: null, returned: false },
        total_executions: 4,
        success_rate: 0.75,
        earned_usdc: 0.247502,
        latest: { executions: 4, failed: 1, earned_usdc: 0.247502 },
        open_disputes: 1,
        listed_at: timeOf(EPOCH + 5),
      });
      const back = { returnable_at: timeOf(EPOCH + 9), returned: true };
      const latest = { executions: 0, failed: 0, earned_usdc: 0 };
      const unused = { total_executions: 0, success_rate: 0, earned_usdc: 0, latest, open_disputes: 0 };
      expect(listings[1]).to.deep.include({
        ...{ name: null, status: 'delisted', metadata: null, ...unused },
        collateral: { deposited_usdc: 5, slashed_usdc: 0, forfeited_usdc: 0, ...back },
      });
      expect((await (await signIn(Keypair.generate())).call('listings.mine')).listings).to.deep.equal([]);
    });

    it("hides a creator's endpoint from wallets with a copy of its description, and does not test it for them", async () => {
      const endpoint = 'https://secret.example/execute';
      /** A creator with a listing whose versions began in these slots. */
      async function addCopy(listedAt: number, slots: bigint[]) {
        const wallet = Keypair.generate();
        const row = { creator: wallet.publicKey.toBase58(), listed_at: BigInt(listedAt) };
        const listing = await world.addListing({ ...row, listing_version: BigInt(slots.length) }, { endpoint });
        const versions = slots.map((slot, index) => ({
          version: `${listing} ${index + 1}`,
          timeout_seconds: 60n,
          slot,
        }));
        await world.index.insertInto('listing_versions').values(versions).execute();
        return signIn(wallet);
      }
      const shownTo = async ({ call }: Awaited<ReturnType<typeof signIn>>) =>
        (await call('listings.mine')).listings[0]!;
      const own = await addCopy(EPOCH, [10n, 20n]);
      const copies = [await addCopy(EPOCH + 1, [21n]), await addCopy(EPOCH, [22n])];
      expect((await shownTo(own)).metadata).to.include(endpoint);
      // An older listing may have had the description first, so now it is shown to nobody.
      copies.push(await addCopy(EPOCH - 1, [5n, 23n]), own);
      for (const copy of copies) {
        const { metadata, name, metadata_hash } = await shownTo(copy);
        expect([metadata, name]).to.deep.equal([null, null]);
        const { checks } = await copy.call('listings.test', { metadata_hash, signing_key: newAddress(), full: true });
        expect(checks.map((check) => [check.name, check.ok])).to.deep.equal([['metadata', false]]);
      }
    });
  });

  describe('GET /v1/agents/{agent_id}/statistics', () => {
    const none = { completed: 0, failed: 0, refunded: 0, success_rate: null, p50_ms: null, p95_ms: null };

    it('has 30 days with success and latency, their sums, and refunds by reason, also if nobody has called', async () => {
      const listing = await world.addListing();
      const unused = (await world.get(`/v1/agents/${listing}/statistics`)).json;
      expect([unused.days.length, unused.total, unused.refunds]).to.deep.equal([30, none, []]);
      // More than two digits are rounded: 1,249 to 1,200 and 1,250 to 1,300.
      for (const ms of [0n, 30n, 1_249n, 1_250n]) await ended(listing, 1, { execution_time_ms: ms });
      await ended(listing, 1, { status: 'dispute_upheld', execution_time_ms: 9_000n });
      for (const reason of [0n, 0n, 4n]) await ended(listing, 1, refunded(reason));
      await ended(listing, 29, { status: 'disputed', execution_time_ms: 70n });
      await ended(listing, 30, refunded(2n));
      await ended(listing, 0, { status: 'open', settled_at: null });
      const { status, json, headers } = await world.get(`/v1/agents/${listing}/statistics`);
      expect(status, JSON.stringify(json)).to.equal(200);
      expect(headers.get('cache-control')).to.equal('public, max-age=5');
      const yesterday = { completed: 4, failed: 3, refunded: 1, success_rate: 4 / 7, p50_ms: 30, p95_ms: 1_300 };
      const days = Array.from({ length: 30 }, (_, index) => ({ day: dayOf(29 - index), ...none }));
      Object.assign(days[28]!, yesterday);
      Object.assign(days[0]!, { completed: 1, success_rate: 1, p50_ms: 70, p95_ms: 70 });
      expect(json).to.deep.equal({
        agent_id: listing,
        from: dayOf(29),
        to: dayOf(0),
        days,
        total: { completed: 5, failed: 3, refunded: 1, success_rate: 5 / 8, p50_ms: 70, p95_ms: 1_300 },
        refunds: [
          { reason: 'creator_failed', executions: 2 },
          { reason: 'unserved', executions: 1 },
        ],
      });
      const client = createClient({ baseUrl: world.url });
      expect(await client.request('getAgentStatistics', { agent_id: listing })).to.deep.equal(json);
    });

    it('counts a refund against the creator only if it is its fault: not if the caller asked for less than its timeout', async () => {
      const listing = await world.addListing();
      const after = (seconds: number) => ({ deadline: BigInt(EPOCH + seconds), listing_timeout_seconds: 60n });
      const failed = [refunded(0n), { ...refunded(1n), ...after(60) }, refunded(3n)];
      const others = [{ ...refunded(1n), ...after(5) }, refunded(4n), refunded(5n)];
      for (const changes of [...failed, ...others]) await ended(listing, 0, changes);
      const { json } = await world.get(`/v1/agents/${listing}/statistics`);
      expect(json.total).to.include({ completed: 0, failed: 3, refunded: 3, success_rate: 0 });
    });

    it('rejects: unknown and delisted agents', async () => {
      for (const agent_id of [newAddress(), await world.addListing({ status: 'delisted' })])
        expect((await world.get(`/v1/agents/${agent_id}/statistics`)).outcome).to.equal('404 agent_not_found');
    });

    it('names refund reasons in the order of the program', () => {
      const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect(REFUND_REASON_NAMES).to.deep.equal(REFUND_REASONS.map(snake));
    });
  });

  describe('listings.statistics', () => {
    it('returns every day, oldest first, with the reasons of failed calls', async () => {
      const { listing, session } = await addCreator();
      for (const ms of [10n, 20n, 30n, 40n]) await ended(listing, 1, { execution_time_ms: ms });
      const upheld = { status: 'dispute_upheld', creator_amount: 1n, execution_time_ms: 9_000n } as const;
      for (const daysAgo of [1, 3]) {
        const execution_id = await ended(listing, daysAgo, upheld);
        const resolved = { outcome: 'upheld', resolved_at: BigInt(EPOCH - 5 + daysAgo) } as const;
        await world.addDispute({ execution_id, caller: newAddress(), listing, ...resolved });
      }
      await ended(listing, 1, refunded(2n));
      await ended(listing, 1, refunded(4n));
      await ended(listing, 0, { status: 'disputed', execution_time_ms: 5n });
      await ended(listing, 3, { execution_time_ms: 7n });
      const failed = { wallet: newAddress(), listing, state: 'refunded' as const };
      const bad = { ...failed, error_code: 'execution_failed', error_message: 'It answered 500', refund_reason: 0n };
      await world.addJournal({ ...bad, settled_at: BigInt(EPOCH + 1) });
      await world.addJournal({ ...bad, settled_at: BigInt(EPOCH + 3) });
      await world.addJournal({ ...bad, error_code: 'execution_timeout', error_message: 'Late', refund_reason: 1n });
      await world.addJournal({ ...bad, error_message: 'Ours', refund_reason: 4n });
      const old = BigInt((TODAY - 3 * DAY) * 1000);
      await world.addJournal({ ...bad, error_message: 'Old', created_ms: old });

      const { days, failures } = await session.call('listings.statistics', { agent_id: listing, days: 3 });
      const none = { completed: 0, failed: 0, earned_usdc: 0, p50_ms: null, p95_ms: null };
      expect(days).to.deep.equal([
        { day: dayOf(2), ...none },
        { day: dayOf(1), completed: 4, failed: 2, earned_usdc: 0.990001, p50_ms: 20, p95_ms: 40 },
        { day: dayOf(0), completed: 1, failed: 0, earned_usdc: 0.2475, p50_ms: 5, p95_ms: 5 },
      ]);
      const upheldMessage = 'A caller disputed the result, and the dispute was upheld';
      expect(failures).to.deep.equal([
        { code: 'execution_failed', message: 'It answered 500', count: 2, last_at: timeOf(EPOCH + 3) },
        { code: 'execution_timeout', message: 'Late', count: 1, last_at: timeOf(Math.floor(EPOCH - 0.3)) },
        { code: 'dispute_upheld', message: upheldMessage, count: 1, last_at: timeOf(EPOCH - 4) },
      ]);
      const month = await session.call('listings.statistics', { agent_id: listing });
      expect(month.days).to.have.length(30);
      expect(month.days.at(-4)).to.deep.include({ day: dayOf(3), completed: 1, failed: 1 });
      expect(month.failures.map(({ message }) => message)).to.include('Old');
    });

    it('rejects: the listing of another wallet like a missing one, and invalid ranges', async () => {
      const { listing, session } = await addCreator();
      const stranger = await signIn(Keypair.generate());
      const refusals = [listing, newAddress()].map((agent_id) =>
        refusal(stranger.call('listings.statistics', { agent_id })),
      );
      const [others, none] = await Promise.all(refusals);
      expect(others).to.include({ status: 404, code: 'agent_not_found' });
      expect(none?.message).to.equal(others?.message);
      for (const days of [0, 91, 1.5]) {
        const call = session.call('listings.statistics', { agent_id: listing, days });
        expect(await refusedAs(call)).to.equal('400 invalid_request');
      }
    });
  });

  describe('listings.calls and listings.call', () => {
    const refund = { refund_state: 'done', error_code: 'execution_failed', error_message: 'Not JSON' } as const;
    const answer = { http_status: 200n, body: Buffer.from('{'), is_cut: 1n, duration_ms: 12n, answered_ms: 1n };
    const given = (execution_id: string) => ({ execution_id });

    it('returns ended calls of one agent or of all, newest first, all or failed ones, in pages', async () => {
      const { creator, listing, session } = await addCreator();
      const dispatched_ms = BigInt(EPOCH * 1_000 + 5);
      const row = (at: number) => ({ wallet: newAddress(), listing, dispatched_ms, created_ms: BigInt(at) });
      const paid = await world.addJournal({ ...row(1), state: 'settled', creator_amount: 247_500n });
      await world.addResult(paid, 'x'.repeat(20_000), { execution_time_ms: 40n });
      const failed: string[] = [];
      // Two calls at the same time.
      for (const at of [2, 4, 4]) failed.push(await world.addJournal({ ...row(at), state: 'refunded', ...refund }));
      const answered = { execution_id: failed[0]!, ...answer };
      await world.ledger.insertInto('failed_answers').values(answered).execute();
      const addDisputed = async (at: number, status: 'disputed' | 'dispute_upheld', outcome: 'open' | 'upheld') => {
        const execution_id = await world.addJournal({ ...row(at), state: 'settled' });
        const record = { caller: newAddress(), listing, execution_id };
        await world.addRecord({ ...record, status });
        await world.addDispute({ ...record, outcome });
        return execution_id;
      };
      const upheld = await addDisputed(3, 'dispute_upheld', 'upheld');
      const disputed = await addDisputed(5, 'disputed', 'open');
      // A call that was not dispatched, one that has not ended, and one of another agent.
      await world.addJournal({ ...row(6), dispatched_ms: null, state: 'refunded', ...refund });
      await world.addJournal({ ...row(7), state: 'dispatched' });
      await world.addJournal({ ...row(8), listing: await world.addListing(), state: 'settled' });
      const other = await world.addListing({ creator });
      const ofOther = await world.addJournal({ ...row(9), listing: other, state: 'refunded', ...refund });
      const oldest = await world.addJournal({ ...row(0), listing: other, state: 'settled' });

      const inPages = async (filter: { agent_id?: string; failed: boolean }) => {
        const ids: string[] = [];
        for (let before: string | undefined; ; before = ids.at(-1)) {
          const asked = { limit: 2, ...filter, ...(before && { before }) };
          const { calls, has_more } = await session.call('listings.calls', asked);
          ids.push(...idsOf(calls));
          if (!has_more) return ids;
        }
      };
      const all = await inPages({ agent_id: listing, failed: false });
      const [newest] = (await session.call('listings.calls', { agent_id: listing, limit: 1 })).calls;
      expect(newest).to.deep.include({ status: 'disputed', dispute: { outcome: 'open' } });
      expect(all).to.deep.equal([disputed, ...failed.slice(1).sort().reverse(), upheld, failed[0], paid]);
      const only = await session.call('listings.calls', { agent_id: listing, failed: true });
      expect(idsOf(only.calls)).to.deep.equal(all.slice(1, 5));
      expect(await inPages({ agent_id: listing, failed: true })).to.deep.equal(all.slice(1, 5));
      expect(await inPages({ failed: false })).to.deep.equal([ofOther, ...all, oldest]);
      expect(await inPages({ failed: true })).to.deep.equal([ofOther, ...all.slice(1, 5)]);
      const [first, second] = (await session.call('listings.calls', {})).calls;
      expect([first?.agent_id, second?.agent_id]).to.deep.equal([other, listing]);
      const received_at = timeOf(EPOCH).replace('.000', '.005');
      const error = { code: 'execution_failed', message: 'Not JSON' };
      expect(only.calls[3]).to.deep.equal({
        ...given(failed[0]!),
        agent_id: listing,
        ...{ status: 'failed', dispute: null, price_usdc: 0.25, earned_usdc: 0, refunded_usdc: 0.25 },
        ...{ task: 'a task', received_at, duration_ms: 12, http_status: 200, error },
      });
      const { answer: raw } = await session.call('listings.call', given(failed[0]!));
      expect(raw).to.deep.equal({ kind: 'body', text: '{', is_cut: true });
      const { call, ...content } = await session.call('listings.call', given(paid));
      expect(call).to.deep.equal({
        ...given(paid),
        agent_id: listing,
        ...{ status: 'completed', dispute: null, price_usdc: 0.25, earned_usdc: 0.2475, refunded_usdc: 0 },
        ...{ task: 'a task', received_at, duration_ms: 40, http_status: 200, error: null },
      });
      expect(content.answer).to.deep.equal({ kind: 'result', text: 'x'.repeat(16 * 1024), is_cut: true });

      // Nothing is left of content that the caller has deleted.
      await deleteContent(world.ledger, failed[0]!, EPOCH * 1_000);
      const deleted = await session.call('listings.call', given(failed[0]!));
      expect([deleted.request, deleted.answer, deleted.call.task]).to.deep.equal([null, null, null]);
      expect(deleted.call.http_status).to.equal(200);
    });

    it('rejects: other wallets, also callers, and calls that no agent of the wallet received', async () => {
      const caller = Keypair.generate();
      const { listing, session: own } = await addCreator();
      const row = { listing, dispatched_ms: 1n, state: 'settled' as const };
      const id = await world.addJournal({ wallet: caller.publicKey.toBase58(), ...row });
      const elsewhere = await world.addJournal({ wallet: newAddress(), ...row, listing: await world.addListing() });
      expect(await refusedAs(anonymous().call('listings.call', given(id)))).to.equal('401 unauthorized');
      const others = await signIn(caller);
      const missing = '404 execution_not_found';
      expect(await refusedAs(others.call('listings.call', given(id)))).to.equal(missing);
      expect(await refusedAs(own.call('listings.call', given(elsewhere)))).to.equal(missing);
      const before = { agent_id: listing, before: elsewhere };
      expect(await refusedAs(own.call('listings.calls', before))).to.equal(missing);
      const none = others.call('listings.calls', { agent_id: listing });
      expect(await refusedAs(none)).to.equal('404 agent_not_found');
      expect(await others.call('listings.calls', {})).to.deep.equal({ calls: [], has_more: false });
      expect(await refusedAs(others.call('listings.calls', { before: id }))).to.equal(missing);
      expect((await own.call('listings.call', given(id))).call.execution_id).to.equal(id);
    });
  });

  describe('creators.list', () => {
    it('returns all creators with a listing or badge, filtered by words and badge, in pages', async () => {
      const wallet = newAddress();
      const listing = await world.addListing(
        { creator: wallet, listed_at: BigInt(EPOCH + 1_000) },
        { display_name: 'Nova Robotics' },
      );
      const other = await world.addListing({ creator: wallet, status: 'delisted' }, { display_name: 'Old Name' });
      await world.addListing({ creator: wallet, status: 'paused' }, { display_name: 'Acme Bank' });
      await ended(listing, 0, { creator_amount: 100n });
      const execution_id = await ended(other, 0, { creator_amount: 23n });
      await world.addDispute({ execution_id, caller: newAddress(), listing: other });
      const unlisted = newAddress();
      const badge = { verified: 1n, verified_at: BigInt(EPOCH + 3), slot: 1n } as const;
      const badges = [
        { wallet, ...badge },
        { wallet: unlisted, ...badge, verified: 0n as const },
      ];
      await world.index.insertInto('creators').values(badges).execute();
      const admin = await signIn(ADMIN);
      const nova = {
        wallet,
        display_name: 'Nova Robotics',
        other_names: ['Acme Bank'],
        verified: true,
        verified_at: timeOf(EPOCH + 3),
        listings: 2,
        total_executions: 2,
        failed_executions: 0,
        earned_usdc: 0.000123,
        disputes: { open: 1, rejected: 0, upheld: 0, lapsed: 0 },
        listed_since: timeOf(EPOCH),
      };
      for (const q of ['nova', 'ROBOTICS nova', wallet]) {
        expect(await admin.call('creators.list', { q })).to.deep.equal({ creators: [nova], total: 1 });
      }
      expect((await admin.call('creators.list', { q: 'csv' })).total).to.equal(0);
      expect(await admin.call('creators.list', { verified: true })).to.deep.equal({ creators: [nova], total: 1 });
      const all = await admin.call('creators.list', { limit: 100 });
      expect(all.creators[0]).to.deep.equal(nova);
      expect(all.creators.at(-1)).to.deep.equal({
        ...{ wallet: unlisted, display_name: null, other_names: [], verified: false, verified_at: timeOf(EPOCH + 3) },
        ...{ listings: 0, total_executions: 0, failed_executions: 0, earned_usdc: 0, listed_since: null },
        disputes: { open: 0, rejected: 0, upheld: 0, lapsed: 0 },
      });
      const second = await admin.call('creators.list', { limit: 1, offset: 1 });
      expect(second).to.deep.equal({ creators: [all.creators[1]], total: all.creators.length });
      const unverified = await admin.call('creators.list', { verified: false, limit: 100 });
      expect(unverified.total).to.equal(all.total - 1);
    });
  });
});
