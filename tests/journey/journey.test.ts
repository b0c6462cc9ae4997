/**
 * The whole marketplace as a newcomer uses it: `npm start` with 200 ms slots, then only HTTP, a Solana RPC and the
 * commands of the README. Balances are read from the token accounts.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { usesCommands } from '../cli/commands.ts';
import { tellOfPages } from '../docs/commands.ts';
import { blocksOf } from '../docs/markdown.ts';
import { cleanUp, newDirectory, ROOT, type Start, startNetwork } from '../local/start.ts';
import { tellOfCalls } from './calls.ts';
import { tellOfDocs } from './docs.ts';
import { tellOfRestart, tellOfStart } from './start.ts';
import { createVisitor, type Visitor } from './visitor.ts';

describe('journey', () => {
  const dataDir = newDirectory();
  let start: Start;
  let visitor: Visitor;
  after(cleanUp);

  before(async () => {
    start = startNetwork(dataDir, { command: 'npm' });
    visitor = createVisitor(await start.ready, dataDir);
  });

  const first = () => start;
  const demo = () => visitor.demo;

  // Mocha runs a block's own tests before its inner blocks. So everything is in blocks, in the order of the story.
  tellOfStart(first, demo, dataDir);
  tellOfCalls(() => visitor);

  describe('reading everything back', () => {
    it('updates the statistics of the listing, and counts only faults of the creator against it', async () => {
      for (const [name, total, successful] of [
        ['sandbox-echo', 1, 1],
        // The other call of this agent had a timeout of 1 s, less than the listing asks for, so it does not count.
        ['sandbox-slow', 1, 1],
        ['sandbox-wrong-id', 1, 0],
      ] as const) {
        const path = `/v1/agents/${visitor.agent(name).agent_id}`;
        const { body } = await visitor.sendUntil(path, null, (answer) => answer.body.total_executions === total);
        expect(body).to.include({ successful_executions: successful, success_rate: successful / total });
      }
    });

    it('runs the commands of the README as written', () => {
      const marked = blocksOf('README.md').filter(({ mark }) => mark === 'run by tests/journey/journey.test.ts');
      const textOf = (kind: string) => marked.filter(({ language }) => language === kind).map(({ text }) => text);
      const blocks = textOf('sh');
      expect(blocks).to.have.length(2);
      // A folder that looks like the repository after `npm start`, and contains nothing else.
      const folder = join(newDirectory(), 'clone');
      mkdirSync(folder);
      symlinkSync(dataDir, join(folder, '.local'));
      symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
      const output = execFileSync('sh', ['-ec', blocks.join('\n')], { cwd: folder, encoding: 'utf8' });
      const [, answer, digest, hash] = /^(\{.*\})\s*([0-9a-f]{64}) {2}-\n(sha256:[0-9a-f]{64})\s*$/s.exec(output) ?? [];
      const body = JSON.parse(answer ?? output);
      expect(body.status).to.equal('completed');
      expect(body.result_hash).to.equal(hash);
      expect(`sha256:${digest}`).to.equal(hash);
      const [printed] = textOf('json').map((text) => JSON.parse(text));
      expect(Object.keys(printed)).to.deep.equal(Object.keys(body));
      expect(printed.result).to.equal(body.result);
    });
  });

  tellOfDocs(demo);
  usesCommands(demo, dataDir);
  tellOfPages(demo, dataDir);
  tellOfRestart(first, demo, dataDir);
});
