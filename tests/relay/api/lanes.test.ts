/** Large requests with keys, and of wallets that have paid, while the thread of others is busy. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { inThread, ownWork, refusedRequests } from '../../../app/relay/workers.ts';
import { type ExecutionRecord, findExecution } from '../../../app/sdk/program/program.ts';
import { parseUuid, requestHash, signMessage, startMessage } from '../../../app/sdk/receipt/receipt.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, metadataOf, newExecutionId } from '../../harness/edge/rows.ts';
import * as work from '../operation/threadWork.ts';

const WORK = new URL('../operation/threadWork.ts', import.meta.url).href;

describe('a large request', () => {
  const world = useWorld();

  it('with a live key is read at once, before its wallet has paid, and a description without a key waits', async () => {
    const listing = await world.addListing();
    const fresh = await world.addKey();
    const body = { task: 'x'.repeat(25_000), parameters: {} };
    const execute = (key: string) => world.post(`/v1/agents/${listing}/execute`, { ...body, async: true }, { key });
    // Starts the thread for paid calls, which takes seconds. The other one is held for at most ten.
    expect((await execute(fresh.apiKey)).status).to.equal(200);
    let isBusy = true;
    const cell = new SharedArrayBuffer(4);
    const busy = inThread(WORK, work.hold)(ownWork, cell).finally(() => {
      isBusy = false;
    });
    const counted = { ...refusedRequests() };
    const description = metadataOf({ input_schema: { type: 'object', description: 'words '.repeat(1_000) } });
    const refused = world.post('/v1/metadata', description);
    const answer = await execute(fresh.apiKey);
    expect([answer.status, isBusy], answer.text).to.deep.equal([200, true]);
    const refusal = await refused;
    expect([refusal.status, refusal.json.error.code], refusal.text).to.deep.equal([503, 'service_unavailable']);
    expect(refusal.headers.get('retry-after')).to.equal('2');
    expect(refusedRequests()).to.deep.equal({ ...counted, strangers: counted.strangers + 1 });
    work.release(cell);
    await busy;
    expect((await world.post('/v1/metadata', description)).status).to.equal(200);
  });

  it('of a wallet that has paid is read at once while the thread of keys of other wallets is busy', async () => {
    const listing = await world.addListing();
    const [fresh, paying] = [await world.addKey(), await world.addKey()];
    await world.addRecord({ caller: paying.wallet, listing });
    const body = { task: 'x'.repeat(25_000), parameters: {}, async: true };
    const execute = (key: string) => world.post(`/v1/agents/${listing}/execute`, body, { key });
    // Starts the thread for paid calls, which takes seconds.
    expect((await execute(paying.apiKey)).status).to.equal(200);
    let isBusy = true;
    const cell = new SharedArrayBuffer(4);
    const newcomer = async () => ({ lane: 'newcomers' as const, name: 'other', limited: null });
    const busy = inThread(WORK, work.hold)(newcomer, cell).finally(() => {
      isBusy = false;
    });
    const counted = { ...refusedRequests() };
    const refused = execute(fresh.apiKey);
    const answer = await execute(paying.apiKey);
    expect([answer.status, isBusy], answer.text).to.deep.equal([200, true]);
    expect((await refused).json.error.code).to.equal('service_unavailable');
    expect(refusedRequests()).to.deep.equal({ ...counted, newcomers: counted.newcomers + 1 });
    work.release(cell);
    await busy;
    expect((await execute(fresh.apiKey)).status).to.equal(200);
  });

  it('by the signature of a wallet that has paid is checked at once', async () => {
    const wallet = Keypair.generate();
    const caller = wallet.publicKey.toBase58();
    // A schema too long to be compiled outside of threads.
    const text = { type: 'string', pattern: '^[a-z]+$', description: 'words '.repeat(50) };
    const listing = await world.addListing({}, { input_schema: { type: 'object', properties: { text } } });
    await world.addRecord({ caller, listing });
    const start = async () => {
      const executionId = newExecutionId();
      Object.assign(world.deps.engine, { start: async () => ({ kind: 'pending', executionId }) });
      const id = parseUuid(executionId)!;
      const hash = requestHash('count', { text: 'words' });
      world.state.records.set(executionId, {
        status: 'open',
        executionId: id,
        listing: new PublicKey(listing),
        caller: wallet.publicKey,
        keyId: new Uint8Array(16),
        requestHash: hash,
        price: 250_000n,
        openedAt: BigInt(EPOCH),
        deadline: BigInt(EPOCH + 60),
      } as unknown as ExecutionRecord);
      const message = startMessage(findExecution(id).toBase58(), Buffer.from(hash).toString('hex'));
      const wallet_signature = signMessage(wallet.secretKey, message);
      const body = { task: 'count', parameters: { text: 'words' }, async: true, wallet_signature };
      return world.post(`/v1/executions/${executionId}/start`, body);
    };
    const cell = new SharedArrayBuffer(4);
    let isBusy = true;
    const busy = inThread(WORK, work.hold)(ownWork, cell).finally(() => {
      isBusy = false;
    });
    const answer = await start();
    expect([answer.status, isBusy], answer.text).to.deep.equal([200, true]);
    work.release(cell);
    await busy;
  });
});
