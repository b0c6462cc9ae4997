/** A chapter of the journey: the first calls, and each agent of the sandbox, with exact balances. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../local/start.ts';
import type { Visitor } from './visitor.ts';

const CSV = readFileSync(join(ROOT, 'examples', 'cities.csv'), 'utf8');
const TEXT = readFileSync(join(ROOT, 'examples', 'lighthouse.txt'), 'utf8');

export function tellOfCalls(visit: () => Visitor): void {
  describe('the first calls', () => {
    it('the first call answers 200, pays 99 to 1, and API, result and chain agree', async () => {
      const before = await visit().balances();
      const query = 'SELECT city, population FROM csv ORDER BY population DESC LIMIT 2';
      const { status, body } = await visit().execute('csv-analyst', {
        task: 'Largest cities',
        parameters: { csv: CSV, query },
      });
      expect(status).to.equal(200);
      expect(JSON.parse(body.result).row_count).to.equal(2);
      visit().assertPaid(before, await visit().balances(), 'csv-analyst', 250_000n);

      const record = await visit().readRecord(body.execution_id);
      expect(record.status).to.deep.equal({ completed: {} });
      expect(`sha256:${Buffer.from(record.resultHash).toString('hex')}`).to.equal(body.result_hash);
      expect(record.caller.toBase58()).to.equal(visit().demo.callers[0]!.wallet);
      expect(await visit().escrowExists(body.execution_id)).to.equal(false);
      const full = (await visit().send(`/v1/executions/${body.execution_id}`, 0)).body;
      expect(full).to.include({
        status: 'completed',
        result: body.result,
        result_hash: body.result_hash,
        cost_usdc: 0.25,
        creator_amount_usdc: 0.2475,
        platform_amount_usdc: 0.0025,
        agent_name: 'csv-analyst',
      });
    });

    it('text-report answers the other caller and is paid', async () => {
      const before = await visit().balances();
      const { status, body } = await visit().execute('text-report', { task: 'Report', parameters: { text: TEXT } }, 1);
      expect(status).to.equal(200);
      expect(JSON.parse(body.result)).to.have.keys('statistics', 'key_sentences', 'outline');
      visit().assertPaid(before, await visit().balances(), 'text-report', 100_000n, 1);
      expect((await visit().send(`/v1/executions/${body.execution_id}`, 0)).body.error.code).to.equal(
        'execution_not_found',
      );
    });
  });

  // tests/creators/conformance.test.ts finds the fault of each agent, and relay/misbehaviour what follows from it.
  describe('the sandbox', () => {
    const paid: [string, unknown, string, bigint][] = [
      ['sandbox-echo', { task: 'héllo' }, 'héllo', 10_000n],
      ['sandbox-slow', { task: 'soon', parameters: { seconds: 1 } }, 'soon', 20_000n],
    ];
    for (const [name, body, result, price] of paid) {
      it(`${name} answers 200 and is paid`, async () => {
        const before = await visit().balances();
        const answer = await visit().execute(name, body);
        expect(answer.status).to.equal(200);
        expect(answer.body).to.include({ status: 'completed', result, cost_usdc: Number(price) / 1e6 });
        visit().assertPaid(before, await visit().balances(), name, price);
      });
    }

    const refunded: [string, unknown, number, string, RegExp][] = [
      [
        'sandbox-slow',
        { task: 'x', parameters: { seconds: 4 }, timeout_seconds: 1 },
        408,
        'execution_timeout',
        /within 1 second/,
      ],
      ['sandbox-wrong-hash', { task: 'x' }, 500, 'execution_failed', /SHA-256/],
      ['sandbox-wrong-id', { task: 'x' }, 500, 'execution_failed', /execution_id/],
      [
        'csv-analyst',
        { task: 'x', parameters: { csv: CSV, query: 'DROP TABLE csv' } },
        500,
        'execution_failed',
        /SELECT/,
      ],
    ];
    for (const [name, body, status, code, message] of refunded) {
      it(`${name} ends with ${status} ${code}, and the caller is refunded to the unit`, async () => {
        const before = await visit().balances();
        const answer = await visit().execute(name, body);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
        expect(answer.body.error.code).to.equal(code);
        expect(answer.body.error.message).to.match(message);
        expect(await visit().balances()).to.deep.equal(before);
        const id = answer.body.error.execution_id;
        expect((await visit().readRecord(id)).status).to.deep.equal({ refunded: {} });
        expect(await visit().escrowExists(id)).to.equal(false);
        const full = (await visit().send(`/v1/executions/${id}`, 0)).body;
        expect(full).to.include({ status: 'failed', cost_usdc: 0, result: null, ipfs_url: null });
      });
    }

    it('sandbox-paused answers 422, and nothing is opened', async () => {
      const before = await visit().balances();
      const total = (await visit().send('/v1/executions?limit=1', 0)).body.total;
      const answer = await visit().execute('sandbox-paused', { task: 'x' });
      expect(answer.status).to.equal(422);
      expect(answer.body.error).to.include({ code: 'agent_paused', execution_id: null });
      expect(await visit().balances()).to.deep.equal(before);
      expect((await visit().send('/v1/executions?limit=1', 0)).body.total).to.equal(total);
    });
  });
}
