/**
 * A public generator makes a Python client from the served document, with default options. It must type-check and make
 * calls. The types of our own client, which scripts/clientTypes.ts generates, show the same for TypeScript.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { hashResult } from '../../app/sdk/receipt/receipt.ts';
import { useWorld } from '../harness/edge/api.ts';
import { EPOCH, newExecutionId } from '../harness/edge/rows.ts';
import { installPython, requireTools, run } from '../harness/edge/tools.ts';
import { useFolder } from '../harness/folder.ts';

const HERE = join(import.meta.dirname, 'clients');
const RESULT = 'Lagos';

describe('a client that openapi-python-client generates', () => {
  const world = useWorld();
  const folder = useFolder('generated-client');
  let programs: string;

  before(async function () {
    const venv = await installPython('contract-clients-python', join(HERE, 'requirements.txt'));
    requireTools(this, venv);
    programs = join(venv.folder, 'bin');
    for (const name of ['call.py', 'mypy.ini']) copyFileSync(join(HERE, name), join(folder, name));
    writeFileSync(join(folder, 'openapi.json'), (await world.get('/openapi.json')).text);
  });

  /** Runs a program to its end, and fails with its complete output if it failed. */
  async function finish(command: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, NO_COLOR: '1' };
    const { code, output, stdout } = await run(command, args, { cwd: folder, env });
    expect(code, output).to.equal(0);
    return stdout;
  }

  it('type-checks, and reads, calls and is refused with its own types', async () => {
    const generate = ['generate', '--path', 'openapi.json', '--meta', 'none', '--fail-on-warning'];
    await finish('openapi-python-client', ...generate, '--output-path', 'agent_marketplace_client');
    await finish('mypy', 'call.py', 'agent_marketplace_client');

    const { wallet, apiKey } = await world.addKey();
    const listing = await world.addListing();
    const executionId = newExecutionId();
    const settled = { state: 'settled', settled_at: BigInt(EPOCH + 3) } as const;
    await world.addJournal({ execution_id: executionId, wallet, listing, ...settled });
    await world.addResult(executionId, RESULT);
    world.state.execute = async () => ({
      kind: 'completed',
      executionId,
      result: Buffer.from(RESULT),
      resultHash: hashResult(RESULT),
      price: 250_000n,
      tokensUsed: null,
      executionTimeMs: 12,
      settleSignature: '5igNature',
      resultToken: 'tok-en',
    });
    const said = await finish('python', 'call.py', world.url, apiKey, listing, 'openapi.json');
    expect(JSON.parse(said)).to.deep.equal({
      environment: 'test',
      timeout_seconds: 60,
      result: RESULT,
      cost_usdc: 0.25,
      record: { status: 'completed', result: RESULT },
      refused: { code: 'invalid_request', path: 'task' },
    });
  });
});
