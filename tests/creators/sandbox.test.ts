/**
 * The sandbox agent that works slowly. conformance.test.ts finds what each agent does after it is listed. Every
 * `npm start` lists all of them, which needs valid descriptions and honest answers.
 */
import { expect } from 'chai';
import { readEvents } from '../../app/sdk/wire/eventStream.ts';
import { type Creators, complete, execution, forkCreators, isSigned, type RunningAgent } from './process.ts';

describe('demo creators: sandbox-slow', () => {
  let creators: Creators;
  let agent: RunningAgent;

  before(async () => {
    creators = forkCreators();
    agent = (await creators.start([{ name: 'sandbox-slow', listed: true }])).get('sandbox-slow')!;
  });
  after(() => creators.stop());

  it('waits the requested seconds, even past the deadline', async () => {
    for (const [seconds, timeout] of [
      [0, 60],
      [0.5, 60],
      [1.2, 1],
    ] as const) {
      const started = performance.now();
      expect(await complete(agent, execution('late', { seconds }, timeout))).to.equal('late');
      expect(performance.now() - started).to.be.at.least(seconds * 1000 - 2);
    }
  });

  it('streams the task word by word, and signs the whole', async () => {
    const task = Array.from({ length: 50 }, (_, at) => `word${at}`).join(' ');
    const leaving = new AbortController();
    async function* stream(seconds: number) {
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      const body = JSON.stringify(execution(task, { seconds }));
      yield* readEvents((await fetch(agent.url, { method: 'POST', headers, body, signal: leaving.signal })).body!);
    }
    const texts: string[] = [];
    for await (const { name, data } of stream(0)) {
      const { text, result, result_hash, signature } = JSON.parse(data);
      texts.push(name === 'delta' ? text : result);
      if (name === 'result') expect(isSigned(agent, result_hash, signature)).to.equal(true);
    }
    const whole = texts.pop();
    expect([texts.length, texts.join(''), whole]).to.deep.equal([50, task, task]);
    // The whole stream takes a minute.
    for await (const { data } of stream(60)) {
      expect(JSON.parse(data)).to.deep.equal({ text: texts[0] });
      break;
    }
    leaving.abort();
  });
});
