/**
 * Every sandbox agent over HTTP: honest before it is listed, as documented afterwards, and the same bytes for a repeat.
 */
import { expect } from 'chai';
import { demoAgents } from '../../app/local/creators/definitions.ts';
import { compileParameterCheck } from '../../app/relay/agents/parameters.ts';
import { readEvents } from '../../app/sdk/wire/eventStream.ts';
import { AgentMetadata, isStandardTag } from '../../app/sdk/wire/metadata.ts';
import { findInputSchemaFaults, findSchemaFaults } from '../../app/sdk/wire/schemas/faults.ts';
import { parseUsdc } from '../../app/sdk/wire/usdc.ts';
import { type Creators, complete, execution, forkCreators, isSigned, post, type RunningAgent } from './process.ts';

describe('demo creators: definitions', () => {
  for (const agent of demoAgents) {
    it(`${agent.name} keeps the limits of a listing`, () => {
      const standard = agent.tags.filter(isStandardTag);
      expect(standard.length).to.be.within(1, 5);
      expect(agent.tags.slice(0, standard.length)).to.deep.equal(standard);
      const { name, tagline, description } = agent;
      const metadata = AgentMetadata.parse({
        name,
        tagline,
        description,
        display_name: 'Demo creator',
        custom_tags: agent.tags.slice(standard.length),
        input_schema: agent.inputSchema,
        output_schema: agent.outputSchema,
        endpoint: 'http://127.0.0.1:1/execute',
      });
      expect(findInputSchemaFaults(metadata.input_schema, 'input_schema')).to.deep.equal([]);
      expect(findSchemaFaults(metadata.output_schema, 'output_schema')).to.deep.equal([]);
      expect(compileParameterCheck(metadata.input_schema)(agent.example.parameters)).to.deep.equal([]);
      expect(Number(parseUsdc(agent.price))).to.be.within(10_000, 5_000_000);
      expect([agent.timeoutSeconds, agent.minTimeoutSeconds]).to.deep.equal([60, 1]);
    });
  }
});

describe('demo creators: sandbox', () => {
  let creators: Creators;
  let agents: Map<string, RunningAgent>;

  before(async () => {
    creators = forkCreators();
    agents = await creators.start(demoAgents.map(({ name }) => ({ name })));
  });
  after(() => creators.stop());

  const agent = (name: string): RunningAgent => agents.get(name)!;

  describe('before they are listed', () => {
    for (const { name, example } of demoAgents) {
      it(`${name} completes its example with a good signature, and repeats the same bytes`, async () => {
        const request = execution(example.task, example.parameters);
        const result = await complete(agent(name), request);
        if (name.startsWith('sandbox-')) expect(result).to.equal(example.task);
        const first = await post(agent(name).url, request);
        const second = await post(agent(name).url, request);
        expect(second).to.deep.equal(first);
        expect(JSON.parse(first.text).result).to.equal(result);
      });
    }
  });

  describe('after they are listed', () => {
    before(async () => {
      for (const { name } of demoAgents) {
        expect(await creators.ask({ type: 'listed', name })).to.deep.equal({ type: 'listed', name });
      }
    });

    // conformance.test.ts finds the fault of each agent.
    it('sandbox-slow waits the requested seconds, even past the deadline', async () => {
      for (const [seconds, timeout] of [
        [0, 60],
        [0.5, 60],
        [1.2, 1],
      ] as const) {
        const started = performance.now();
        expect(await complete(agent('sandbox-slow'), execution('late', { seconds }, timeout))).to.equal('late');
        expect(performance.now() - started).to.be.at.least(seconds * 1000 - 2);
      }
    });

    it('sandbox-slow streams the task word by word, and signs the whole', async () => {
      const { url } = agent('sandbox-slow');
      const task = Array.from({ length: 50 }, (_, at) => `word${at}`).join(' ');
      const leaving = new AbortController();
      async function* stream(seconds: number) {
        const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
        const body = JSON.stringify(execution(task, { seconds }));
        yield* readEvents((await fetch(url, { method: 'POST', headers, body, signal: leaving.signal })).body!);
      }
      const texts: string[] = [];
      for await (const { name, data } of stream(0)) {
        const { text, result, result_hash, signature } = JSON.parse(data);
        texts.push(name === 'delta' ? text : result);
        if (name === 'result') expect(isSigned(agent('sandbox-slow'), result_hash, signature)).to.equal(true);
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
});
