/** The queue in front of a thread: its order, and refused work. */
import { expect } from 'chai';
import { createLane, LaneFull } from '../../../app/relay/lanes.ts';

const PATIENT = { waiting: 100, ofOne: 100, waitMs: 600_000 };

describe('a lane', () => {
  /** A lane with work that ends on request. */
  function stand(limits: Partial<typeof PATIENT> = {}) {
    const lane = createLane({ ...PATIENT, ...limits });
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const ask = (asker: string, name = asker) =>
      lane(asker, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      });
    const endNext = async () => {
      ends.shift()!();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { ask, begun, endNext };
  }
  const refusal = (asked: Promise<unknown>) => asked.catch((error) => error instanceof LaneFull);

  it('does one piece of work at a time, round-robin among those who ask', async () => {
    const { ask, begun, endNext } = stand();
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => ask(name[0]!, name));
    for (let work = 1; work <= all.length; work++) {
      expect(begun).to.have.length(work);
      await endNext();
    }
    expect(begun).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
    expect(await Promise.all(all)).to.deep.equal(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']);
  });

  it('continues after work that failed', async () => {
    const lane = createLane(PATIENT);
    const failing = lane('a', () => Promise.reject(new RangeError('a fault')));
    const next = lane('b', async () => 'done');
    expect(await failing.catch((error) => error.name)).to.equal('RangeError');
    expect(await next).to.equal('done');
  });

  it('refuses work beyond the queue limits at once, for one asker and in total', async () => {
    const { ask, begun, endNext } = stand({ waiting: 3, ofOne: 2 });
    const working = ask('a');
    const waiting = [ask('a'), ask('a')];
    expect(await refusal(ask('a'))).to.equal(true);
    waiting.push(ask('b'));
    expect(await refusal(ask('c'))).to.equal(true);
    for (let work = 0; work < 4; work++) await endNext();
    await Promise.all([working, ...waiting]);
    expect(begun).to.deep.equal(['a', 'a', 'b', 'a']);
  });

  it('refuses work that has waited too long, and never begins it', async () => {
    const { ask, begun, endNext } = stand({ waitMs: 5 });
    const working = ask('a');
    expect(await refusal(ask('b'))).to.equal(true);
    expect(await refusal(ask('a'))).to.equal(true);
    await endNext();
    await working;
    expect(begun).to.deep.equal(['a']);
  });
});
