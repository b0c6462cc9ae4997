/**
 * Misbehaving creators against the real relay on a real node, over real HTTP. Each test checks the exact answer, all
 * balances, and the number of calls. The relay's memory must not grow.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { generateSigningKey } from '../../../app/sdk/creator/signingKey.ts';
import { hashResult } from '../../../app/sdk/receipt/receipt.ts';
import { afterPaying, useMarketplace } from '../../harness/node/marketplace.ts';
import { type Case, misbehaviours } from './cases.ts';

const MAX_GROWTH_BYTES = 50 * 1024 * 1024;
/** At most this many runs of a case that exceeds the memory limit. */
const RUNS = 4;

/** The process's memory in bytes: now (VmRSS), or its peak since `forgetPeak` (VmHWM). */
function memoryOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)![1]) * 1024;
}
const forgetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5');

describe('creators that misbehave', () => {
  const key = generateSigningKey();
  const stranger = generateSigningKey();
  let worst = { name: '', bytes: 0 };

  const market = useMarketplace({ signingKey: key });
  before(async () => {
    // Warms up: memory that every process needs once does not count.
    for (let i = 0; i < 5; i += 1) await execute({ task: 'x'.repeat(100_000) });
  });
  after(async () => {
    console.log(`      most memory: ${(worst.bytes / 1024 / 1024).toFixed(1)} MiB more, by "${worst.name}"`);
  });

  const execute = (body: object) => market.execute(market.relay.url, body);

  for (const [kind, cases] of Object.entries(misbehaviours(key, stranger))) {
    describe(kind, () => {
      for (const [name, behave, end, calls] of cases) {
        const outcome = 'result' in end ? 'paid' : `answered with ${end.status} and refunded to the unit`;
        it(`${name}: the call is ${outcome}`, async () => {
          // Memory that an answer needs grows in every run. Garbage that is not yet collected appears only in some.
          const grown: number[] = [];
          do grown.push(await run(`${kind}: ${name}`, behave, end, calls));
          while (grown.at(-1)! >= MAX_GROWTH_BYTES && grown.length < RUNS);
          const least = Math.min(...grown);
          if (least > worst.bytes) worst = { name: `${kind}: ${name}`, bytes: least };
          expect(least, `${least} bytes more`).to.be.lessThan(MAX_GROWTH_BYTES);
        });
      }
    });
  }

  /** Runs one call of a case. Returns the peak growth of the relay's memory, in bytes. */
  async function run(name: string, behave: Case[1], end: Case[2], calls?: number): Promise<number> {
    market.setBehaviour(behave);
    const pid = market.relay.process.pid!;
    const before = await market.balances();
    const memory = memoryOf(pid, 'VmRSS');
    forgetPeak(pid);
    const isLate = 'status' in end && end.status === 408;
    const send = () => execute({ task: name, timeout_seconds: isLate ? 1 : 30 });
    let answer = await send();
    // On a busy machine no attempt may end within the second.
    for (let again = 0; isLate && again < 3 && !end.message.test(answer.body.error?.message); again += 1) {
      answer = await send();
    }
    const grown = memoryOf(pid, 'VmHWM') - memory;
    const after = await market.balances();
    let id: string;
    if ('result' in end) {
      expect(answer.status, answer.text.slice(0, 500)).to.equal(200);
      expect(answer.body.status).to.equal('completed');
      expect(hashResult(answer.body.result)).to.equal(hashResult(end.result)).and.to.equal(answer.body.result_hash);
      expect(after).to.deep.equal(afterPaying(before));
      id = answer.body.execution_id;
      expect((await market.record(id))?.status).to.equal('completed');
    } else {
      expect(answer.status, answer.text.slice(0, 500)).to.equal(end.status);
      const { error } = answer.body;
      expect(error.code).to.equal(isLate ? 'execution_timeout' : 'execution_failed');
      expect(error.message)
        .to.match(end.message)
        .and.match(/Escrow refunded$/);
      expect(after).to.deep.equal(before);
      id = error.execution_id;
      expect((await market.record(id))?.status).to.equal('refunded');
      const { body: record } = await market.read(market.relay.url, id);
      expect(record).to.include({ status: 'failed', cost_usdc: 0, result: null, result_hash: null, refund: 'done' });
      expect(record.error.code).to.equal(error.code);
    }
    expect(await market.escrowExists(id)).to.equal(false);
    if (calls !== undefined) expect(market.calls.get(id)).to.equal(calls);
    return grown;
  }
});
