/** GET /v1/executions/{execution_id}/receipt: when it exists, and its content. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createClient } from '../../../app/sdk/client/client.ts';
import { findExecution, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { hashResult, parseUuid, requestHash, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { verifyReceipt } from '../../../app/sdk/receipt/verify.ts';
import type { ExecutionRow } from '../../../indexer/queries/tables.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId, newTransaction, type TestKey } from '../../harness/edge/rows.ts';

const at = (seconds: number): string => new Date((EPOCH + seconds) * 1000).toISOString();
const REQUEST = { task: 'capital of Italy?', parameters: { language: 'en' } };

describe('GET /v1/executions/{execution_id}/receipt', () => {
  const genesis = newAddress();
  const signer = Keypair.generate();
  const hash = hashResult('Rome');
  const signature = signResult(signer.secretKey, hash);
  let key: TestKey;
  let listing: string;
  const world = useWorld();
  before(async () => {
    await world.addChain(genesis);
    key = await world.addKey();
    listing = await world.addListing();
  });

  const read = (id: string, apiKey = key.apiKey) => world.get(`/v1/executions/${id}/receipt`, apiKey);
  const request_hash = Buffer.from(requestHash(REQUEST.task, REQUEST.parameters)).toString('hex');

  /** Adds an execution without its result. `changes` apply to the index's row; null adds none. */
  async function addExecution(state: 'settled' | 'verified' | 'refunded', changes: Partial<ExecutionRow> | null) {
    const execution_id = newExecutionId();
    const call = { execution_id, listing, request_hash };
    const request = { ...REQUEST, parameters: JSON.stringify(REQUEST.parameters) };
    const amounts = { settled_at: BigInt(EPOCH + 3), creator_amount: 247_500n, platform_amount: 2_500n };
    await world.addJournal({ ...call, ...request, wallet: key.wallet, state, ...(state === 'settled' && amounts) });
    const open = await world.addTransaction(execution_id, 'open', { outcome: 'landed' });
    const settle = await world.addTransaction(execution_id, 'settle', { attempt: 1n, outcome: 'landed' });
    // Neither of these paid.
    await world.addTransaction(execution_id, 'settle', { outcome: 'expired' });
    await world.addTransaction(execution_id, 'settle', { attempt: 2n });
    const record = findExecution(parseUuid(execution_id)!).toBase58();
    const hashes = { signing_key: signer.publicKey.toBase58(), result_hash: hash.slice('sha256:'.length) };
    const row = { ...call, ...hashes, record, caller: key.wallet, settled_at: BigInt(EPOCH + 3) };
    if (changes) await world.addRecord({ ...row, ...changes });
    return { execution_id, record, transactions: { open, settle } };
  }

  it('returns every field of a settled execution, and all checks pass', async () => {
    const end_signature = newTransaction();
    const { execution_id, record, transactions } = await addExecution('settled', { end_signature });
    await world.addResult(execution_id, 'Rome', { signature });
    const { status, json, headers } = await read(execution_id);
    expect(status, JSON.stringify(json)).to.equal(200);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(json).to.deep.equal({
      version: 1,
      program_id: PROGRAM_ID.toBase58(),
      genesis_hash: genesis,
      execution_id,
      record,
      agent_id: listing,
      caller: key.wallet,
      signing_key: signer.publicKey.toBase58(),
      request_hash,
      ...REQUEST,
      result: 'Rome',
      result_hash: hash,
      signature,
      execution_signature: null,
      price_usdc: 0.25,
      fee_bps: 100,
      opened_at: at(0),
      settled_at: at(3),
      transactions: { open: transactions.open, settle: end_signature },
      archive: null,
    });
    const client = createClient({ baseUrl: world.url, apiKey: key.apiKey });
    expect(await client.request('getExecutionReceipt', { execution_id })).to.deep.equal(json);
    const checks = await verifyReceipt(json, { rpcUrl: null });
    const named = (wanted: string) => checks.flatMap(({ name, state }) => (state === wanted ? [name] : []));
    expect(named('passed')).to.deep.equal(['shape', 'result_hash', 'signature', 'request_hash']);
    expect(named('failed')).to.deep.equal([]);
  });

  it('is available as soon as the journal has the settlement, and shows a waived fee', async () => {
    const { execution_id, transactions } = await addExecution('settled', {
      status: 'open',
      result_hash: null,
      settled_at: null,
      creator_amount: 0n,
      platform_amount: 0n,
    });
    await world.addResult(execution_id, 'Rome', { signature });
    const first = (await read(execution_id)).json;
    expect(first).to.deep.include({ settled_at: at(3), fee_bps: 100, transactions });
    const waived = { platform_amount: 0n, creator_amount: 250_000n };
    await world.ledger.updateTable('executions').set(waived).where('execution_id', '=', execution_id).execute();
    expect((await read(execution_id)).json.fee_bps).to.equal(0);
  });

  it('does not change during a dispute', async () => {
    for (const status of ['disputed', 'dispute_upheld'] as const) {
      const { execution_id } = await addExecution('settled', { status });
      await world.addResult(execution_id, 'Rome', { signature });
      expect((await read(execution_id)).json).to.include({ result: 'Rome', settled_at: at(3) });
    }
  });

  it('returns 409 not_settled, and says whether the execution can still settle', async () => {
    const running = await addExecution('verified', null);
    await world.addResult(running.execution_id, 'Rome', { signature });
    const failed = await addExecution('refunded', { status: 'refunded', result_hash: null });
    const pending = await world.addJournal({ wallet: key.wallet, listing, state: 'open_confirmed' });
    const CASES = [
      [running.execution_id, 'running', 'The call is not settled yet, so it has no receipt. Read it again later.'],
      [failed.execution_id, 'failed', 'The call failed, so it has no receipt'],
      [pending, 'pending', 'The call is not settled yet, so it has no receipt. Read it again later.'],
    ] as const;
    for (const [execution_id, state, message] of CASES) {
      const { status, json } = await read(execution_id);
      expect(status).to.equal(409);
      expect(json.error).to.deep.equal({ code: 'not_settled', message, execution_id, details: { status: state } });
    }
  });

  it('returns 410 result_unavailable when the result text is lost', async () => {
    const { execution_id } = await addExecution('settled', {});
    const { outcome, json } = await read(execution_id);
    expect([outcome, json.error.execution_id]).to.deep.equal(['410 result_unavailable', execution_id]);
    await world.addResult(execution_id, 'Paris', { signature });
    expect((await read(execution_id)).outcome).to.equal('410 result_unavailable');
  });

  it('returns 503 while the index does not know the execution', async () => {
    const { execution_id } = await addExecution('settled', null);
    await world.addResult(execution_id, 'Rome', { signature });
    const { outcome, headers } = await read(execution_id);
    expect([outcome, headers.get('retry-after')]).to.deep.equal(['503 service_unavailable', '1']);
  });
});
