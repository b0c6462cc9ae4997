/** Large requests with keys, and of wallets that have paid, while the thread of strangers is busy. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { inThread, ownWork, refusedRequests } from '../../../app/relay/workers.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { metadataOf } from '../../harness/edge/rows.ts';
import * as work from '../operation/threadWork.ts';
import { sessionsOf } from './sessions.ts';

const WORK = new URL('../operation/threadWork.ts', import.meta.url).href;

describe('a large request', () => {
  const world = useWorld();

  /** Holds the thread of strangers while `run` runs, which learns if it is still held. */
  async function whileHeld(run: (isHeld: () => boolean) => Promise<void>): Promise<void> {
    let isBusy = true;
    const cell = new SharedArrayBuffer(4);
    const busy = inThread(WORK, work.hold)(ownWork, cell).finally(() => {
      isBusy = false;
    });
    await run(() => isBusy);
    work.release(cell);
    await busy;
  }

  it('with a live key is read at once, before its wallet has paid, and a description without a key waits', async () => {
    const listing = await world.addListing();
    const { apiKey: key } = await world.addKey();
    const body = { task: 'x'.repeat(25_000), parameters: {}, async: true };
    const execute = () => world.post(`/v1/agents/${listing}/execute`, body, { key });
    // Starts the thread for paid calls, which takes seconds. The other one is held for at most ten.
    expect((await execute()).status).to.equal(200);
    const description = metadataOf({ input_schema: { type: 'object', description: 'words '.repeat(1_000) } });
    await whileHeld(async (isHeld) => {
      const counted = { ...refusedRequests() };
      const refused = world.post('/v1/metadata', description);
      const answer = await execute();
      expect([answer.status, isHeld()], answer.text).to.deep.equal([200, true]);
      const refusal = await refused;
      expect(refusal.outcome, refusal.text).to.equal('503 service_unavailable');
      expect(refusal.headers.get('retry-after')).to.equal('2');
      expect(refusedRequests()).to.deep.equal({ ...counted, strangers: counted.strangers + 1 });
    });
    expect((await world.post('/v1/metadata', description)).status).to.equal(200);
  });

  it('by the signature of a wallet that has paid is checked at once', async () => {
    const wallet = Keypair.generate();
    const caller = wallet.publicKey.toBase58();
    // A schema too long to be compiled outside of threads.
    const text = { type: 'string', pattern: '^[a-z]+$', description: 'words '.repeat(50) };
    const listing = await world.addListing({}, { input_schema: { type: 'object', properties: { text } } });
    await world.addRecord({ caller, listing });
    const parameters = { text: 'words' };
    const { executionId, wallet_signature } = sessionsOf(() => world).openedRecord(
      wallet,
      listing,
      'count',
      parameters,
    );
    Object.assign(world.deps.engine, { start: async () => ({ kind: 'pending', executionId }) });
    const body = { task: 'count', parameters, async: true, wallet_signature };
    await whileHeld(async (isHeld) => {
      const answer = await world.post(`/v1/executions/${executionId}/start`, body);
      expect([answer.status, isHeld()], answer.text).to.deep.equal([200, true]);
    });
  });
});
