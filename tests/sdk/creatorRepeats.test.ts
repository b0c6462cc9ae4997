/** The creator's server, asked again with an execution_id that it knows. */
import { expect } from 'chai';
import { ExecutionFailure } from '../../app/sdk/creator/creator.ts';
import { execution, post, serve, stopServers } from './creatorServer.ts';

/** A promise, and the function that resolves it. */
function gate(): [Promise<void>, () => void] {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}

describe('sdk/creator, a repeated execution_id', () => {
  after(stopServers);

  it('returns the same bytes without a second run, whatever time remains', async () => {
    let runs = 0;
    const base = await serve({ execute: () => ({ result: `run ${++runs}` }) });
    const request = execution();
    const first = await post(base, request);
    const second = await post(base, { ...request, timeout_seconds: 5 });
    expect(second.text).to.equal(first.text);
    expect(runs).to.equal(1);
    expect((await post(base, execution())).json.result).to.equal('run 2');
  });

  it('repeats a failure too', async () => {
    let runs = 0;
    const base = await serve({
      execute: () => {
        throw new ExecutionFailure(`run ${++runs}`);
      },
    });
    const request = execution();
    const first = await post(base, request);
    expect((await post(base, request)).text).to.equal(first.text);
    expect(runs).to.equal(1);
  });

  it('waits for the running call', async () => {
    let runs = 0;
    const [finished, finish] = gate();
    const base = await serve({
      execute: async () => {
        runs += 1;
        await finished;
        return { result: 'once' };
      },
    });
    const request = execution();
    const replies = Promise.all(Array.from({ length: 8 }, () => post(base, request)));
    // This round trip is sent after the eight. Most of them wait by now; the others will find the stored answer.
    await fetch(`${base}/health`);
    finish();
    expect(new Set((await replies).map(({ text }) => text)).size).to.equal(1);
    expect(runs).to.equal(1);
  });

  it('continues when the caller hangs up, and answers the repeated request', async () => {
    let runs = 0;
    const [begun, begin] = gate();
    const [finished, finish] = gate();
    const base = await serve({
      execute: async () => {
        runs += 1;
        begin();
        await finished;
        return { result: 'kept' };
      },
    });
    const request = execution();
    const leaving = new AbortController();
    const lost = post(base, request, { signal: leaving.signal }).catch((reason: Error) => reason);
    await begun;
    leaving.abort();
    expect(((await lost) as Error).name).to.equal('AbortError');
    // After this round trip the server has noticed the hang-up.
    await fetch(`${base}/health`);
    finish();
    expect((await post(base, request)).json.result).to.equal('kept');
    expect(runs).to.equal(1);
  });

  it('rejects: the id with another task or other parameters', async () => {
    const base = await serve();
    const request = execution();
    await post(base, request);
    for (const other of [{ task: 'other' }, { parameters: { a: 1 } }]) {
      const { status, json } = await post(base, { ...request, ...other });
      expect(status).to.equal(409);
      expect(json.error).to.include({ code: 'execution_id_reused' });
    }
  });

  it('forgets the least recently used answers when they grow too many', async () => {
    let runs = 0;
    const base = await serve({ execute: () => ({ result: `${++runs} ${'x'.repeat(1000)}` }), rememberBytes: 4600 });
    const [a, b, c] = [execution(), execution(), execution()];
    for (const request of [a, b, a, c]) await post(base, request);
    expect(runs).to.equal(3);
    await post(base, a);
    expect(runs, 'a was used after b and is kept').to.equal(3);
    await post(base, b);
    expect(runs, 'b was dropped').to.equal(4);
  });

  it('forgets answers after their time', async () => {
    let runs = 0;
    const base = await serve({ execute: () => ({ result: `${++runs}` }), rememberMs: 0 });
    const request = execution();
    await post(base, request);
    await post(base, request);
    expect(runs).to.equal(2);
  });
});
