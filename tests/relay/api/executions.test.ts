/** GET /v1/executions/{execution_id}: the record at every point of a call. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import type { ExecutionColumns, ExecutionState } from '../../../app/relay/ledger/tables.ts';
import { findExecution } from '../../../app/sdk/program/program.ts';
import { hashResult, parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import type { DisputeOutcome } from '../../../app/sdk/wire/choices.ts';
import type { ExecutionRow } from '../../../indexer/queries/tables.ts';
import { EXPLORER_QUERY, useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId, type TestKey } from '../../harness/edge/rows.ts';
import { sessionsOf } from './sessions.ts';

const at = (seconds: number): string => new Date((EPOCH + seconds) * 1000).toISOString();
const addressUrl = (address: string): string => `https://explorer.solana.com/address/${address}${EXPLORER_QUERY}`;
const derivedRecord = (id: string): string => addressUrl(findExecution(parseUuid(id)!).toBase58());

const errorOf = ({ error_code: code, error_message: message }: Record<'error_code' | 'error_message', string>) => ({
  code,
  message,
});

const result_hash = hashResult('Rome').slice('sha256:'.length);
const amounts = { creator_amount: 247_500n, platform_amount: 2_500n };
const settled = { state: 'settled', settled_at: BigInt(EPOCH + 3), ...amounts } as const;
/** Columns of the index for an execution without a result. */
const refunded = { status: 'refunded', result_hash: null, creator_amount: 0n, platform_amount: 0n } as const;
const open = { ...refunded, status: 'open', settled_at: null, execution_time_ms: null } as const;

const EMPTY = `task key_id key_name result result_hash tokens_used execution_time_ms ipfs_url signature
  execution_signature steps error refund dispute archive unclaimed deposit service_fee_usdc
  content_deleted_at`.split(/\s+/);
/** The fields of a record without any outcome. */
const NOTHING = {
  ...Object.fromEntries(EMPTY.map((name) => [name, null])),
  ...{ refunded_usdc: 0, returned_usdc: 0, creator_amount_usdc: 0, platform_amount_usdc: 0 },
};

