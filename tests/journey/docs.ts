/** A chapter of the journey: the blocks of /docs that a reader pastes first, as they are served. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { KEY_VARIABLE, type Language } from '../../app/relay/http/docs/snippets.ts';
import { installPython, requireTools } from '../harness/edge/tools.ts';
import { useFolder } from '../harness/folder.ts';
import { ROOT } from '../local/start.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const CLIENT = join(ROOT, 'app', 'sdk', 'client', 'caller.ts');

export function tellOfDocs(network: () => DemoFile): void {
  describe('the commands of /docs', () => {
    let demo: DemoFile;
    let page: string;
    const folder = useFolder('docs');
    before(async () => {
      demo = network();
      page = await (await fetch(`${demo.base_url}/docs`)).text();
    });

    /** The first block that matches the expression, as a browser copies it. */
    function textOf(expression: string): string {
      const html = new RegExp(`${expression}[^>]*><code>([\\s\\S]*?)</code></pre>`).exec(page)?.[1];
      if (html === undefined) throw new Error(`the page has no block ${expression}`);
      return html.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    }
    const blockOf = (id: string) => textOf(`<pre[^>]*id="${id}"`);
    /** Sets the reader's key instead of the dots. */
    const setKey = () => blockOf('your-key').replace('crtx_test_...', demo.callers[0]!.api_key);
    /** The first call before and after the lines that find its agent. */
    const partsOfCall = () => blockOf('first-call').split(/^# The id of.*\nAGENT=.*\n.*\n/m);
    const start = () => `${setKey()}\n${partsOfCall()[0]!}`;
    const call = () => partsOfCall()[1]!;
    /** The code of a route for an agent of this network. */
    function codeOf(route: string, language: Language): string {
      const analyst = demo.agents.find(({ name }) => name === 'csv-analyst')!;
      const code = textOf(`<details id="${route}"(?:(?!</details>)[\\s\\S])*?<pre[^>]*data-language="${language}"`);
      return code.replaceAll('AGENT_ID', analyst.agent_id);
    }
    const run = (program: string, args: string[]): string =>
      execFileSync(program, args, {
        // The folder where a TypeScript file finds the loader.
        cwd: ROOT,
        encoding: 'utf8',
        env: { ...process.env, [KEY_VARIABLE]: demo.callers[0]!.api_key },
      });
    const paste = (...blocks: string[]): string =>
      execFileSync('sh', ['-euc', blocks.join('\n')], { cwd: folder, encoding: 'utf8' });

    it('pay the agent that returns the task, with the answer that stands there', () => {
      const answer = JSON.parse(paste(setKey(), blockOf('first-call')));
      expect(answer, JSON.stringify(answer)).to.include({ status: 'completed', result: 'Say hello', cost_usdc: 0.01 });
      const shown = JSON.parse(textOf('id="first-call"[\\s\\S]*?</pre>[\\s\\S]*?<pre'));
      expect(shown).to.include({ result: answer.result, result_hash: answer.result_hash, cost_usdc: answer.cost_usdc });
    });

    it('pay an agent that answers on the first call, although most of the twelve agents do not', () => {
      const answer = JSON.parse(paste(start(), blockOf('cheapest'), call()));
      expect(answer, JSON.stringify(answer)).to.include({ status: 'completed', result: 'Say hello' });
      expect(answer.cost_usdc).to.be.greaterThan(0);
    });

    it('verify a result by its bytes and by the chain', () => {
      const output = paste(start(), blockOf('verify-bytes'), blockOf('verify-chain'));
      const [, ofBytes, claimed, onChain] =
        /^([0-9a-f]{64}) {2}-\nsha256:([0-9a-f]{64})\n([0-9a-f]{64})\n$/.exec(output) ?? [];
      expect(ofBytes, output).to.match(/^[0-9a-f]{64}$/);
      expect([claimed, onChain]).to.deep.equal([ofBytes, ofBytes]);
    });

    describe('the code of the routes', () => {
      const RUNNERS: [Language, (code: string) => string][] = [
        ['curl', (code) => run('sh', ['-euc', code])],
        [
          'TypeScript',
          (code) => {
            const file = join(folder, 'call.mts');
            writeFileSync(file, code.replace("'@agent-marketplace/client'", JSON.stringify(CLIENT)));
            return run(process.execPath, ['--import', 'tsx', file]);
          },
        ],
        ['Python', (code) => run(join(python, 'bin', 'python'), ['-c', code])],
      ];
      let python: string;
      before(async function () {
        const tools = await installPython('docs', REQUIREMENTS);
        requireTools(this, tools);
        python = tools.folder;
      });

      for (const [language, runCode] of RUNNERS) {
        it(`pays an agent and lists what was paid, in ${language}`, () => {
          const paid = runCode(codeOf('executeAgent', language));
          const id = /execution_id['"]?: ?['"]([0-9a-f-]{36})/.exec(paid)?.[1];
          expect(paid)
            .to.include('Istanbul')
            .and.match(/status['"]?: ?['"]completed/);
          expect(runCode(codeOf('listExecutions', language))).to.include(id);
          expect(runCode(codeOf('listAgents', language))).to.include('csv-analyst');
        });
      }

      it('is Python in each route', () => {
        const codes = [...page.matchAll(/<pre[^>]*data-language="Python"><code>([\s\S]*?)<\/code>/g)].map(
          ([, code]) => code,
        );
        expect(codes.length).to.be.greaterThan(15);
        run(join(python, 'bin', 'python'), [
          '-c',
          'import ast, sys, json, html\nfor code in json.loads(sys.argv[1]): ast.parse(html.unescape(code))',
          JSON.stringify(codes),
        ]);
      });
    });

    it('need only curl, Node and the standard tools of every system', () => {
      const code = [...page.matchAll(/<pre(?![^>]*data-language="Python")[^>]*><code>([\s\S]*?)<\/code><\/pre>/g)]
        .map((match) => match[1])
        .join('\n');
      expect(code).to.not.match(/\b(jq|uuidgen|xxd|python3?|solana-keygen)\b/);
    });
  });
}
