/**
 * Migration, indexer and relay as separate processes on a cluster, as in docs/devnet.md. Indexer and relay serve from the
 * image of deploy/Dockerfile.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { createMockUsdc } from '../../app/local/network.ts';
import { readConfig } from '../../app/relay/config.ts';
import { startRelay } from '../../app/relay/start.ts';
import { decodeAccount, findConfig, relayAuthoritiesOf } from '../../app/sdk/program/program.ts';
import { NEEDED_FEATURES } from '../../app/solana/features.ts';
import { layOutImage } from '../harness/edge/image.ts';
import { run as finish } from '../harness/edge/tools.ts';
import { until } from '../harness/edge/until.ts';
import { freePort } from '../harness/freePort.ts';
import { startNode, type TestNode } from '../harness/node/node.ts';
import { startRpcProxy, withoutFeatures } from '../harness/node/rpcProxy.ts';
import { cleanUp, newDirectory, ROOT } from './start.ts';

const PATIENCE_MS = 300_000;

describe('migration, indexer and relay as separate processes', () => {
  const directory = newDirectory();
  const relayAuthority = Keypair.generate();
  const children: ChildProcess[] = [];
  let node: TestNode;
  let env: NodeJS.ProcessEnv;

  const run = (file: string, changes: NodeJS.ProcessEnv = {}, ...args: string[]) =>
    finish(process.execPath, ['scripts/run.mjs', file, ...args], { cwd: ROOT, env: { ...env, ...changes } });
  async function end(child: ChildProcess): Promise<number | null> {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    return (await gone)[0];
  }
  before(async () => {
    node = await startNode();
    const mint = Keypair.generate();
    await createMockUsdc(node.connection, { payer: node.payer, mint, mintAuthority: node.payer.publicKey });
    await node.fundSol(relayAuthority.publicKey, 10e9);
    const keyFile = (name: string, key: Keypair) => {
      const path = join(directory, name);
      writeFileSync(path, JSON.stringify([...key.secretKey]), { mode: 0o600 });
      return path;
    };
    env = {
      ...process.env,
      ANCHOR_PROVIDER_URL: node.rpcUrl,
      ANCHOR_WALLET: keyFile('upgrade-authority.json', node.payer),
      RELAY_AUTHORITIES: relayAuthority.publicKey.toBase58(),
      USDC_MINT: mint.publicKey.toBase58(),
      SOLANA_RPC_URL: node.rpcUrl,
      SOLANA_WS_URL: node.wsUrl,
      RELAY_KEYPAIR: keyFile('relay-authority.json', relayAuthority),
      DATA_DIR: join(directory, 'data'),
      PORT: String(await freePort()),
    };
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  after(async () => {
    await node.stop();
    cleanUp();
  });

  /** Why a relay does not start. */
  const refusal = (changes: NodeJS.ProcessEnv = {}): Promise<string> =>
    startRelay({ config: readConfig({ ...env, ...changes }), log: pino({ level: 'silent' }) }).then(
      () => expect.fail('it started'),
      ({ message }: Error) => message,
    );

  it('name a missing setting, or what must be started first', async () => {
    const { code, output } = await run('scripts/migrate.ts', { RELAY_AUTHORITIES: '' });
    expect([code, output.includes('RELAY_AUTHORITIES')], output).to.deep.equal([1, true]);
    expect(await refusal()).to.include('Start the indexer first');
  });

  it('deploy nothing on a cluster without the features that the program needs, and name each', async () => {
    const proxy = await startRpcProxy(node);
    proxy.onCall(withoutFeatures);
    const before = await node.connection.getBalance(node.payer.publicKey, 'confirmed');
    const refused = await run('scripts/migrate.ts', { ANCHOR_PROVIDER_URL: proxy.rpcUrl }, '--deploy', '--yes');
    await proxy.close();
    expect(refused.code, refused.output).to.equal(1);
    for (const { key, name } of NEEDED_FEATURES) expect(refused.output).to.include(`${name} (feature ${key})`);
    expect(refused.output).to.include('Nothing was spent');
    expect(await node.connection.getBalance(node.payer.publicKey, 'confirmed')).to.equal(before);
  });

  it('create the marketplace with the migration, which changes nothing on a second run', async () => {
    expect((await run('scripts/migrate.ts')).code).to.equal(0);
    const account = await node.connection.getAccountInfo(findConfig(), 'confirmed');
    const config = decodeAccount('Config', account!.data);
    expect(relayAuthoritiesOf(config).map(String)).to.deep.equal([relayAuthority.publicKey.toBase58()]);
    expect(config.admin.equals(node.payer.publicKey)).to.equal(true);
    const again = await run('scripts/migrate.ts', { RELAY_AUTHORITIES: Keypair.generate().publicKey.toBase58() });
    expect(again.code).to.equal(0);
    const after = await node.connection.getAccountInfo(findConfig(), 'confirmed');
    expect(after!.data.equals(account!.data)).to.equal(true);
  });

  it('serve together from the image, on tables that they create, as its user, until a signal', async () => {
    // The image's user reads it.
    chmodSync(directory, 0o755);
    const image = await layOutImage(join(directory, 'image'));
    const { DATA_DIR = '', PORT, RELAY_KEYPAIR = '' } = env;
    // A new volume belongs to the image's user, and so must the keypair.
    mkdirSync(DATA_DIR);
    const { uid, gid } = image.place;
    if (uid !== undefined && gid !== undefined) for (const path of [DATA_DIR, RELAY_KEYPAIR]) chownSync(path, uid, gid);
    const inImage = ([program = '', ...words]: string[]): ChildProcess => {
      const { place } = image;
      const own = { ...env, ...place.env, DATA_DIR, PORT };
      const child = spawn(program, words, { ...place, env: own, stdio: 'ignore' });
      children.push(child);
      return child;
    };
    const isHealthy = async () => (await once(inImage(image.healthCheck), 'exit'))[0] === 0;
    expect(await isHealthy()).to.equal(false);

    const indexer = inImage(['node', 'scripts/run.mjs', 'indexer/main.ts']);
    await until('the indexer has begun', () => existsSync(join(DATA_DIR, 'index.db')), PATIENCE_MS);
    const url = `http://127.0.0.1:${PORT}`;
    let relay: ChildProcess | null = null;
    await until(
      'the relay is ready',
      async () => {
        // It ends as long as there is no index, and a container starts again.
        if (relay === null || relay.exitCode !== null) relay = inImage(image.command);
        const answer = await fetch(`${url}/ready`).catch(() => null);
        return answer?.status === 200;
      },
      PATIENCE_MS,
    );
    expect(await isHealthy()).to.equal(true);
    for (const table of ['ledger.db', 'index.db']) expect(existsSync(join(DATA_DIR, table)), table).to.equal(true);
    const agents = await (await fetch(`${url}/v1/agents`)).json();
    expect(agents).to.deep.equal({ agents: [], total: 0, limit: 20, offset: 0 });
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(await page.text()).to.match(/^<!doctype html>/i);
    expect(await end(relay!)).to.equal(0);
    expect(await end(indexer)).to.equal(0);
  });

  it("accept nothing when the relay's key is not an authority of the marketplace", async () => {
    const other = join(directory, 'other.json');
    writeFileSync(other, JSON.stringify([...Keypair.generate().secretKey]));
    expect(await refusal({ ENVIRONMENT: 'live' })).to.include('ENVIRONMENT=live');
    expect(await refusal({ RELAY_KEYPAIR: other })).to.include(
      "which is not among the marketplace's relay authorities",
    );
  });
});
