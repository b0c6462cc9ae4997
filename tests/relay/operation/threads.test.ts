/** Work on strangers' bytes in threads: it never ends or blocks the relay, and failures are reported. */
import { expect } from 'chai';
import { ApiError } from '../../../app/relay/errors.ts';
import type { Body } from '../../../app/relay/longBytes.ts';
import { type Asker, bytesInThread, inThread, refusedRequests, spendTime } from '../../../app/relay/workers.ts';
import * as work from './threadWork.ts';

const MODULE = new URL('./threadWork.ts', import.meta.url).href;

describe('work in threads', () => {
  const askFor = (asker: Partial<Asker>) => async (): Promise<Asker> => ({
    lane: 'strangers',
    name: 'a',
    limited: null,
    ...asker,
  });
  const stranger = askFor({});
  const payer = askFor({ lane: 'paid' });
  const double = (value: number) => inThread(MODULE, work.double)(stranger, value);
  const outcome = (running: Promise<unknown>) =>
    running.then(
      () => 'done',
      (error) => (error instanceof ApiError ? error.code : `${error.name}: ${error.message}`),
    );

  it('completes, and reports its errors as errors', async () => {
    expect(await double(21)).to.equal(42);
    expect(await outcome(inThread(MODULE, work.fail)(stranger, undefined))).to.equal('RangeError: a fault of ours');
  });

  it('rejects: a request with 503 when its thread dies, and continues with another thread', async () => {
    expect(await outcome(inThread(MODULE, work.die)(stranger, undefined))).to.equal('service_unavailable');
    expect(await double(2)).to.equal(4);
    expect(await outcome(inThread(MODULE, work.devour)(stranger, undefined))).to.equal('service_unavailable');
    expect(await double(3)).to.equal(6);
  });

  it("passes long bytes complete, and leaves the sender's copy intact", async () => {
    const ends = bytesInThread(MODULE, work.ends);
    const bytes = Buffer.concat([Buffer.from([1]), Buffer.alloc(5 * 1024 * 1024, 7), Buffer.from([9])]);
    // In parts of irregular length, as a connection delivers them, or in one.
    const body: Body = [bytes.subarray(0, 5), bytes.subarray(5, 300_000), bytes.subarray(300_000)];
    const all = `${bytes.length}, 1 to 9`;
    const running = [ends(body, 'one'), ends([bytes], 'two'), ends(body, 'three')];
    expect(await Promise.all(running)).to.deep.equal([`one: ${all}`, `two: ${all}`, `three: ${all}`]);
    expect(Buffer.concat(body).equals(bytes)).to.equal(true);
    expect(await outcome(bytesInThread(MODULE, work.die)(body, undefined))).to.match(/^Error: /);
    expect(await ends(body, 'again')).to.equal(`again: ${all}`);
  });

  it('judges a paid answer after one reading of stored answers at most, however many wait', async () => {
    const ends = bytesInThread(MODULE, work.ends);
    const done: string[] = [];
    const run = async (name: string, who?: { reader: string }) => {
      await ends([Buffer.alloc(1_000, 1)], name, who);
      done.push(name);
    };
    const readings = Array.from({ length: 20 }, (_, n) => run('reading', { reader: `wallet ${n % 2}` }));
    await Promise.all([...readings, run('paid')]);
    expect(done).to.have.length(21);
    expect(done.indexOf('paid')).to.be.at.most(1);
  });

  it('rejects: strangers whose work takes too long, and too many of them, but never delays paying ones', async () => {
    const busy = inThread(MODULE, work.busy);
    expect(await bytesInThread(MODULE, work.ends)([Buffer.from([1, 2])], 'warm')).to.equal('warm: 2, 1 to 2');
    const stuck = outcome(busy(stranger, 3_600_000));
    const crowd = Array.from({ length: 80 }, (_, index) => outcome(busy(askFor({ name: `${index}` }), 1)));
    // The answer to a test call, which nobody pays for.
    const tested = outcome(bytesInThread(MODULE, work.ends)([Buffer.from([1, 2])], 'test', stranger));
    expect(await inThread(MODULE, work.double)(payer, 5)).to.equal(10);
    expect(await bytesInThread(MODULE, work.ends)([Buffer.from([1, 2])], 'answer')).to.equal('answer: 2, 1 to 2');
    const outcomes = await Promise.all([...crowd, tested]);
    expect(outcomes).to.deep.equal(Array(81).fill('service_unavailable'));
    expect(await stuck).to.equal('service_unavailable');
    expect(await double(6)).to.equal(12);
  });

  it("rejects: a new wallet while another one's work runs, but never delays paying ones", async () => {
    let isBusy = true;
    const cell = new SharedArrayBuffer(4);
    const askOf = (name: string) => askFor({ lane: 'newcomers', name });
    const taken = inThread(MODULE, work.hold)(askOf('b'), cell).finally(() => {
      isBusy = false;
    });
    const refused = { ...refusedRequests() };
    const refusal = outcome(inThread(MODULE, work.double)(askOf('c'), 7));
    expect([await inThread(MODULE, work.double)(payer, 8), isBusy]).to.deep.equal([16, true]);
    expect([await refusal, isBusy]).to.deep.equal(['service_unavailable', true]);
    expect(refusedRequests()).to.deep.equal({ ...refused, newcomers: refused.newcomers + 1 });
    work.release(cell);
    await taken;
  });

  it("rejects: a paying wallet while another one's work runs, instead of making it wait", async () => {
    let isBusy = true;
    const cell = new SharedArrayBuffer(4);
    const taken = inThread(MODULE, work.hold)(askFor({ lane: 'paid', name: 'b' }), cell).finally(() => {
      isBusy = false;
    });
    const refused = { ...refusedRequests() };
    const refusal = await outcome(inThread(MODULE, work.double)(payer, 7));
    expect([refusal, isBusy]).to.deep.equal(['service_unavailable', true]);
    expect(refusedRequests()).to.deep.equal({ ...refused, paid: refused.paid + 1 });
    work.release(cell);
    await taken;
    expect(await inThread(MODULE, work.double)(payer, 8)).to.equal(16);
  });

  it('rejects: an address that used 3 s of processor time in 30 s', async () => {
    const [one, other] = ['one', 'other'].map((limited) => askFor({ limited }));
    const burn = (asker: typeof stranger) => outcome(inThread(MODULE, work.burn)(asker, 500));
    await spendTime('strangers', 'one', 2_000);
    expect(await burn(one!)).to.equal('done');
    let last = 'done';
    // On a busy machine each piece gets less of the processor.
    while (last === 'done') last = await burn(one!);
    expect(last).to.equal('rate_limited');
    expect(await burn(other!)).to.equal('done');
  });

  it('rejects: a wallet that used 15 s of processor time in 30 s', async () => {
    for (const lane of ['paid', 'newcomers'] as const) {
      const double = (limited: string) => outcome(inThread(MODULE, work.double)(askFor({ lane, limited }), 4));
      // Less than 15 s with the few milliseconds of the call in between.
      await spendTime(lane, 'wallet', 14_000);
      expect(await double('wallet')).to.equal('done');
      await spendTime(lane, 'wallet', 1_000);
      expect(await double('wallet')).to.equal('rate_limited');
      expect(await double('another wallet')).to.equal('done');
    }
  });
});
