/**
 * The answer to a repeated call in every state of the first: execute by Idempotency-Key and start by execution_id, with
 * an API key or a signature, synchronous and asynchronous. The test writes the rows; the real engine answers.
 */
import { createHash } from 'node:crypto';
import { Keypair, PublicKey } from '@solana/web3.js';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import { readExecuteBody } from '../../../app/relay/calls/body.ts';
import { tailOf } from '../../../app/relay/calls/idempotency.ts';
import type { ExecuteOutcome } from '../../../app/relay/execution/contract.ts';
import type { EngineDeps } from '../../../app/relay/execution/deps.ts';
import { createEngine } from '../../../app/relay/execution/engine.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import type { ExecutionColumns } from '../../../app/relay/ledger/tables.ts';
import { ownWork } from '../../../app/relay/workers.ts';
import { createNonce, deriveExecutionId, formatUuid, nonceHalfHour } from '../../../app/sdk/receipt/receipt.ts';
import { FAST } from '../../../app/solana/finality.ts';
import { type ApiAnswer, useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { sessionsOf } from './sessions.ts';

const FAILED = { error_code: 'execution_failed', error_message: 'no luck' };
const DONE = { settled_at: BigInt(EPOCH + 3) };
type Row = Partial<ExecutionColumns> & Pick<ExecutionColumns, 'state'>;

const WAIT = [409, 'request_in_progress'] as const;
const PENDING = [200, 'pending'] as const;
const COMPLETED = [200, 'completed'] as const;
const REFUNDED = [500, 'execution_failed'] as const;
/** Runs as if it were the first call. */
const RUN = 'run';
type Expected = readonly [number, string] | typeof RUN;

const TABLE: [what: string, row: Row, sync: Expected, async: Expected][] = [
  ['accepted', { state: 'accepted', opened_at: null }, WAIT, WAIT],
  ['deposit_signed', { state: 'deposit_signed', opened_at: null }, WAIT, WAIT],
  ['deposit_confirmed', { state: 'deposit_confirmed', opened_at: null }, WAIT, WAIT],
  ['pay_signed', { state: 'pay_signed', opened_at: null }, WAIT, WAIT],
  ['paid', { state: 'paid', opened_at: null }, WAIT, PENDING],
  ['returning', { state: 'returning', opened_at: null, refund_state: 'pending', ...FAILED }, WAIT, PENDING],
  ['returned', { state: 'returned', opened_at: null, refund_state: 'done', ...DONE, ...FAILED }, REFUNDED, REFUNDED],
  ['open_signed', { state: 'open_signed', opened_at: null }, WAIT, WAIT],
  ['open_confirmed', { state: 'open_confirmed' }, WAIT, PENDING],
  ['dispatched', { state: 'dispatched' }, WAIT, PENDING],
  ['verified', { state: 'verified', execution_time_ms: 40n }, WAIT, PENDING],
  ['parked', { state: 'parked' }, WAIT, PENDING],
  ['refunding, on its way', { state: 'refunding', refund_state: 'pending', ...FAILED }, WAIT, PENDING],
  ['refunding, waiting', { state: 'refunding', refund_state: 'waiting', ...FAILED }, REFUNDED, REFUNDED],
  ['refunded', { state: 'refunded', refund_state: 'done', ...DONE, ...FAILED }, REFUNDED, REFUNDED],
  ['settled', { state: 'settled', execution_time_ms: 40n, ...DONE }, COMPLETED, COMPLETED],
  ['void', { state: 'void', opened_at: null, error_code: 'service_unavailable' }, RUN, RUN],
];

describe('the identity of a request', () => {
  const AGENT = 'an agent';
  const BODIES = [
    ...[
      { task: 'x' },
      { task: 'x', parameters: {} },
      { parameters: { b: [1, { z: 1e21, a: '\u20ac' }], a: null }, task: 'x', async: true, max_cost_usdc: 0.1 },
      { task: 'x', parameters: [1, 2] },
      { task: 7, parameters: 'no object', '\ud83d\ude00': 1, '\ufb33': 2, timeout_seconds: 3 },
      {},
    ].map((body) => JSON.stringify(body)),
    '{ "max_cost_usdc": 0.25,\n "task": "\\u0074" }',
  ];
  it('is the hash of its RFC 8785 bytes', async () => {
    for (const body of BODIES) {
      const { identity } = await readExecuteBody(ownWork, { bytes: Buffer.from(body), agentId: AGENT });
      const bytes = `${AGENT}\n${canonicalize(JSON.parse(body))}`;
      expect(identity?.fingerprint, body).to.equal(createHash('sha256').update(bytes).digest('hex'));
    }
  });
});

describe('a repeated call', () => {
  const wallet = Keypair.generate();
  const address = wallet.publicKey.toBase58();
  let apiKey: string;
  let listing: string;
  let runs = 0;

  const world = useWorld();
  before(async () => {
    ({ apiKey } = await world.addKey({ wallet: address }));
    listing = await world.addListing();
    const journal = createJournal(world.tables.writes, world.ledger, 'relay');
    const { outcomeOf } = createEngine({
      chain: { finality: FAST },
      journal,
      readText: world.deps.readText,
      log: world.deps.log,
    } as unknown as EngineDeps);
    const run = async (): Promise<ExecuteOutcome> => {
      runs += 1;
      return { kind: 'pending', executionId: newExecutionId() };
    };
    Object.assign(world.deps.engine, { execute: run, start: run, outcomeOf });
  });

  /** A call that was made before, and a function that repeats it. */
  interface Call {
    executionId: string;
    again: (changes?: Record<string, unknown>, agent?: string) => Promise<ApiAnswer>;
  }
  let calls = 0;

  /** The settle of a row that says that it was paid. */
  async function addSettle(executionId: string, { state }: Row): Promise<void> {
    if (state === 'settled') await world.addTransaction(executionId, 'settle', { outcome: 'landed' });
  }

  async function executed(row: Row, isAsync: boolean): Promise<Call> {
    calls += 1;
    const key = `call-${calls}`;
    const body = { task: `task ${calls}`, async: isAsync };
    const { identity } = await readExecuteBody(ownWork, { bytes: Buffer.from(JSON.stringify(body)), agentId: listing });
    const nonce = Buffer.from(createNonce(nonceHalfHour(BigInt(EPOCH)), tailOf(key)));
    const executionId = formatUuid(deriveExecutionId(new PublicKey(address).toBytes(), nonce));
    await world.addJournal({
      wallet: address,
      listing,
      execution_id: executionId,
      nonce: nonce.toString('hex'),
      fingerprint: identity!.fingerprint,
      request_hash: identity!.requestHash,
      ...row,
    });
    await addSettle(executionId, row);
    return {
      executionId,
      again: (changes = {}, agent = listing) =>
        world.post(
          `/v1/agents/${agent}/execute`,
          { ...body, ...changes },
          { key: apiKey, headers: { 'idempotency-key': key } },
        ),
    };
  }

  async function started(row: Row, isAsync: boolean, withKey: boolean): Promise<Call> {
    calls += 1;
    const task = `task ${calls}`;
    const { executionId, ...proofs } = sessionsOf(() => world).openedRecord(wallet, listing, task);
    const { request_hash, wallet_signature } = proofs;
    await world.addJournal({ wallet: address, listing, execution_id: executionId, request_hash, ...row });
    await addSettle(executionId, row);
    const proof = withKey ? {} : { wallet_signature };
    return {
      executionId,
      again: (changes = {}) =>
        world.post(
          `/v1/executions/${executionId}/start`,
          { task, async: isAsync, ...proof, ...changes },
          withKey ? { key: apiKey } : {},
        ),
    };
  }

  const WAYS: [string, (row: Row, isAsync: boolean) => Promise<Call>][] = [
    ['execute', executed],
    ['start with a key', (row, isAsync) => started(row, isAsync, true)],
    ['start with a signature', (row, isAsync) => started(row, isAsync, false)],
  ];

  for (const [way, make] of WAYS) {
    for (const [what, row, sync, async] of TABLE) {
      for (const isAsync of [false, true]) {
        const expected = isAsync ? async : sync;
        const outcome = expected === RUN ? 'a new run' : expected.join(' ');
        it(`by ${way}${isAsync ? ', async' : ''}, while it is ${what}, ends with: ${outcome}; another body is refused`, async () => {
          const call = await make(row, isAsync);
          if (row.state === 'settled') await world.addResult(call.executionId, 'Rome');
          const before = runs;
          const answer = await call.again();
          if (expected === RUN) {
            expect([answer.status, runs]).to.deep.equal([200, before + 1]);
            return;
          }
          const again = await call.again();
          expect(runs).to.equal(before);
          expect([answer.status, answer.json.error?.code ?? answer.json.status]).to.deep.equal([...expected]);
          expect([again.status, again.text]).to.deep.equal([answer.status, answer.text]);
          if (expected === WAIT) {
            expect(answer.headers.get('retry-after')).to.equal('1');
            expect(answer.json.error.execution_id).to.equal(call.executionId);
          } else {
            for (const { headers } of [answer, again]) expect(headers.get('idempotent-replayed')).to.equal('true');
            expect(answer.json.error?.execution_id ?? answer.json.execution_id).to.equal(call.executionId);
          }
          if (expected === COMPLETED) expect(answer.json.result).to.equal('Rome');
          // A start may be repeated in another mode.
          const others = way === 'execute' ? [{ async: !isAsync }, { parameters: {} }, { task: undefined }] : [];
          const refused = await Promise.all([{ task: 'another' }, ...others].map((body) => call.again(body)));
          if (way === 'execute') refused.push(await call.again({}, newAddress()));
          const reason = way === 'execute' ? '422 idempotency_key_reused' : '400 invalid_request';
          for (const { outcome } of refused) expect(outcome).to.equal(reason);
          expect(runs).to.equal(before);
        });
      }
    }
  }

  it('gets the same bytes of a long result, and 410 after it is dropped', async () => {
    const call = await executed({ state: 'settled', execution_time_ms: 40n, ...DONE }, false);
    const text = '"result":\n東'.repeat(40_000);
    await world.addResult(call.executionId, text);
    const first = await call.again();
    expect(first.json.result === text).to.equal(true);
    const again = await call.again();
    expect([again.status, again.text === first.text]).to.deep.equal([200, true]);
    const { executionId } = call;
    const dropped = world.ledger.updateTable('results').set({ result: null });
    await dropped.where('execution_id', '=', executionId).execute();
    const gone = await call.again();
    expect([gone.status, gone.json.error.code]).to.deep.equal([410, 'result_unavailable']);
  });
});
