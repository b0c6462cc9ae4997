/** Disputes as their parties and the admin read them, and the documents behind their hashes. */
import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { listAllDisputes, listOwnDisputes } from '../../../app/relay/disputes/lists.ts';
import type { DisputeOutcome } from '../../../app/sdk/wire/choices.ts';
import { ADMIN } from '../../harness/edge/accounts.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { refreshFigures } from '../../harness/edge/figures.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { refusal, sessionsOf } from './sessions.ts';

const HOUR = 3_600;
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

describe('disputes at /trpc', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.stop());
  const { signIn } = sessionsOf(() => world);

  /** A disputed execution with its parties. */
  async function addDisputed(changes: Partial<Parameters<World['addDispute']>[0]> = {}) {
    const [caller, creator] = [Keypair.generate(), Keypair.generate()];
    const wallet = caller.publicKey.toBase58();
    const listing = await world.addListing({ creator: creator.publicKey.toBase58() }, { name: 'disputed-agent' });
    const execution_id = await world.addRecord({ caller: wallet, listing, status: 'disputed' });
    const dispute = await world.addDispute({ execution_id, caller: wallet, listing, ...changes });
    return { caller, creator, listing, execution_id, dispute };
  }

  const file = (text: string) => ({
    content: Buffer.from(text).toString('base64'),
    media_type: 'text/plain' as const,
  });

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
      const openedAt = (seconds: number) => ({ opened_at: BigInt(EPOCH + seconds) });
      const over = { resolved_at: BigInt(EPOCH + 900), bond: 0n };
      const later = await addDisputed(openedAt(300));
      const upheld = await addDisputed({
        ...openedAt(100),
        ...over,
        outcome: 'upheld',
        amount_to_caller: 250_000n,
        amount_slashed: 1n,
        owed: 250_000n,
      });
      const lapsed = await addDisputed({ ...openedAt(400), ...over, outcome: 'lapsed' });
      const sooner = await addDisputed(openedAt(200));
      const admin = await signIn(ADMIN);
      const all = await admin.call('disputes.queue');
      const ids = [sooner, later, lapsed, upheld].map(({ execution_id }) => execution_id);
      expect(all.disputes.map(({ execution_id }) => execution_id)).to.deep.equal(ids);
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

    it('show each party its open disputes first, then the ended ones, newest first, over all pages', async () => {
      const { caller, creator, listing, execution_id: first } = await addDisputed({ opened_at: BigInt(EPOCH + 2) });
      const wallet = caller.publicKey.toBase58();
      const add = async (seconds: number, outcome: 'open' | 'upheld' | 'rejected') => {
        const execution_id = await world.addRecord({ caller: wallet, listing, status: 'disputed' });
        await world.addDispute({ execution_id, caller: wallet, listing, outcome, opened_at: BigInt(EPOCH + seconds) });
        return execution_id;
      };
      const newestEnded = await add(5, 'rejected');
      const oldestOpen = await add(1, 'open');
      const oldestEnded = await add(3, 'upheld');
      const newestOpen = await add(4, 'open');
      const expected = [newestOpen, first, oldestOpen, newestEnded, oldestEnded];
      for (const party of [caller, creator]) {
        const session = await signIn(party);
        const shown: string[] = [];
        for (let offset = 0; offset < expected.length; offset += 2) {
          const { disputes, total } = await session.call('disputes.mine', { limit: 2, offset });
          expect(total).to.equal(expected.length);
          shown.push(...disputes.map(({ execution_id }) => execution_id));
        }
        expect(shown).to.deep.equal(expected);
      }
      // As caller and as creator of another agent, in one order.
      const ownListing = await world.addListing({ creator: wallet }, { name: 'own-agent' });
      const stranger = newAddress();
      const against = await world.addRecord({ caller: stranger, listing: ownListing, status: 'disputed' });
      const opened_at = BigInt(EPOCH + 3);
      await world.addDispute({ execution_id: against, caller: stranger, listing: ownListing, opened_at });
      const { disputes } = await (await signIn(caller)).call('disputes.mine', { limit: 4 });
      const ids = disputes.map(({ execution_id }) => execution_id);
      expect(ids).to.deep.equal([newestOpen, against, first, oldestOpen]);
    });

    it('show the creator the disputes of one listing, page by page, and nobody else any', async () => {
      const { caller, creator, listing, execution_id: first } = await addDisputed({ opened_at: BigInt(EPOCH + 2) });
      const own = creator.publicKey.toBase58();
      const other = await world.addListing({ creator: own }, { name: 'other-agent' });
      const add = async (of: string, seconds: number, payer = caller.publicKey.toBase58()) => {
        const execution_id = await world.addRecord({ caller: payer, listing: of, status: 'disputed' });
        const opened_at = BigInt(EPOCH + seconds);
        await world.addDispute({ execution_id, caller: payer, listing: of, opened_at });
        return execution_id;
      };
      const elsewhere = await add(other, 4);
      const byItself = await add(listing, 1, own);
      const session = await signIn(creator);
      const listed = async (agent_id: string, more = {}) => {
        const { disputes, total } = await session.call('disputes.mine', { agent_id, ...more });
        return [disputes.map(({ execution_id }) => execution_id), total];
      };
      expect(await listed(listing)).to.deep.equal([[first, byItself], 2]);
      expect(await listed(listing, { limit: 1, offset: 1 })).to.deep.equal([[byItself], 2]);
      expect(await listed(other)).to.deep.equal([[elsewhere], 1]);
      expect(await listed(newAddress())).to.deep.equal([[], 0]);
      const asCaller = await (await signIn(caller)).call('disputes.mine', { agent_id: listing });
      expect(asCaller).to.deep.equal({ disputes: [], total: 0 });
    });

    it('count at most a little past the page, and still lead a reader through every page', async () => {
      const { caller, creator, listing } = await addDisputed();
      const wallet = caller.publicKey.toBase58();
      for (const opened_at of [1n, 2n, 2n]) {
        const execution_id = await world.addRecord({ caller: wallet, listing, status: 'disputed' });
        await world.addDispute({ execution_id, caller: wallet, listing, opened_at: BigInt(EPOCH) + opened_at });
      }
      const whole = await listOwnDisputes(world.deps, wallet, { limit: 10, offset: 0 });
      expect([whole.total, whole.disputes.length]).to.deep.equal([4, 4]);
      for (const party of [wallet, creator.publicKey.toBase58()]) {
        const totals: number[] = [];
        const walked: unknown[] = [];
        let total = 1;
        for (let offset = 0; offset < total; offset += 1) {
          const page = await listOwnDisputes(world.deps, party, { limit: 1, offset }, 2);
          total = page.total;
          totals.push(total);
          walked.push(...page.disputes);
        }
        expect(totals).to.deep.equal([2, 3, 4, 4]);
        expect(walked).to.deep.equal(whole.disputes);
      }
      const queue = await listAllDisputes(world.deps, { limit: 1, offset: 0 }, 3);
      expect(queue.total).to.equal(3);
    });
  });

  describe('evidence', () => {
    it('is accepted before the dispute that names it, and readable by the admin and both parties', async () => {
      const caller = Keypair.generate();
      const wallet = caller.publicKey.toBase58();
      const creator = Keypair.generate();
      const listing = await world.addListing({ creator: creator.publicKey.toBase58() });
      const execution_id = await world.addRecord({ caller: wallet, listing });
      const session = await signIn(caller);
      const { evidence_hash } = await session.call('disputes.putEvidence', { execution_id, ...file('it lied') });
      expect(evidence_hash).to.equal(sha256('it lied'));
      const admin = await signIn(ADMIN);
      const early = await refusal(admin.call('disputes.evidence', { execution_id }));
      expect(early).to.include({ status: 404, code: 'execution_not_found' });
      await world.addDispute({ execution_id, caller: wallet, listing, evidence_hash });
      await world.index.updateTable('executions').set({ status: 'disputed' }).execute();
      for (const reader of [admin, session, await signIn(creator)]) {
        expect(await reader.call('disputes.evidence', { execution_id })).to.deep.equal({
          content: file('it lied').content,
          media_type: 'text/plain',
          evidence_hash,
        });
      }
      const stranger = await signIn(Keypair.generate());
      expect(await refusal(stranger.call('disputes.evidence', { execution_id }))).to.include({ status: 404 });
      expect((await session.call('disputes.mine')).disputes[0]).to.deep.include({ has_evidence: true });
    });

    it('is accepted after the dispute when the dispute names it', async () => {
      const { caller, execution_id } = await addDisputed({ evidence_hash: sha256('after') });
      const session = await signIn(caller);
      const other = await refusal(session.call('disputes.putEvidence', { execution_id, ...file('other') }));
      expect(other).to.include({ status: 400, code: 'invalid_request' });
      expect(other.message).to.include(sha256('after'));
      await session.call('disputes.putEvidence', { execution_id, ...file('after') });
      expect((await session.call('disputes.mine')).disputes[0]?.has_evidence).to.equal(true);
    });

    it("rejects: another wallet's execution like a missing one, the creator, and executions that cannot be disputed", async () => {
      const { creator, execution_id } = await addDisputed();
      for (const stranger of [creator, Keypair.generate(), ADMIN]) {
        const session = await signIn(stranger);
        for (const id of [execution_id, newExecutionId()]) {
          const error = await refusal(session.call('disputes.putEvidence', { execution_id: id, ...file('x') }));
          expect(error).to.include({ status: 404, code: 'execution_not_found' });
        }
      }
      const caller = Keypair.generate();
      const session = await signIn(caller);
      for (const status of ['open', 'refunded', 'dispute_upheld'] as const) {
        const row = { caller: caller.publicKey.toBase58(), listing: await world.addListing(), status };
        const id = await world.addRecord(row);
        const error = await refusal(session.call('disputes.putEvidence', { execution_id: id, ...file('x') }));
        expect(error).to.include({ status: 400, code: 'invalid_request' });
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
      const refused = [
        await put(Buffer.alloc(256 * 1024 + 1).toString('base64')),
        await put(Buffer.alloc(256 * 1024 + 3).toString('base64')),
        await put(''),
        await put('not base64!'),
        await put('YQ==', 'text/html'),
        await put('YQ==', 'image/svg+xml'),
      ];
      for (const { status, json } of refused)
        expect([status, json.error.data.code]).to.deep.equal([400, 'invalid_request']);
      const huge = await put('A'.repeat(384 * 1024));
      expect([huge.status, huge.json.error.data.details]).to.deep.equal([413, { max_bytes: 384 * 1024 }]);
    });

    it('is refused without a session before the body is read', async () => {
      const body = `{"content":"${'A'.repeat(300 * 1024)}`;
      const { status } = await world.post('/trpc/disputes.putEvidence', body);
      expect(status).to.equal(401);
      const reason = await world.post('/trpc/keys.register', body);
      expect([reason.status, reason.json.error.data.details]).to.deep.equal([413, { max_bytes: 32 * 1024 }]);
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
      const checked = (ms: number) => ({ id: 1n, slot: 1n, checked_at: BigInt(ms) });
      const dayMs = 24 * HOUR * 1000;
      async function putOthers() {
        const row = { caller: stranger.publicKey.toBase58(), listing };
        ids.push(await world.addRecord(row));
        await others.call('disputes.putEvidence', { execution_id: ids.at(-1)!, ...file('theirs') });
      }
      // The dispute can exist on chain while the index, which lags, does not have it.
      await world.index
        .insertInto('progress')
        .values(checked(EPOCH * 1000))
        .execute();
      await putOthers();
      expect(await kept()).to.have.length(10);
      await world.index
        .updateTable('progress')
        .set(checked(EPOCH * 1000 + dayMs + 5))
        .execute();
      await putOthers();
      expect(await kept()).to.deep.equal([0, 4, 5, 6, 7, 8, 9, 10, 11]);
    });
  });

  describe('the case and its reason', () => {
    it('show the request and its result to the admin and both parties, and to no other wallet', async () => {
      const { caller, creator, listing, execution_id } = await addDisputed();
      const wallet = caller.publicKey.toBase58();
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
      expect(await refusal(stranger.call('disputes.case', { execution_id }))).to.include({
        status: 404,
        code: 'execution_not_found',
      });
    });

    it('show how the other disputes of the caller and the agent ended', async () => {
      const { caller, listing, execution_id } = await addDisputed();
      const wallet = caller.publicKey.toBase58();
      const add = async (caller: string, listing: string, outcome: DisputeOutcome) => {
        const id = await world.addRecord({ caller, listing, status: 'disputed' });
        await world.addDispute({ execution_id: id, caller, listing, outcome });
        return id;
      };
      const rejected = await add(wallet, await world.addListing(), 'rejected');
      const open = await add(wallet, listing, 'open');
      await add(newAddress(), listing, 'upheld');
      await refreshFigures(world.index);
      const { others } = await (await signIn(ADMIN)).call('disputes.case', { execution_id });
      expect(others!.first_of_caller.map((one) => [one.execution_id, one.outcome, one.task])).to.deep.equal([
        [open, 'open', null],
        [rejected, 'rejected', null],
      ]);
      expect({ ...others, first_of_caller: [] }).to.deep.equal({
        first_of_caller: [],
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

      for (const reply of ['', 'x'.repeat(4_001)]) {
        expect(await refusal(put(reply))).to.include({ status: 400, code: 'invalid_request' });
      }
      for (const other of [caller, ADMIN, Keypair.generate()]) {
        const refused = await refusal((await signIn(other)).call('disputes.putReply', { execution_id, reply: 'mine' }));
        expect(refused).to.include({ status: 404, code: 'execution_not_found' });
      }
      await world.index.updateTable('disputes').set({ outcome: 'rejected' }).execute();
      expect(await refusal(put('too late'))).to.include({
        status: 400,
        message: 'The dispute has ended. A reply is accepted only while it is open.',
      });
      expect(await read(caller)).to.equal('All rows are counted: ✓');
    });

    it('are available for executions that were never started here, without the request', async () => {
      const { execution_id } = await addDisputed();
      const found = await (await signIn(ADMIN)).call('disputes.case', { execution_id });
      expect([found.task, found.parameters, found.receipt]).to.deep.equal([null, null, null]);
    });

    it('rejects: the admin reading an execution that nobody has disputed', async () => {
      const listing = await world.addListing();
      const execution_id = await world.addRecord({ caller: newAddress(), listing });
      const admin = await signIn(ADMIN);
      for (const call of [
        admin.call('disputes.case', { execution_id }),
        admin.call('disputes.putReason', { execution_id, reason: 'x' }),
      ]) {
        expect(await refusal(call)).to.include({ status: 404, code: 'execution_not_found' });
      }
      expect(await world.ledger.selectFrom('dispute_reasons').selectAll().execute()).to.deep.equal([]);
    });

    it('show a reason to both parties only after the chain carries its hash', async () => {
      const { caller, creator, execution_id } = await addDisputed();
      const admin = await signIn(ADMIN);
      const put = (reason: string) => admin.call('disputes.putReason', { execution_id, reason });
      const { reason_hash } = await put('The result was as promised: ✓');
      expect(reason_hash).to.equal(sha256('The result was as promised: ✓'));
      await put('A second thought');
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

    it('rejects: empty reasons and reasons above 8,000 characters', async () => {
      const { execution_id } = await addDisputed();
      const admin = await signIn(ADMIN);
      for (const reason of ['', 'x'.repeat(8_001)]) {
        const error = await refusal(admin.call('disputes.putReason', { execution_id, reason }));
        expect(error).to.include({ status: 400, code: 'invalid_request' });
      }
      await admin.call('disputes.putReason', { execution_id, reason: 'x'.repeat(8_000) });
    });
  });
});
