/** Disputes as their parties and the admin read them, and the documents behind their hashes. */
import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { listAllDisputes, listOwnDisputes } from '../../../app/relay/disputes/lists.ts';
import { dropOldEvents, eventOf } from '../../../app/relay/ledger/events.ts';
import { newEndpointId } from '../../../app/relay/ledger/webhooks.ts';
import { ADMIN } from '../../harness/edge/accounts.ts';
import { useWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { idsOf, refusal, refusedAs, sessionsOf } from './sessions.ts';

const HOUR = 3_600;
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

describe('disputes at /trpc', () => {
  const world = useWorld();
  afterEach(async () => {
    for (const table of ['disputes', 'executions', 'listings', 'progress'] as const)
      await world.index.deleteFrom(table).execute();
    for (const table of ['evidence', 'dispute_reasons'] as const) await world.ledger.deleteFrom(table).execute();
    world.state.nowMs = EPOCH * 1000;
  });
  const { signIn } = sessionsOf(() => world);

  type Changes = Partial<Parameters<World['addDispute']>[0]>;
  /** A disputed execution. */
  async function add(caller: string, listing: string, changes: Changes = {}) {
    const execution_id = await world.addRecord({ caller, listing, status: 'disputed' });
    return { execution_id, dispute: await world.addDispute({ execution_id, caller, listing, ...changes }) };
  }
  /** A disputed execution with its parties. */
  async function addDisputed(changes: Changes = {}) {
    const [caller, creator] = [Keypair.generate(), Keypair.generate()];
    const wallet = caller.publicKey.toBase58();
    const listing = await world.addListing({ creator: creator.publicKey.toBase58() }, { name: 'disputed-agent' });
    return { caller, wallet, creator, listing, ...(await add(wallet, listing, changes)) };
  }
  const openedAt = (seconds: number) => ({ opened_at: BigInt(EPOCH + seconds) });

  const file = (text: string) => ({ content: Buffer.from(text).toString('base64'), media_type: 'text/plain' as const });

  describe('the lists', () => {
    it('show a dispute to its caller and its creator, and to no other wallet', async () => {
      const { caller, creator, listing, execution_id, dispute } = await addDisputed({
        evidence_uri: 'https://evidence.example/1',
      });
      await addDisputed();
      const expected = {
        execution_id,
        agent_id: listing,
        agent_name: 'disputed-agent',
        task: null,
        caller: caller.publicKey.toBase58(),
        creator: creator.publicKey.toBase58(),
        price_usdc: 0.25,
        evidence_hash: dispute.evidence_hash,
        evidence_uri: 'https://evidence.example/1',
        has_evidence: false,
        outcome: 'open',
        bond_lamports: 10_000_000,
        bond_paid_lamports: 10_000_000,
        opened_at: timeOf(EPOCH + 100),
        answer_due_at: timeOf(EPOCH + 100 + 72 * HOUR),
        lapses_at: timeOf(EPOCH + 100 + 30 * 24 * HOUR),
        resolved_at: null,
        amount_to_caller_usdc: 0,
        amount_slashed_usdc: 0,
        owed_usdc: 0,
        reason_hash: null,
        reason: null,
        reply: null,
      };
      for (const party of [caller, creator]) {
        const mine = await (await signIn(party)).call('disputes.mine');
        expect(mine).to.deep.equal({ disputes: [expected], total: 1 });
      }
      const none = await (await signIn(Keypair.generate())).call('disputes.mine');
      expect(none).to.deep.equal({ disputes: [], total: 0 });
    });

    it('show the admin open disputes by due date, then ended ones, filtered by outcome and page', async () => {
      const over = { resolved_at: BigInt(EPOCH + 900), bond: 0n };
      const later = await addDisputed(openedAt(300));
      const award = { outcome: 'upheld', amount_to_caller: 250_000n, amount_slashed: 1n, owed: 250_000n } as const;
      const upheld = await addDisputed({ ...openedAt(100), ...over, ...award });
      const lapsed = await addDisputed({ ...openedAt(400), ...over, outcome: 'lapsed' });
      const sooner = await addDisputed(openedAt(200));
      const admin = await signIn(ADMIN);
      const all = await admin.call('disputes.queue');
      const ids = idsOf([sooner, later, lapsed, upheld]);
      expect(idsOf(all.disputes)).to.deep.equal(ids);
      expect(all.disputes[3]).to.deep.include({
        outcome: 'upheld',
        bond_lamports: 0,
        bond_paid_lamports: 10_000_000,
        amount_to_caller_usdc: 0.25,
        amount_slashed_usdc: 0.000001,
        owed_usdc: 0.25,
        resolved_at: timeOf(EPOCH + 900),
        evidence_uri: null,
      });
      const page = await admin.call('disputes.queue', { limit: 1, offset: 1 });
      expect([page.total, page.disputes[0]?.execution_id]).to.deep.equal([4, later.execution_id]);
      const lapses = await admin.call('disputes.queue', { outcome: 'lapsed' });
      expect(lapses).to.deep.equal({ disputes: [all.disputes[2]], total: 1 });
    });

    it("show the admin one creator's disputes alone, the open ones first, each newest first", async () => {
      const { wallet, creator, listing, execution_id: later } = await addDisputed(openedAt(5));
      await addDisputed(openedAt(1));
      const own = creator.publicKey.toBase58();
      const other = await world.addListing({ creator: own }, { name: 'other-agent' });
      const { execution_id: sooner } = await add(own, other, openedAt(3));
      const { execution_id: upheld } = await add(wallet, other, { ...openedAt(4), outcome: 'upheld' });
      const { execution_id: rejected } = await add(wallet, listing, { ...openedAt(6), outcome: 'rejected' });
      const admin = await signIn(ADMIN);
      const listed = async (input: object) => {
        const { disputes, total } = await admin.call('disputes.queue', { creator: own, ...input });
        return [idsOf(disputes), total];
      };
      expect(await listed({})).to.deep.equal([[later, sooner, rejected, upheld], 4]);
      expect(await listed({ limit: 2, offset: 1 })).to.deep.equal([[sooner, rejected], 4]);
      expect(await listed({ outcome: 'open' })).to.deep.equal([[later, sooner], 2]);
      expect(await listed({ outcome: 'upheld' })).to.deep.equal([[upheld], 1]);
      expect(await listed({ creator: newAddress() })).to.deep.equal([[], 0]);
    });

    it('show each party its open disputes first, then the ended ones, newest first, over all pages', async () => {
      const { caller, wallet, creator, listing, execution_id: first } = await addDisputed(openedAt(2));
      const { execution_id: ended } = await add(wallet, listing, { outcome: 'rejected', ...openedAt(5) });
      const tied = idsOf([await add(wallet, listing, openedAt(1)), await add(wallet, listing, openedAt(1))]).sort();
      const { execution_id: oldestEnded } = await add(wallet, listing, { outcome: 'upheld', ...openedAt(3) });
      const { execution_id: newestOpen } = await add(wallet, listing, openedAt(4));
      const expected = [newestOpen, first, ...tied, ended, oldestEnded];
      for (const party of [caller, creator]) {
        const { disputes, total } = await (await signIn(party)).call('disputes.mine');
        expect([idsOf(disputes), total]).to.deep.equal([expected, 6]);
        // They count at most a little past the page.
        const pages = [];
        for (let offset = 0; offset < 6; offset += 1)
          pages.push(await listOwnDisputes(world.deps, party.publicKey.toBase58(), { limit: 1, offset }, 2));
        expect(pages.map((page) => page.total)).to.deep.equal([2, 3, 4, 5, 6, 6]);
        expect(pages.flatMap((page) => idsOf(page.disputes))).to.deep.equal(expected);
      }
      expect((await listAllDisputes(world.deps, { limit: 1, offset: 0 }, 3)).total).to.equal(3);
      // As caller and as creator of another agent, in one order.
      const ownListing = await world.addListing({ creator: wallet }, { name: 'own-agent' });
      const { execution_id: against } = await add(newAddress(), ownListing, openedAt(3));
      const { disputes } = await (await signIn(caller)).call('disputes.mine', { limit: 4 });
      expect(idsOf(disputes)).to.deep.equal([newestOpen, against, first, tied[0]]);
    });

    it('show the creator the disputes of one listing, page by page, and nobody else any', async () => {
      const { caller, wallet, creator, listing, execution_id: first } = await addDisputed(openedAt(2));
      const own = creator.publicKey.toBase58();
      const other = await world.addListing({ creator: own }, { name: 'other-agent' });
      const { execution_id: elsewhere } = await add(wallet, other, openedAt(4));
      const { execution_id: byItself } = await add(own, listing, openedAt(1));
      const session = await signIn(creator);
      const listed = async (agent_id: string, more = {}) => {
        const { disputes, total } = await session.call('disputes.mine', { agent_id, ...more });
        return [idsOf(disputes), total];
      };
      expect(await listed(listing)).to.deep.equal([[first, byItself], 2]);
      expect(await listed(listing, { limit: 1, offset: 1 })).to.deep.equal([[byItself], 2]);
      expect(await listed(other)).to.deep.equal([[elsewhere], 1]);
      expect(await listed(newAddress())).to.deep.equal([[], 0]);
      const asCaller = await (await signIn(caller)).call('disputes.mine', { agent_id: listing });
      expect(asCaller).to.deep.equal({ disputes: [], total: 0 });
    });
  });

  describe('evidence', () => {
    it('is accepted before the dispute that names it, and readable by the admin and both parties', async () => {
      const [caller, creator] = [Keypair.generate(), Keypair.generate()];
      const wallet = caller.publicKey.toBase58();
      const listing = await world.addListing({ creator: creator.publicKey.toBase58() });
      const execution_id = await world.addRecord({ caller: wallet, listing });
      const session = await signIn(caller);
      const { evidence_hash } = await session.call('disputes.putEvidence', { execution_id, ...file('it lied') });
      expect(evidence_hash).to.equal(sha256('it lied'));
      const admin = await signIn(ADMIN);
      const reading = { execution_id };
      expect(await refusedAs(admin.call('disputes.evidence', reading))).to.equal('404 execution_not_found');
      await world.addDispute({ execution_id, caller: wallet, listing, evidence_hash });
      await world.index.updateTable('executions').set({ status: 'disputed' }).execute();
      for (const reader of [admin, session, await signIn(creator)]) {
        const read = await reader.call('disputes.evidence', reading);
        expect(read).to.deep.equal({ ...file('it lied'), evidence_hash });
      }
      const stranger = await signIn(Keypair.generate());
      expect(await refusedAs(stranger.call('disputes.evidence', reading))).to.equal('404 execution_not_found');
      expect((await session.call('disputes.mine')).disputes[0]).to.deep.include({ has_evidence: true });
    });

    it('is accepted after the dispute when the dispute names it', async () => {
      const { caller, execution_id } = await addDisputed({ evidence_hash: sha256('after') });
      const session = await signIn(caller);
      const other = await refusal(session.call('disputes.putEvidence', { execution_id, ...file('other') }));
      expect(other.status).to.equal(400);
      expect(other.message).to.include(sha256('after'));
      await session.call('disputes.putEvidence', { execution_id, ...file('after') });
      expect((await session.call('disputes.mine')).disputes[0]?.has_evidence).to.equal(true);
    });

    it("rejects: another wallet's execution like a missing one, the creator, and executions that cannot be disputed", async () => {
      const { creator, execution_id } = await addDisputed();
      for (const stranger of [creator, Keypair.generate(), ADMIN]) {
        const session = await signIn(stranger);
        for (const id of [execution_id, newExecutionId()]) {
          const put = session.call('disputes.putEvidence', { execution_id: id, ...file('x') });
          expect(await refusedAs(put)).to.equal('404 execution_not_found');
        }
      }
      const caller = Keypair.generate();
      const session = await signIn(caller);
      for (const status of ['open', 'refunded', 'dispute_upheld'] as const) {
        const row = { caller: caller.publicKey.toBase58(), listing: await world.addListing(), status };
        const id = await world.addRecord(row);
        const put = session.call('disputes.putEvidence', { execution_id: id, ...file('x') });
        expect(await refusedAs(put)).to.equal('400 invalid_request');
      }
      expect(await world.ledger.selectFrom('evidence').selectAll().execute()).to.deep.equal([]);
    });

    it('accepts at most 256 KiB of base64 in a known format', async () => {
      const caller = Keypair.generate();
      const execution_id = await world.addRecord({
        caller: caller.publicKey.toBase58(),
        listing: await world.addListing(),
      });
      const session = await signIn(caller);
      const largest = Buffer.alloc(256 * 1024, 7);
      const media_type = 'application/octet-stream';
      const put = (content: string, type: string = media_type) =>
        world.post('/trpc/disputes.putEvidence', { execution_id, content, media_type: type }, { key: session.token });
      const kept = await put(largest.toString('base64'));
      expect([kept.status, kept.json.result.data.evidence_hash]).to.deep.equal([200, sha256(largest)]);
      const tooLong = [1, 3].map((more) => Buffer.alloc(256 * 1024 + more).toString('base64'));
      for (const content of [...tooLong, '', 'not base64!'])
        expect((await put(content)).outcome).to.equal('400 invalid_request');
      expect((await put('YQ==', 'text/html')).outcome).to.equal('400 invalid_request');
      const huge = await put('A'.repeat(384 * 1024));
      expect([huge.status, huge.json.error.data.details]).to.deep.equal([413, { max_bytes: 384 * 1024 }]);
    });

    it('is refused without a session before the body is read', async () => {
      const body = `{"content":"${'A'.repeat(300 * 1024)}`;
      expect((await world.post('/trpc/disputes.putEvidence', body)).status).to.equal(401);
    });

    it('is deleted, when no dispute names it, by the ninth file of its wallet or after a day', async () => {
      const caller = Keypair.generate();
      const wallet = caller.publicKey.toBase58();
      const listing = await world.addListing();
      const session = await signIn(caller);
      const ids: string[] = [];
      const kept = async () => {
        const rows = await world.ledger.selectFrom('evidence').select('execution_id').execute();
        return rows.map((row) => ids.indexOf(row.execution_id)).sort((a, b) => a - b);
      };
      async function put(text: string) {
        const execution_id = await world.addRecord({ caller: wallet, listing });
        ids.push(execution_id);
        world.state.nowMs += 1;
        return session.call('disputes.putEvidence', { execution_id, ...file(text) });
      }
      const { evidence_hash } = await put('named');
      await world.addDispute({ execution_id: ids[0]!, caller: wallet, listing, evidence_hash });
      for (let index = 1; index <= 8; index += 1) await put(`file ${index}`);
      expect(await kept()).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8]);
      await put('one more');
      expect(await kept()).to.deep.equal([0, 2, 3, 4, 5, 6, 7, 8, 9]);

      const stranger = Keypair.generate();
      const others = await signIn(stranger);
      async function putOthers(indexedMs: number) {
        await world.setProgress(1n, EPOCH * 1000 + indexedMs);
        ids.push(await world.addRecord({ caller: stranger.publicKey.toBase58(), listing }));
        await others.call('disputes.putEvidence', { execution_id: ids.at(-1)!, ...file('theirs') });
      }
      // The dispute can exist on chain while the index, which lags, does not have it.
      await putOthers(0);
      expect(await kept()).to.have.length(10);
      await putOthers(24 * HOUR * 1000 + 5);
      expect(await kept()).to.deep.equal([0, 4, 5, 6, 7, 8, 9, 10, 11]);
    });
  });

  describe('the case and its reason', () => {
    it('show the request and its result to the admin and both parties, and to no other wallet', async () => {
      const { caller, wallet, creator, listing, execution_id } = await addDisputed();
      const asked = { task: 'count rows', parameters: '{"file":"a.csv"}' };
      await world.addJournal({ execution_id, wallet, listing, state: 'settled', ...asked });
      const admin = await signIn(ADMIN);
      const found = await admin.call('disputes.case', { execution_id });
      expect(found).to.deep.include({ task: 'count rows', parameters: { file: 'a.csv' } });
      expect(found.execution).to.deep.include({ execution_id, status: 'disputed', cost_usdc: 0.25 });
      expect(found.dispute.task).to.equal('count rows');
      // The log has a line for each task that the admin reads.
      expect((await admin.call('disputes.queue')).disputes).to.deep.equal([{ ...found.dispute, task: null }]);
      for (const party of [caller, creator]) {
        const session = await signIn(party);
        expect(await session.call('disputes.case', { execution_id })).to.deep.equal({ ...found, others: null });
        expect((await session.call('disputes.mine')).disputes).to.deep.equal([found.dispute]);
      }
      const stranger = await signIn(Keypair.generate());
      const strangers = stranger.call('disputes.case', { execution_id });
      expect(await refusedAs(strangers)).to.equal('404 execution_not_found');
    });

    it('show the admin alone how far the webhooks of the creator got the dispute, as long as that is known', async () => {
      const { wallet, creator, listing, execution_id: first } = await addDisputed();
      const own = creator.publicKey.toBase58();
      const [admin, party] = [await signIn(ADMIN), await signIn(creator)];
      const read = async (id: string, reader = admin) =>
        (await reader.call('disputes.case', { execution_id: id })).creator_delivery;
      const report = async (to: string, id: string) => {
        const event = { wallet: to, type: 'dispute.opened', data: '{}', execution_id: id };
        await world.ledger.executeQuery(eventOf(world.ledger, event, world.state.nowMs));
      };
      const listen = (event_types: string) => {
        const rest = { network: '', is_known: 1n, url: 'https://a.example', event_types, secret: '', created_ms: 1n };
        const row = { endpoint_id: newEndpointId(), wallet: own, ...rest };
        return world.ledger
          .insertInto('webhook_endpoints')
          .values(row as never)
          .execute();
      };

      expect(await read(first)).to.equal(null);
      for (const to of [wallet, own]) await report(to, first);
      expect(await read(first)).to.equal(null);
      await listen('agent.paused');
      await world.feed.turn();
      const none = { status: 'none', delivered_at: null };
      expect(await read(first)).to.deep.equal(none);

      for (const types of ['', 'agent.paused dispute.opened', 'dispute.opened']) await listen(types);
      const { execution_id: second } = await add(wallet, listing);
      for (const to of [wallet, own]) await report(to, second);
      await world.feed.turn();
      const all = world.ledger.selectFrom('webhook_deliveries').select('id').where('execution_id', '=', second);
      const ids = (await all.orderBy('id').execute()).map(({ id }) => id);
      const ends = async (number: number, changes: { state: 'delivered' | 'failed'; attempted_ms: bigint }) => {
        await world.ledger.updateTable('webhook_deliveries').set(changes).where('id', '=', ids[number]!).execute();
        return read(second);
      };
      const at = (seconds: number) => BigInt((EPOCH + seconds) * 1_000);
      const pending = { status: 'pending', delivered_at: null };
      expect([ids.length, await read(second)]).to.deep.equal([3, pending]);
      expect(await ends(0, { state: 'failed', attempted_ms: at(1) })).to.deep.equal(pending);
      const delivered = { status: 'delivered', delivered_at: timeOf(EPOCH + 7) };
      expect(await ends(1, { state: 'delivered', attempted_ms: at(7) })).to.deep.equal(delivered);
      expect(await ends(2, { state: 'delivered', attempted_ms: at(8) })).to.deep.equal(delivered);
      expect(await read(first)).to.deep.equal(none);
      expect(await read(second, party)).to.equal(null);
      for (const number of [1, 2]) await ends(number, { state: 'failed', attempted_ms: at(9) });
      expect(await read(second)).to.deep.equal({ status: 'failed', delivered_at: null });
      await dropOldEvents(world.ledger, world.state.nowMs + 1);
      expect(await read(second)).to.equal(null);
    });

    it('show how the other disputes of the caller and the agent ended', async () => {
      const { wallet, listing, execution_id } = await addDisputed();
      const { execution_id: rejected } = await add(wallet, await world.addListing(), { outcome: 'rejected' });
      const { execution_id: open } = await add(wallet, listing);
      const { execution_id: upheld } = await add(newAddress(), listing, { outcome: 'upheld' });
      const { others, ...found } = await (await signIn(ADMIN)).call('disputes.case', { execution_id });
      // This relay has not started it.
      expect([found.task, found.parameters, found.receipt]).to.deep.equal([null, null, null]);
      expect(others!.first_of_caller.map((one) => [one.execution_id, one.outcome, one.task])).to.deep.equal([
        [open, 'open', null],
        [rejected, 'rejected', null],
      ]);
      expect(others!.first_of_agent.map((one) => [one.execution_id, one.outcome, one.task])).to.deep.equal([
        [open, 'open', null],
        [upheld, 'upheld', null],
      ]);
      expect({ ...others, first_of_caller: [], first_of_agent: [] }).to.deep.equal({
        first_of_caller: [],
        first_of_agent: [],
        caller_executions: 3,
        of_caller: { open: 1, rejected: 1, upheld: 0, lapsed: 0 },
        of_agent: { open: 1, rejected: 0, upheld: 1, lapsed: 0 },
        agent_executions: 3,
      });
    });

    it('show the reply of the creator, who can change it until the dispute ends', async () => {
      const { caller, creator, execution_id } = await addDisputed();
      const session = await signIn(creator);
      const put = (reply: string) => session.call('disputes.putReply', { execution_id, reply });
      const read = async (party: Keypair) =>
        (await (await signIn(party)).call('disputes.case', { execution_id })).dispute.reply;
      expect(await read(caller)).to.equal(null);
      await put('x'.repeat(4_000));
      await put('All rows are counted: ✓');
      for (const party of [caller, creator, ADMIN]) expect(await read(party)).to.equal('All rows are counted: ✓');

      for (const reply of ['', 'x'.repeat(4_001)]) expect(await refusedAs(put(reply))).to.equal('400 invalid_request');
      for (const other of [caller, ADMIN, Keypair.generate()]) {
        const theirs = (await signIn(other)).call('disputes.putReply', { execution_id, reply: 'mine' });
        expect(await refusedAs(theirs)).to.equal('404 execution_not_found');
      }
      await world.index.updateTable('disputes').set({ outcome: 'rejected' }).execute();
      expect(await refusal(put('too late'))).to.include({
        status: 400,
        message: 'The dispute has ended. A reply is accepted only while it is open.',
      });
      expect(await read(caller)).to.equal('All rows are counted: ✓');
    });

    it('rejects: the admin reading an execution that nobody has disputed', async () => {
      const listing = await world.addListing();
      const execution_id = await world.addRecord({ caller: newAddress(), listing });
      const admin = await signIn(ADMIN);
      const missing = '404 execution_not_found';
      expect(await refusedAs(admin.call('disputes.case', { execution_id }))).to.equal(missing);
      expect(await refusedAs(admin.call('disputes.putReason', { execution_id, reason: 'x' }))).to.equal(missing);
      expect(await world.ledger.selectFrom('dispute_reasons').selectAll().execute()).to.deep.equal([]);
    });

    it('show a reason to both parties only after the chain carries its hash', async () => {
      const { caller, creator, execution_id } = await addDisputed();
      const admin = await signIn(ADMIN);
      const put = (reason: string) => admin.call('disputes.putReason', { execution_id, reason });
      for (const reason of ['', 'x'.repeat(8_001)])
        expect(await refusedAs(put(reason))).to.equal('400 invalid_request');
      const { reason_hash } = await put('The result was as promised: ✓');
      expect(reason_hash).to.equal(sha256('The result was as promised: ✓'));
      await put('x'.repeat(8_000));
      const reasonFor = async (party: Keypair) =>
        (await (await signIn(party)).call('disputes.mine')).disputes.map(({ reason }) => reason);
      expect(await reasonFor(caller)).to.deep.equal([null]);
      await world.index.updateTable('disputes').set({ outcome: 'rejected', reason_hash }).execute();
      for (const party of [caller, creator]) {
        expect(await reasonFor(party)).to.deep.equal(['The result was as promised: ✓']);
      }
      world.state.nowMs += 25 * HOUR * 1000;
      const later = await signIn(ADMIN);
      await later.call('disputes.putReason', { execution_id, reason: 'third' });
      const rows = await world.ledger.selectFrom('dispute_reasons').select('reason').execute();
      expect(rows.map(({ reason }) => reason).sort()).to.deep.equal(['The result was as promised: ✓', 'third']);
    });
  });
});
