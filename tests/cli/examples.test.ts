/**
 * The agent of examples/agent.json in Python, Go and plain JavaScript, with nothing else installed: it passes the
 * conformance test and fails a call with the reason. tests/docs/commands.ts has the one in TypeScript listed, called and paid.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestKeys, testCreator } from '../../app/sdk/creator/conformance.ts';
import { generateSigningKey, signingKeyAddress } from '../../app/sdk/creator/creator.ts';
import { encodeSigningKey } from '../../app/sdk/receipt/signingKeyFile.ts';
import type { ListingDraftInput } from '../../app/sdk/wallet/listingDraft.ts';
import { CONFORMANCE_NAMES } from '../../app/sdk/wire/conformance.ts';
import { STANDARD_TAGS } from '../../app/sdk/wire/metadata.ts';
import vectors from '../../examples/vectors.json' with { type: 'json' };
import { useServers } from '../harness/edge/listen.ts';
import { installPython, requireTools, run, type Tools } from '../harness/edge/tools.ts';
import { undisturbed } from '../harness/edge/undisturbed.ts';
import { useFolder } from '../harness/folder.ts';
import { ROOT } from '../local/start.ts';
import { runHere } from './run.ts';

const EXAMPLES = join(ROOT, 'examples');
const LISTING = JSON.parse(readFileSync(join(EXAMPLES, 'agent.json'), 'utf8')) as ListingDraftInput;

/** What a server of examples/ needs, and the command that starts it. */
const PROGRAMS: Record<string, (folder: string) => Promise<Tools & { command: string[] }>> = {
  async 'creator.py'() {
    const tools = await installPython('examples', join(EXAMPLES, 'requirements.txt'));
    return { ...tools, command: [join(tools.folder, 'bin', 'python'), join(EXAMPLES, 'creator.py')] };
  },
  async 'creator.go'(folder) {
    const binary = join(folder, 'creator-go');
    const { code, output } = await run('go', ['build', '-o', binary, join(EXAMPLES, 'creator.go')]);
    const obstacle = code === 0 ? null : `go is needed, Debian's package golang-go: ${output}`;
    return { folder, obstacle, command: [binary] };
  },
  async 'creator.mjs'(folder) {
    return { folder, obstacle: null, command: [process.execPath, join(EXAMPLES, 'creator.mjs')] };
  },
};

describe('the examples of a creator', function () {
  this.timeout(600_000);
  const folder = useFolder('examples');
  const serve = useServers();

  it('agent.json has every field that a listing can have', async () => {
    const help = (await runHere(['listing', 'create', '--help'])).stdout;
    const fields = Object.keys(LISTING);
    expect(fields).to.have.length(14);
    for (const field of fields) expect(help).to.include(field);
    expect(LISTING.tags.some((tag) => !STANDARD_TAGS.includes(tag as never))).to.equal(true);
  });

  for (const [file, prepare] of Object.entries(PROGRAMS)) {
    describe(file, () => {
      const { sign, directory } = createTestKeys();
      const signingKey = generateSigningKey();
      const servers: ChildProcess[] = [];
      let start: (marketplace: string) => Promise<string>;

      before(async function () {
        const { command, ...tools } = await prepare(folder);
        requireTools(this, tools);
        const keyFile = join(folder, `signing-${file}.json`);
        writeFileSync(keyFile, encodeSigningKey(signingKey), { mode: 0o600 });
        const [program, ...words] = command;
        start = async (marketplace) => {
          const args = [...words, keyFile, '0', marketplace];
          const server = spawn(program!, args, { stdio: ['ignore', 'pipe', 'ignore'] });
          servers.push(server);
          const [line] = await once(server.stdout!, 'data');
          return /http:\S+/.exec(String(line))![0];
        };
      });
      after(() => {
        for (const server of servers) server.kill();
      });

      it('answers 503, for another try, while the keys of the marketplace cannot be read', async () => {
        const { headers, body } = vectors.call;
        const now = Math.floor(Date.now() / 1_000);
        const input = headers['signature-input'].replace(
          /created=\d+;expires=\d+/,
          `created=${now};expires=${now + 60}`,
        );
        const call = { method: 'POST', headers: { ...headers, 'signature-input': input }, body };
        const url = await start(await serve((_, response) => response.writeHead(429).end('{}')));
        for (let count = 0; count < 2; count += 1) expect((await fetch(url, call)).status).to.equal(503);
      });

      it('passes the conformance test with the right result, and fails a text without words with the reason', async () => {
        const url = await start(await serve((_, response) => response.end(JSON.stringify(directory))));
        const target = {
          url,
          signingKey: signingKeyAddress(signingKey),
          userPubkey: '1'.repeat(32),
          timeoutSeconds: 30,
        };
        const test = async (parameters: object, full: boolean) => {
          const asked = { ...target, task: 'Which words are frequent?', parameters: JSON.stringify(parameters) };
          const found = await testCreator({ sign }, asked, { full });
          return { ...found, failed: found.findings.filter(({ ok }) => !ok).map(({ name }) => name) };
        };
        const { failed, findings, result } = await undisturbed(() =>
          test({ text: 'Öl, हिन्दी or not öl', top: 2 }, true),
        );
        expect(failed, JSON.stringify(findings, null, 1)).to.deep.equal([]);
        expect(findings).to.have.length(CONFORMANCE_NAMES.length - 1);
        const words = [
          { word: 'öl', count: 2 },
          { word: 'हिन्दी', count: 1 },
        ];
        expect(JSON.parse(Buffer.from(result!.result).toString())).to.deep.equal({ words });
        const refused = await test({ text: '!?' }, false);
        expect(refused.failed).to.deep.equal(['status']);
        expect(refused.findings.at(-1)!.detail).to.include('the text has no words');
      });
    });
  }
});
