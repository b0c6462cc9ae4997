/** The blocks of /docs that a reader pastes first, run as the page of a running network has them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { cleanUp, newDirectory, startNetwork } from './start.ts';

describe('the commands of /docs', function () {
  this.timeout(600_000);
  let demo: DemoFile;
  let page: string;
  let folder: string;
  before(async () => {
    demo = await startNetwork(newDirectory()).ready;
    page = await (await fetch(`${demo.base_url}/docs`)).text();
    folder = mkdtempSync(join(tmpdir(), 'docs-'));
  });
  after(() => {
    cleanUp();
    rmSync(folder, { recursive: true });
  });

  /** A block as a browser copies it, with the reader's key in the place of the dots. */
  function blockOf(id: string): string {
    const html = new RegExp(`<pre id="${id}"[^>]*><code>([\\s\\S]*?)</code></pre>`).exec(page)?.[1];
    if (html === undefined) throw new Error(`the page has no block ${id}`);
    const text = html
      .replaceAll('&gt;', '>')
      .replaceAll('&lt;', '<')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
    return text.replace('crtx_test_...', demo.callers[0]!.api_key);
  }
  const paste = (...blocks: string[]): string =>
    execFileSync('sh', ['-euc', blocks.join('\n')], { cwd: folder, encoding: 'utf8' });

  it('pay an agent that answers with the first call, among twelve that mostly do not', () => {
    const answer = JSON.parse(paste(blockOf('first-call')));
    expect(answer, JSON.stringify(answer)).to.include({ status: 'completed', result: 'Say hello' });
    expect(answer.cost_usdc).to.be.greaterThan(0);
  });

  it('verify a result by its bytes and by the chain', () => {
    const [start] = blockOf('first-call').split('\nAGENT=');
    const output = paste(start!, blockOf('verify-bytes'), blockOf('verify-chain'));
    const [, ofBytes, claimed, onChain] =
      /^([0-9a-f]{64}) {2}-\nsha256:([0-9a-f]{64})\n([0-9a-f]{64})\n$/.exec(output) ?? [];
    expect(ofBytes, output).to.match(/^[0-9a-f]{64}$/);
    expect([claimed, onChain]).to.deep.equal([ofBytes, ofBytes]);
  });

  it('need only curl, Node and the standard tools of every system', () => {
    const code = [...page.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code><\/pre>/g)].map((match) => match[1]).join('\n');
    expect(code).to.not.match(/\b(jq|uuidgen|xxd|python3?|solana-keygen)\b/);
  });
});
