/**
 * The examples as a new creator uses them, with only Node and Python. The command line creates keys and money. The
 * agent of examples/creator.py is listed from examples/agent.json, is called, and fails.
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
import { STANDARD_TAGS } from '../../app/sdk/wire/metadata.ts';
import { installPython } from '../harness/edge/tools.ts';
import { cleanUp, newDirectory, ROOT, startNetwork } from '../local/start.ts';
import { runHere } from './run.ts';

const EXAMPLES = join(ROOT, 'examples');
const LISTING = JSON.parse(readFileSync(join(EXAMPLES, 'agent.json'), 'utf8')) as ListingDraftInput;

describe('examples/agent.json and examples/creator.py', function () {
  this.timeout(600_000);
  // Each step depends on the one before it.
  this.bail(true);
  const dataDir = newDirectory();
  const path = (name: string): string => join(dataDir, name);
  let demo: DemoFile;
  let creator: ChildProcess;
  let creatorWallet: string;
  let endpoint: string;
  let agentId: string;

  /** Runs a command and returns its result. */
  const run = async (...words: string[]) => {
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
  const call = (parameters: Record<string, unknown>) =>
    createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key }).execute(agentId, {
      task: 'Which words are frequent?',
      parameters,
    });

  let python: string;

  before(async function () {
    const { folder, obstacle } = await installPython('examples', join(EXAMPLES, 'requirements.txt'));
    python = join(folder, 'bin', 'python');
    if (obstacle !== null) {
      if (process.env.CI) throw new Error(obstacle);
      console.log(`      skipped: ${obstacle}`);
      this.skip();
    }
    demo = await startNetwork(dataDir).ready;
  });
  after(() => {
    creator?.kill();
    cleanUp();
  });

  it('agent.json has every field that a listing can have', async () => {
    const help = (await runHere(['listing', 'create', '--help'])).stdout;
    const fields = Object.keys(LISTING);
    expect(fields).to.have.length(14);
    for (const field of fields) expect(help).to.include(field);
    expect(LISTING.tags.some((tag) => !STANDARD_TAGS.includes(tag as never))).to.equal(true);
  });

  it('use keys and money created by the command line alone', async () => {
    await run('keys', 'new', path('signing.json'));
    creatorWallet = (await run('keys', 'new', path('creator.json'))).address;
    const funded = await run('local', 'fund', creatorWallet, '--sol', '1', '--usdc', '1');
    expect(funded).to.deep.equal({ wallet: creatorWallet, sol: 1, usdc: '1' });
  });

  it('creator.py answers, and refuses requests that the marketplace did not sign', async () => {
    const args = [join(EXAMPLES, 'creator.py'), path('signing.json'), '0', demo.base_url];
    creator = spawn(python, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = await once(creator.stdout!, 'data');
    endpoint = /http:\S+/.exec(String(line))![0];
    const body = JSON.stringify({ execution_id: 'x', task: 't', parameters: { text: 'free' }, timeout_seconds: 60 });
    const forged = {
      'content-type': 'application/json',
      'signature-input': 'sig1=("@method");created=1;keyid="k";alg="ed25519";tag="agent-marketplace-call"',
      signature: 'sig1=:AAAA:',
    };
    for (const headers of [{ 'content-type': 'application/json' }, forged]) {
      expect((await fetch(endpoint, { method: 'POST', headers, body })).status).to.equal(401);
    }
  });

  it('list creator.py with agent.json after a change of the port alone', async () => {
    const file = path('agent.json');
    writeFileSync(file, JSON.stringify({ ...LISTING, endpoint }));
    const keys = ['--keypair', path('creator.json'), '--signing-key', path('signing.json')];
    const listed = await run('listing', 'create', file, ...keys);
    expect(listed).to.include({ creator: creatorWallet, price_usdc: '0.05', deposit_usdc: '1' });
    agentId = listed.agent_id;
    const shown = await createClient({ baseUrl: demo.base_url }).getAgent(agentId);
    const { name, tagline, description, input_schema, output_schema } = LISTING;
    expect(shown).to.deep.include({ name, tagline, description, input_schema, output_schema });
    expect(shown.tags).to.have.members(LISTING.tags);
  });

  it('complete and pay a call', async () => {
    const [caller, earned] = [await usdcOf(demo.callers[0]!.wallet), await usdcOf(creatorWallet)];
    const answer = await call({ text: 'To be, or not to be', top: 2 });
    const words = [
      { word: 'to', count: 2 },
      { word: 'be', count: 2 },
    ];
    expect(answer.status === 'completed' && JSON.parse(answer.result)).to.deep.equal({ words });
    expect(await usdcOf(demo.callers[0]!.wallet)).to.equal(caller - 50_000n);
    expect(await usdcOf(creatorWallet)).to.equal(earned + 49_500n);
  });

  it('refund a failed call to the base unit, with the reason', async () => {
    const [caller, earned] = [await usdcOf(demo.callers[0]!.wallet), await usdcOf(creatorWallet)];
    const error = await call({ text: '!?' }).catch((reason) => reason);
    expect(error).to.include({ status: 500, code: 'execution_failed' });
    expect(error.message).to.include('the text has no words');
    expect(await usdcOf(demo.callers[0]!.wallet)).to.equal(caller);
    expect(await usdcOf(creatorWallet)).to.equal(earned);
  });
});
