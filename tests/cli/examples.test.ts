/**
 * The examples as a new creator uses them, with only Node, and Python or Go. The command line creates keys and money. The
 * agent of examples/creator.py and examples/creator.go passes the conformance test, is listed from examples/agent.json,
 * is called, and fails.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccountLayout } from '@solana/spl-token';
import { Connection, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import type { ListingDraftInput } from '../../app/sdk/wallet/listingDraft.ts';
import { CONFORMANCE_NAMES } from '../../app/sdk/wire/conformance.ts';
import { STANDARD_TAGS } from '../../app/sdk/wire/metadata.ts';
import vectors from '../../examples/vectors.json' with { type: 'json' };
import { useServers } from '../harness/edge/listen.ts';
import { installPython, run } from '../harness/edge/tools.ts';
import { cleanUp, newDirectory, ROOT, startNetwork } from '../local/start.ts';
import { runHere, testUndisturbed } from './run.ts';

const EXAMPLES = join(ROOT, 'examples');
const LISTING = JSON.parse(readFileSync(join(EXAMPLES, 'agent.json'), 'utf8')) as ListingDraftInput;

const PORT_OF = /http:\S+/;

/** A server of examples/, in a language. */
interface Program {
  file: string;
  /** Makes the command that starts it. `obstacle` says why this machine cannot, or is null. */
  prepare(folder: string): Promise<{ command: string[]; obstacle: string | null }>;
}

const PROGRAMS: Program[] = [
  {
    file: 'creator.py',
    async prepare() {
      const { folder, obstacle } = await installPython('examples', join(EXAMPLES, 'requirements.txt'));
      return { command: [join(folder, 'bin', 'python'), join(EXAMPLES, 'creator.py')], obstacle };
    },
  },
  {
    file: 'creator.go',
    async prepare(folder) {
      const binary = join(folder, 'creator-go');
      const { code, output } = await run('go', ['build', '-o', binary, join(EXAMPLES, 'creator.go')]);
      return { command: [binary], obstacle: code === 0 ? null : `go is needed, Debian's package golang-go: ${output}` };
    },
  },
];

describe('the examples of a creator', function () {
  this.timeout(600_000);
  const dataDir = newDirectory();
  const serve = useServers();
  const path = (name: string): string => join(dataDir, name);
  let demo: DemoFile;
  before(async () => {
    demo = await startNetwork(dataDir).ready;
  });
  after(cleanUp);

  /** Runs a command and returns its result. */
  const command = async (...words: string[]) => {
    const { code, stdout, stderr } = await runHere([...words, '--json'], { DATA_DIR: dataDir });
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout);
  };
  const usdcOf = async (wallet: string): Promise<bigint> => {
    const connection = new Connection(demo.rpc_url, 'confirmed');
    const address = findTokenAccount(new PublicKey(wallet), new PublicKey(demo.usdc_mint));
    const account = await connection.getAccountInfo(address);
    return AccountLayout.decode(account?.data as Buffer).amount;
  };

  it('agent.json has every field that a listing can have', async () => {
    const help = (await runHere(['listing', 'create', '--help'])).stdout;
    const fields = Object.keys(LISTING);
    expect(fields).to.have.length(14);
    for (const field of fields) expect(help).to.include(field);
    expect(LISTING.tags.some((tag) => !STANDARD_TAGS.includes(tag as never))).to.equal(true);
  });

  for (const { file, prepare } of PROGRAMS) {
    describe(file, function () {
      // Each step depends on the one before it.
      this.bail(true);
      const [signingFile, walletFile, listingFile] = ['signing', 'creator', 'agent'].map((name) =>
        path(`${name}-${file}.json`),
      );
      const servers: ChildProcess[] = [];
      let start: (marketplace: string) => Promise<string>;
      let creatorWallet: string;
      let endpoint: string;
      let agentId: string;

      const call = (parameters: Record<string, unknown>) =>
        createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key }).request('executeAgent', {
          agent_id: agentId,
          body: {
            task: 'Which words are frequent?',
            parameters,
          },
        });

      before(async function () {
        const {
          command: [program, ...words],
          obstacle,
        } = await prepare(dataDir);
        if (obstacle !== null) {
          if (process.env.CI) throw new Error(obstacle);
          console.log(`      skipped: ${obstacle}`);
          return this.skip();
        }
        await command('keys', 'new', signingFile!);
        start = async (marketplace) => {
          const args = [...words, signingFile!, '0', marketplace];
          const server = spawn(program!, args, { stdio: ['ignore', 'pipe', 'ignore'] });
          servers.push(server);
          const [line] = await once(server.stdout!, 'data');
          return PORT_OF.exec(String(line))![0];
        };
        endpoint = await start(demo.base_url);
      });
      after(() => {
        for (const server of servers) server.kill();
      });

      it('uses a wallet with money from the command line alone', async () => {
        creatorWallet = (await command('keys', 'new', walletFile!)).address;
        const funded = await command('local', 'fund', creatorWallet, '--sol', '1', '--usdc', '1');
        expect(funded).to.deep.equal({ wallet: creatorWallet, sol: 1, usdc: '1' });
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

      it('passes every check of `creator test`, sent by the marketplace', async () => {
        writeFileSync(listingFile!, JSON.stringify({ ...LISTING, endpoint, signing_key: signingFile }));
        const options = ['--listing', listingFile!, '--through-marketplace', '--keypair', walletFile!];
        const { code, stdout, stderr } = await testUndisturbed(() =>
          runHere(['creator', 'test', endpoint, ...options, '--json'], { DATA_DIR: dataDir }),
        );
        expect(code, stderr).to.equal(0);
        expect(JSON.parse(stdout)).to.include({ ok: true, passed: CONFORMANCE_NAMES.length });
      });

      it('is listed with agent.json after a change of the port alone', async () => {
        const keys = ['--keypair', walletFile!, '--signing-key', signingFile!];
        const listed = await command('listing', 'create', listingFile!, ...keys);
        expect(listed).to.include({ creator: creatorWallet, price_usdc: '0.05', deposit_usdc: '1' });
        agentId = listed.agent_id;
        const shown = await createClient({ baseUrl: demo.base_url }).request('getAgent', { agent_id: agentId });
        const { name, tagline, description, input_schema, output_schema } = LISTING;
        expect(shown).to.deep.include({ name, tagline, description, input_schema, output_schema });
        expect(shown.tags).to.have.members(LISTING.tags);
      });

      it('completes a call and is paid', async () => {
        const [caller, earned] = [await usdcOf(demo.callers[0]!.wallet), await usdcOf(creatorWallet)];
        const answer = await call({ text: 'Öl, हिन्दी or not öl', top: 2 });
        const words = [
          { word: 'öl', count: 2 },
          { word: 'हिन्दी', count: 1 },
        ];
        expect(answer.status === 'completed' && JSON.parse(answer.result)).to.deep.equal({ words });
        expect(await usdcOf(demo.callers[0]!.wallet)).to.equal(caller - 50_000n);
        expect(await usdcOf(creatorWallet)).to.equal(earned + 49_500n);
      });

      it('fails a call, which is refunded to the base unit, with the reason', async () => {
        const [caller, earned] = [await usdcOf(demo.callers[0]!.wallet), await usdcOf(creatorWallet)];
        const error = await call({ text: '!?' }).catch((reason) => reason);
        expect(error).to.include({ status: 500, code: 'execution_failed' });
        expect(error.message).to.include('the text has no words');
        expect(await usdcOf(demo.callers[0]!.wallet)).to.equal(caller);
        expect(await usdcOf(creatorWallet)).to.equal(earned);
      });
    });
  }
});
