/**
 * The relay is killed, as by `kill -9`, before and after every move of its journal, and started again. Whatever the
 * moment, the call ends, is charged once or not at all, no money stays behind, and its record can be read.
 */

import bs58 from 'bs58';
import { expect } from 'chai';
import { accountDiscriminator, EXECUTION_STATUS_BYTE, PROGRAM_ID, RECORD_OFFSETS } from '../../app/sdk/program.ts';
import { type Balances, request, startMarketplace, type TestMarketplace } from '../harness/marketplace.ts';

const PRICE = 250_000n;
const FEE = 2_500n;
/** Recovery looks every two seconds; a transaction takes two slots. */
const END_TIMEOUT_MS = 15_000;

const SETTLING = ['claim', 'openSigned', 'openConfirmed', 'dispatched', 'storeResult', 'verified', 'settled'];
const REFUNDING = ['claim', 'openSigned', 'openConfirmed', 'dispatched', 'refunding', 'refunded'];
/** Killed here, nothing was sent yet, and so nothing is ever charged. */
const NOTHING_SENT = ['claim:before', 'claim:after', 'openSigned:before'];

const sidesOf = (moves: string[]) => moves.flatMap((move) => [`${move}:before`, `${move}:after`]);

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const end = Date.now() + END_TIMEOUT_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error(`${what} did not happen within ${END_TIMEOUT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('recovery after kill -9', function () {
  this.timeout(60_000);
  let market: TestMarketplace;

  before(async () => {
    market = await startMarketplace();
    await market.relay.kill();
  });
  after(() => market.stop());

  async function openRecords(): Promise<number> {
    const found = await market.node.connection.getProgramAccounts(PROGRAM_ID, {
      commitment: 'confirmed',
      filters: [
        { memcmp: { offset: 0, bytes: bs58.encode(accountDiscriminator('ExecutionRecord')) } },
        { memcmp: { offset: RECORD_OFFSETS.status, bytes: bs58.encode(Uint8Array.of(EXECUTION_STATUS_BYTE.open)) } },
      ],
    });
    return found.length;
  }

  /** Kill the relay at this point of one call; then start it again and wait for the call's end. */
  async function killAndRestart(killAt: string, downMs = 0) {
    const apiKey = market.callers[0]!.apiKey;
    const doomed = await market.startRelayProcess(killAt);
    const before = await request(doomed.url, '/v1/executions?limit=1', { apiKey });
    const call = request(doomed.url, `/v1/agents/${market.agentId}/execute`, { apiKey, body: { task: killAt } });
    await call.then(
      // The very last move is made after the chain has decided; the answer may have been sent by then.
      () => undefined,
      () => undefined,
    );
    await doomed.gone;
    await new Promise((resolve) => setTimeout(resolve, downMs));

    const relay = await market.startRelayProcess();
    try {
      const total = before.body.total as number;
      const page = await until('the end of the call', async () => {
        const answer = await request(relay.url, '/v1/executions?limit=5', { apiKey });
        // A failed call costs nothing once its refund has arrived.
        const isEnded = answer.body.executions.every(
          (row: { status: string; cost_usdc: number }) =>
            row.status === 'completed' || (row.status === 'failed' && row.cost_usdc === 0),
        );
        return isEnded && (answer.body.total > total || killAt === 'claim:before') ? answer.body : null;
      });
      const newRows = page.executions.slice(0, page.total - total);
      const full = newRows[0]
        ? (await request(relay.url, `/v1/executions/${newRows[0].execution_id}`, { apiKey })).body
        : null;
      return { newRows: newRows.length as number, full };
    } finally {
      await relay.kill();
    }
  }

  function assertMoved(before: Balances, after: Balances, paid: boolean): void {
    expect(after.callers[0]).to.equal(before.callers[0]! - (paid ? PRICE : 0n), 'caller');
    expect(after.callers[1]).to.equal(before.callers[1], 'the other caller');
    expect(after.creator).to.equal(before.creator + (paid ? PRICE - FEE : 0n), 'creator');
    expect(after.treasury).to.equal(before.treasury + (paid ? FEE : 0n), 'treasury');
  }

  describe('of a call that settles', () => {
    before(() => market.setBehaviour(null));
    for (const killAt of sidesOf(SETTLING)) {
      it(`killed at ${killAt}`, async () => {
        const paid = !NOTHING_SENT.includes(killAt);
        const before = await market.balances();
        const { newRows, full } = await killAndRestart(killAt);
        assertMoved(before, await market.balances(), paid);
        expect(await openRecords()).to.equal(0);
        if (killAt === 'claim:before') {
          expect(newRows).to.equal(0);
          return;
        }
        expect(newRows).to.equal(1);
        expect(full.status).to.equal(paid ? 'completed' : 'failed');
        expect(full.cost_usdc).to.equal(paid ? 0.25 : 0);
        expect(full.result).to.equal(paid ? `done: ${killAt}` : null);
        if (!paid) return;
        const record = await market.record(full.execution_id);
        expect(record?.status).to.equal('completed');
        expect(full.result_hash).to.equal(`sha256:${Buffer.from(record!.resultHash).toString('hex')}`);
        expect(await market.escrowExists(full.execution_id)).to.equal(false);
      });
    }
  });

  describe('of a call that is refunded', () => {
    before(() =>
      market.setBehaviour((body, _response, reply) =>
        reply({
          execution_id: body.execution_id,
          status: 'failed',
          error: 'no luck',
          result: null,
          result_hash: null,
          signature: null,
        }),
      ),
    );
    for (const killAt of sidesOf(REFUNDING)) {
      it(`killed at ${killAt}`, async () => {
        const before = await market.balances();
        const { newRows, full } = await killAndRestart(killAt);
        assertMoved(before, await market.balances(), false);
        expect(await openRecords()).to.equal(0);
        if (killAt === 'claim:before') {
          expect(newRows).to.equal(0);
          return;
        }
        expect(full.status).to.equal('failed');
        expect(full.cost_usdc).to.equal(0);
        if (NOTHING_SENT.includes(killAt)) return;
        expect(full.error).to.deep.equal({ code: 'execution_failed', message: 'no luck' });
        expect((await market.record(full.execution_id))?.status).to.equal('refunded');
      });
    }
  });

  // 150 slots of 50 ms: after this, what was signed before the kill can never land.
  for (const [killAt, status] of [
    ['openSigned:after', 'failed'],
    ['verified:after', 'completed'],
  ] as const) {
    it(`killed at ${killAt} and down until its blockhash had expired: ${status}`, async () => {
      market.setBehaviour(null);
      const before = await market.balances();
      const { full } = await killAndRestart(killAt, 9_000);
      expect(full.status).to.equal(status);
      assertMoved(before, await market.balances(), status === 'completed');
      expect(await openRecords()).to.equal(0);
    });
  }

  it('a record whose row was lost with the ledger is refunded after its deadline', async () => {
    market.setBehaviour(() => undefined);
    const before = await market.balances();
    const apiKey = market.callers[0]!.apiKey;
    const doomed = await market.startRelayProcess('dispatched:after');
    await request(doomed.url, `/v1/agents/${market.agentId}/execute`, {
      apiKey,
      body: { task: 'lost', timeout_seconds: 1 },
    }).catch(() => undefined);
    await doomed.gone;
    expect(await openRecords()).to.equal(1);
    market.forgetExecutions();

    const relay = await market.startRelayProcess();
    try {
      await until('the refund', async () => ((await openRecords()) === 0 ? true : null));
      assertMoved(before, await market.balances(), false);
      const row = await until('the refund in the record', async () => {
        const page = await request(relay.url, '/v1/executions?limit=1', { apiKey });
        return page.body.executions[0].cost_usdc === 0 ? page.body.executions[0] : null;
      });
      expect(row.status).to.equal('failed');
    } finally {
      await relay.kill();
    }
  });
});
