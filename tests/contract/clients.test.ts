/**
 * Generates clients from the served document with public generators and default options. They must compile in strict
 * mode and pay for a call on the real local network. A linter must find nothing in the document.
 */
import { copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { type Finished, installNode, installPython, requireTools, run } from '../harness/edge/tools.ts';
import { useFolder } from '../harness/folder.ts';
import { cleanUp, newDirectory, startNetwork } from '../local/start.ts';

const HERE = join(import.meta.dirname, 'clients');

/** Fails with the complete output if the program failed. */
function expectDone({ code, output }: Finished): string {
  expect(code, output).to.equal(0);
  return output;
}

describe('generated clients', () => {
  const folder = useFolder('generated-clients');
  let python: string;
  let target: { baseUrl: string; apiKey: string; agentId: string };

  before(async function () {
    const network = startNetwork(newDirectory());
    const [node, venv] = await Promise.all([
      installNode('contract-clients', HERE),
      installPython('contract-clients-python', join(HERE, 'requirements.txt')),
    ]);
    requireTools(this, node, venv);
    python = join(venv.folder, 'bin');
    const demo = await network.ready;
    const agentId = demo.agents.find(({ name }) => name === 'csv-analyst')!.agent_id;
    target = { baseUrl: demo.base_url, apiKey: demo.callers[0]!.api_key, agentId };
    symlinkSync(join(node.folder, 'node_modules'), join(folder, 'node_modules'));
    for (const name of ['package.json', 'call.ts', 'call.py', 'redocly.yaml', 'mypy.ini']) {
      copyFileSync(join(HERE, name), join(folder, name));
    }
    const document = await fetch(`${target.baseUrl}/openapi.json`);
    writeFileSync(join(folder, 'openapi.json'), await document.text());
  });
  after(cleanUp);

  const env = () => ({
    ...process.env,
    PATH: `${python}:${process.env.PATH}`,
    NO_COLOR: '1',
    REDOCLY_TELEMETRY: 'off',
  });
  const runHere = (command: string, ...args: string[]) => run(command, args, { cwd: folder, env: env() });
  const tool = (name: string, ...args: string[]) => runHere(join(folder, 'node_modules', '.bin', name), ...args);

  async function expectPaidCall(command: string, script: string): Promise<void> {
    const { baseUrl, apiKey, agentId } = target;
    const output = expectDone(await runHere(command, script, baseUrl, apiKey, agentId, 'openapi.json'));
    const said = JSON.parse(output.trim().split('\n').at(-1)!);
    expect(said.result).to.include('Lagos');
    expect(said).to.deep.equal({
      environment: 'test',
      timeout_seconds: said.timeout_seconds,
      result: said.result,
      cost_usdc: said.cost_usdc,
      record: { status: 'completed', result: said.result },
      refused: { code: 'invalid_request', path: 'task' },
    });
    expect(said.cost_usdc).to.be.greaterThan(0);
    expect(said.timeout_seconds).to.be.greaterThan(0);
  }

  it('work when made by openapi-typescript and openapi-fetch', async () => {
    expectDone(await tool('openapi-typescript', 'openapi.json', '-o', 'schema.ts'));
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck'];
    expectDone(await tool('tsc', ...strict, '--target', 'es2022', '--module', 'nodenext', 'call.ts'));
    expect(existsSync(join(folder, 'call.js'))).to.equal(true);
    await expectPaidCall(process.execPath, 'call.js');
  });

  it('work when made by openapi-python-client', async () => {
    const generate = ['generate', '--path', 'openapi.json', '--meta', 'none', '--fail-on-warning'];
    expectDone(await runHere('openapi-python-client', ...generate, '--output-path', 'agent_marketplace_client'));
    expectDone(await runHere('mypy', 'call.py', 'agent_marketplace_client'));
    await expectPaidCall('python', 'call.py');
  });

  it('come from a document that passes Redocly, which finds errors in a broken one', async () => {
    const broken = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/x': { get: {} } } };
    writeFileSync(join(folder, 'broken.json'), JSON.stringify(broken));
    const documents = ['openapi.json', 'broken.json'];
    const config = ['--config', 'redocly.yaml', '--max-problems', '100', '--format', 'json'];
    const redocly = await tool('redocly', 'lint', ...config, ...documents);
    // One report per document, in the same order.
    expect(redocly.stdout.match(/"totals":/g), redocly.output).to.have.length(documents.length);
    const sources = [...redocly.stdout.matchAll(/"ref": "(.+)"/g)].map(([, path]) => basename(path!));
    expect([...new Set(sources)], redocly.output).to.deep.equal(['broken.json']);
  });
});