describe('GET /v1/executions/{execution_id}', () => {
  let key: TestKey;
  let listing: string;
  const world = useWorld();
  before(async () => {
    key = await world.addKey();
    listing = await world.addListing();
  });

  /** The columns of a call by the wallet's key, and how the API shows them. */
  const own = () => ({ wallet: key.wallet, listing, key_id: key.keyId });
  const asked = () => ({ task: 'a task', key_id: key.keyId, key_name: 'laptop' });

  async function read(id: string): Promise<Record<string, unknown>> {
    const { status, json } = await world.get(`/v1/executions/${id}`, key.apiKey);
    expect(status, JSON.stringify(json)).to.equal(200);
    return json;
  }

  /** The fields that every record of this agent has at this point. */
  const common = (id: string, status: string, cost: number) => ({
    ...NOTHING,
    execution_id: id,
    agent_id: listing,
    agent_name: 'csv-analyst',
    status,
    cost_usdc: cost,
    initiated_at: at(0),
    completed_at: null,
    on_chain_record: derivedRecord(id),
  });

  it('shows a settled execution with every field, and nothing else', async () => {
    const id = await world.addJournal({ ...own(), ...settled });
    const token = await world.addResult(id, 'Rome', { execution_signature: 'ed25519:2' });
    expect(await read(id)).to.deep.equal({
      ...common(id, 'completed', 0.25),
      ...asked(),
      completed_at: at(3),
      result: 'Rome',
      result_hash: hashResult('Rome'),
      creator_amount_usdc: 0.2475,
      platform_amount_usdc: 0.0025,
      tokens_used: 42,
      execution_time_ms: 40,
      ipfs_url: `${world.url}/results/${id}/${token}`,
      signature: 'ed25519:1',
      execution_signature: 'ed25519:2',
      steps: [{ step: 'read' }],
    });
    // Its creator reported neither tokens nor steps.
    const plain = await world.addJournal({ ...own(), ...settled });
    await world.addResult(plain, '', { tokens_used: null, steps: null });
    expect(await read(plain)).to.include({ result: '', tokens_used: null, steps: null, status: 'completed' });
  });

  it('shows the deposit that an x402 client paid into, by the journal or by the index alone', async () => {
    const deposit = listing;
    const id = await world.addJournal({ ...own(), state: 'open_confirmed', deposit });
    expect(await read(id)).to.deep.equal({ ...common(id, 'pending', 0.25), ...asked(), deposit });
    const known = await world.addRecord({ caller: key.wallet, listing, deposit });
    expect(await read(known)).to.include({ deposit });
  });

  it('does not show a verified result before its settle is confirmed', async () => {
    const id = await world.addJournal({ ...own(), state: 'verified', execution_time_ms: 40n });
    const token = await world.addResult(id, 'unpaid');
    expect(await read(id)).to.deep.equal({ ...common(id, 'running', 0.25), ...asked() });
    expect((await world.get(`/results/${id}/${token}`)).status).to.equal(404);
  });

  const unopened = { opened_at: null };
  const late = { error_code: 'execution_timeout', error_message: 'No answer in 60 s' };
  const lost = { error_code: 'service_unavailable', error_message: 'the transaction expired' };
  const back = { deposit: newAddress(), refund_state: 'pending', error_code: 'agent_paused', error_message: 'Paused' };
  const returned = { status: 'failed', cost_usdc: 0, refund: 'done', completed_at: at(2) };
  /** Rows of the journal alone: their status and cost, and how they differ from others. */
  const ROWS: [state: ExecutionState, row: object, status: string, cost: number, shown: object][] = [
    ['open_signed', unopened, 'running', 0, { initiated_at: at(-1) }],
    ['open_confirmed', {}, 'pending', 0.25, {}],
    ['dispatched', {}, 'running', 0.25, {}],
    ['parked', {}, 'running', 0.25, {}],
    ['void', { ...unopened, ...lost }, 'failed', 0, { initiated_at: at(-1), error: errorOf(lost) }],
    ['refunding', { refund_state: 'waiting', ...late }, 'failed', 0.25, { error: errorOf(late), refund: 'waiting' }],
    [
      'returning',
      { ...unopened, ...back },
      'running',
      0,
      { initiated_at: at(-1), deposit: back.deposit, refund: 'pending' },
    ],
  ];
  it('shows status and cost of each state of the journal', async () => {
    for (const [state, row, status, cost, shown] of ROWS) {
      const id = await world.addJournal({ ...own(), state, ...row });
      expect(await read(id), state).to.deep.equal({ ...common(id, status, cost), ...asked(), ...shown });
    }
  });

  it('returns 404 for an execution that has no transaction yet', async () => {
    const id = await world.addJournal({ ...own(), state: 'accepted', opened_at: null });
    expect((await world.get(`/v1/executions/${id}`, key.apiKey)).outcome).to.equal('404 execution_not_found');
  });

  it('shows a pending refund as running with its price, because an ended execution must not change', async () => {
    const id = await world.addJournal({ ...own(), ...late, refund_state: 'pending', state: 'refunding' });
    expect(await read(id)).to.deep.equal({ ...common(id, 'running', 0.25), ...asked(), refund: 'pending' });
    const listed = async (status: string) => {
      const { json } = await world.get(`/v1/executions?limit=100&status=${status}`, key.apiKey);
      return json.executions.some((row: { execution_id: string }) => row.execution_id === id);
    };
    expect([await listed('running'), await listed('failed')]).to.deep.equal([true, false]);
    // The index can have the refund before the journal.
    await world.addRecord({ execution_id: id, caller: key.wallet, listing, ...refunded, reason: 1n });
    expect(await read(id)).to.include(returned);
    expect([await listed('running'), await listed('failed')]).to.deep.equal([false, true]);
  });

  it('shows a refunded execution as failed at cost 0, also when its result had been verified', async () => {
    const ended = { state: 'refunded', refund_state: 'done', settled_at: BigInt(EPOCH + 5) } as const;
    const id = await world.addJournal({ ...own(), ...ended, ...late });
    const token = await world.addResult(id, 'never paid');
    expect(await read(id)).to.deep.equal({
      ...common(id, 'failed', 0),
      ...asked(),
      completed_at: at(5),
      error: errorOf(late),
      refund: 'done',
      refunded_usdc: 0.25,
    });
    expect((await world.get(`/results/${id}/${token}`)).status).to.equal(404);
  });

  const dispute = (outcome: DisputeOutcome) => ({ dispute: { outcome } });
  const paid = { status: 'completed', cost_usdc: 0.25, creator_amount_usdc: 0.2475, platform_amount_usdc: 0.0025 };
  /** What the chain has, beside the journal's row if there is one, and what is shown. */
  const INDEXED: [
    what: string,
    journal: Partial<ExecutionColumns> | null,
    record: Partial<ExecutionRow>,
    shown: object,
  ][] = [
    ['settled, and the journal is behind', { state: 'verified' }, { result_hash }, { ...paid, completed_at: at(2) }],
    ['open, and the journal is ahead', settled, open, { ...paid, completed_at: at(3) }],
    [
      'refunded by a stranger, and the journal calls it running',
      { state: 'dispatched' },
      { ...refunded, reason: 5n },
      { ...returned, error: { code: 'execution_timeout', message: 'The call was not settled in time' } },
    ],
    ['opened by its wallet itself', null, open, { status: 'pending', cost_usdc: 0.25, completed_at: null }],
  ];
  for (const [what, journal, record, shown] of INDEXED) {
    it(`follows the chain and the journal together: ${what}`, async () => {
      const execution_id = newExecutionId();
      if (journal) await world.addJournal({ ...own(), execution_id, state: 'settled', ...journal });
      if (journal) await world.addResult(execution_id, 'Rome');
      const address = newAddress();
      await world.addRecord({ execution_id, record: address, caller: key.wallet, listing, ...record });
      const found = await read(execution_id);
      const result = (shown as { status: string }).status === 'completed' ? 'Rome' : null;
      expect(found).to.deep.include({ ...shown, result, on_chain_record: addressUrl(address) });
    });
  }

  const DISPUTES: [record: ExecutionRow['status'], outcome: DisputeOutcome, shown: object][] = [
    ['disputed', 'open', { status: 'disputed', returned_usdc: 0 }],
    ['dispute_upheld', 'upheld', { status: 'disputed', returned_usdc: 0.2 }],
    ['completed', 'rejected', { status: 'completed', returned_usdc: 0 }],
    ['completed', 'lapsed', { status: 'completed', returned_usdc: 0 }],
  ];
  for (const [status, outcome, shown] of DISPUTES) {
    it(`shows the result of an execution whose dispute is ${outcome}, and what its caller got back`, async () => {
      const execution_id = await world.addJournal({ ...own(), ...settled });
      await world.addResult(execution_id, 'Rome');
      const row = { execution_id, caller: key.wallet, listing };
      await world.addRecord({ ...row, status, result_hash, dispute_count: 1n });
      const award = outcome === 'upheld' ? { amount_to_caller: 250_000n, owed: 50_000n } : {};
      await world.addDispute({ ...row, outcome, ...award });
      const all = { ...shown, ...dispute(outcome), result: 'Rome', cost_usdc: 0.25, archive: null };
      expect(await read(execution_id)).to.deep.include(all);
    });
  }

  it('shows the outcome of a dispute that the index has not read, and no amount', async () => {
    const record = { caller: key.wallet, listing, status: 'dispute_upheld' as const, dispute_count: 1n };
    const shown = await read(await world.addRecord(record));
    expect(shown).to.deep.include({ status: 'disputed', ...dispute('upheld'), returned_usdc: null });
  });

  it('shows a refund that waits for its claim, of an execution and of a deposit, until it is claimed', async () => {
    const record = newAddress();
    const id = await world.addRecord({ record, caller: key.wallet, listing, ...refunded, reason: 5n });
    const deposit = newAddress();
    const ended = { state: 'returned', refund_state: 'done', settled_at: BigInt(EPOCH + 3), opened_at: null } as const;
    const error = { error_code: 'agent_paused', error_message: 'Paused' };
    const back = await world.addJournal({ ...own(), deposit, ...ended, ...error });
    for (const [shown, source] of [
      [id, record],
      [back, deposit],
    ] as const) {
      const refund = { source, amount_usdc: 0.25, unclaimed_at: at(4), claimed_at: null };
      const claim = await world.addUnclaimed({ source, caller: key.wallet, unclaimed_at: BigInt(EPOCH + 4) });
      const waiting = await read(shown);
      expect(waiting).to.include({ status: 'failed', cost_usdc: 0, refund: 'unclaimed', refunded_usdc: 0 });
      expect(waiting.unclaimed).to.deep.equal(refund);
      // The tree of these rows is not built, so there is no proof yet.
      expect((await world.get(`/v1/unclaimed/${source}`)).status).to.equal(404);
      const claimed = { claimed_at: BigInt(EPOCH + 5) };
      await world.index.updateTable('unclaimed_refunds').set(claimed).where('claim', '=', claim).execute();
      const done = await read(shown);
      // Anybody can send more into a deposit, so only the chain knows the amount of its return.
      expect(done).to.include({ refund: 'done', refunded_usdc: shown === id ? 0.25 : null });
      expect(done.unclaimed).to.deep.equal({ ...refund, claimed_at: at(5) });
    }
  });

  it('shows the service fee that an x402 client paid besides the price', async () => {
    const deposit = newAddress();
    const paid = { deposit, caller: key.wallet, rent_sponsor: newAddress(), price: '250000', service_fee: 5_000n };
    const times = { prepared_at: BigInt(EPOCH), expires_at: BigInt(EPOCH + 600), ended_at: BigInt(EPOCH), slot: 20n };
    await world.index
      .insertInto('deposits')
      .values({ ...paid, ...times, status: 'opened', closed: 1n })
      .execute();
    const id = await world.addRecord({ caller: key.wallet, listing, deposit });
    expect(await read(id)).to.include({ deposit, cost_usdc: 0.25, service_fee_usdc: 0.005 });
  });

  it('shows hash and amounts without a result when only the chain has the execution', async () => {
    const record = newAddress();
    const id = await world.addRecord({ record, caller: key.wallet, listing, result_hash });
    expect(await read(id)).to.deep.equal({
      ...common(id, 'completed', 0.25),
      completed_at: at(2),
      on_chain_record: addressUrl(record),
      result_hash: `sha256:${result_hash}`,
      creator_amount_usdc: 0.2475,
      platform_amount_usdc: 0.0025,
      execution_time_ms: 40,
    });
  });

  it('names the fault of a refund that only the chain has by its reason', async () => {
    const REASONS = ['failed', 'timeout', 'failed', 'failed', 'unavailable', 'timeout'];
    for (const [reason, fault] of REASONS.entries()) {
      const row = { caller: key.wallet, listing, ...refunded, reason: BigInt(reason) };
      const shown = await read(await world.addRecord(row));
      expect(shown).to.include(returned);
      const code = fault === 'unavailable' ? 'service_unavailable' : `execution_${fault}`;
      expect(shown.error, `reason ${reason}`).to.have.property('code', code);
    }
  });

  it('does not show a stored result that differs from the one on-chain', async () => {
    const id = await world.addJournal({ ...own(), state: 'settled', settled_at: BigInt(EPOCH + 2) });
    const token = await world.addResult(id, 'another text');
    await world.addRecord({ execution_id: id, caller: key.wallet, listing, result_hash: '11'.repeat(32) });
    const shown = await read(id);
    expect(shown).to.include({ status: 'completed', result: null, ipfs_url: null });
    expect(shown.result_hash).to.equal(`sha256:${'11'.repeat(32)}`);
    expect((await world.get(`/results/${id}/${token}`)).status).to.equal(404);
  });

  it('names a delisted agent, and returns null when no name is known', async () => {
    const delisted = await world.addListing({ status: 'delisted' }, { name: 'gone' });
    expect(await read(await world.addRecord({ caller: key.wallet, listing: delisted }))).to.include({
      agent_name: 'gone',
    });
    expect(await read(await world.addRecord({ caller: key.wallet, listing: newAddress() }))).to.include({
      agent_name: null,
    });
  });

  it("rejects: another wallet's execution, an unknown id and a malformed id with the same error", async () => {
    const other = await world.addKey();
    const theirs = await world.addJournal({ wallet: other.wallet, listing, state: 'settled' });
    const onlyOnChain = await world.addRecord({ caller: other.wallet, listing });
    const upper = (await world.addRecord({ caller: key.wallet, listing })).toUpperCase();
    for (const id of [theirs, onlyOnChain, newExecutionId(), upper, 'x', '%ZZ', "'--", 'a'.repeat(4000)]) {
      const { status, json } = await world.get(`/v1/executions/${id}`, key.apiKey);
      expect(status, id).to.equal(404);
      expect(json.error).to.deep.equal({
        code: 'execution_not_found',
        message: 'No call of this wallet has this execution_id',
        execution_id: null,
        details: null,
      });
    }
    expect((await world.get(`/v1/executions/${theirs}`, other.apiKey)).status).to.equal(200);
  });
});

describe('executions.asked', () => {
  const world = useWorld();

  it('offers no very long request again, even if its task begins with U+0000', async () => {
    const wallet = Keypair.generate();
    await world.addChain();
    const key = await world.addKey({ wallet: wallet.publicKey.toBase58() });
    const listing = await world.addListing();
    const add = async (task: string) =>
      (await world.addSettled({ wallet: key.wallet, listing }, { task, parameters: {}, result: 'Rome' })).execution_id;
    const [short, long] = [await add('\0 short'), await add(`\0${'x'.repeat(100_000)}`)];
    const session = await sessionsOf(() => world).signIn(wallet);
    const asked = (id: string) => session.call('executions.asked', { execution_id: id });
    expect(await asked(short)).to.deep.equal({ asked: { task: '\0 short', parameters: {} } });
    expect(await asked(long)).to.deep.equal({ asked: null });
  });
});
