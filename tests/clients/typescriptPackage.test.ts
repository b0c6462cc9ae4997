/** @agent-marketplace/client as users get it: packed, installed in an empty folder, bundled, type-checked and used. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { build as esbuild, transformSync } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { snippetsOf } from '../../app/relay/http/docs/snippets.ts';
import { createDocument } from '../../app/relay/http/openapi/document.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import { renderEvent } from '../../app/sdk/wire/eventStream.ts';
import { blocksOf, ROOT } from '../docs/markdown.ts';
import { useFolder } from '../harness/folder.ts';
import { goodAnswer, useMarketplace } from '../harness/node/marketplace.ts';
import { pack } from '../harness/pack.ts';
import { runsElsewhere } from './runtimes.ts';

const exec = promisify(execFile);
const PACKAGE = join(ROOT, 'app', 'client');
const NAME = '@agent-marketplace/client';
const TSC = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const LARGEST_GZIP = 42_000;
const LARGEST_INSTALL = 2_000_000;
const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

/** Programs of README.md by the name in their first line. */
const PROGRAMS = new Map(
  blocksOf('app/client/README.md').flatMap(({ language, text }) =>
    language === 'ts' ? [[/^\/\/ (\w+)\.ts/.exec(text)![1]!, text] as const] : [],
  ),
);

/** The TypeScript snippet of every route in /docs, by the route's id. */
const { paths } = createDocument({ baseUrl: 'http://127.0.0.1', environment: 'test', operatorContact: null });
const SNIPPETS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const snippets = new Map(snippetsOf('http://127.0.0.1', path, method, operation));
    return [operation.operationId, snippets.get('TypeScript')!] as const;
  }),
);

describe('clients/typescript as a package', () => {
  const folder = useFolder('client-package');
  const entry = join(folder, 'entry.mjs');
  let packed: string[];
  const market = useMarketplace({ price: '0.05', feePayer: Keypair.generate() });

  before(async () => {
    const { filename, files } = await pack('app/client', folder);
    packed = files.map(({ path }) => path);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await install(folder, join(folder, filename));
    writeFileSync(entry, `export * from '${NAME}';\n`);
    for (const [name, text] of PROGRAMS) {
      // The marketplace of this test has no sandbox agents.
      const own = text.replace(/'(sandbox-)?echo'/g, "'test-agent'");
      writeFileSync(join(folder, `${name}.ts`), own);
      writeFileSync(join(folder, `${name}.mjs`), transformSync(own, { loader: 'ts', format: 'esm' }).code);
    }
  });

  const install = (cwd: string, ...packages: string[]) =>
    exec('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...packages], { cwd });
  const environment = () => ({
    PATH: process.env.PATH,
    MARKETPLACE_URL: market.relay.url,
    MARKETPLACE_API_KEY: market.callers[0]!.apiKey,
    RPC_URL: market.node.rpcUrl,
  });
  /** Runs a program in plain Node, without loader or flags. Returns its output. */
  const runNode = async (file: string): Promise<string> => {
    const { stdout, stderr } = await exec(process.execPath, [file], { cwd: folder, env: environment() });
    expect(stderr).to.equal('');
    return stdout;
  };

  it('contains its two entries with their types, README and licences, and nothing else', () => {
    const others = packed.filter((path) => !/^dist\/(client|receipt)\/\w+\.d\.ts$/.test(path));
    const dist = 'LICENSES.txt index.js index.js.map x402.js x402.js.map'.split(' ').map((name) => `dist/${name}`);
    expect(others.sort()).to.deep.equal(['LICENSE', 'README.md', ...dist, 'package.json']);
    expect(readFileSync(join(PACKAGE, 'dist', 'LICENSES.txt'), 'utf8')).to.match(
      /^@noble\/ed25519 [\s\S]*^@noble\/hashes [\s\S]*^base-x [\s\S]*^bs58 [\s\S]*^canonicalize [\s\S]*^valibot /m,
    );
  });

  it('is one package of less than 2 MB in an empty folder', () => {
    const modules = join(folder, 'node_modules');
    const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as { packages: object };
    expect(Object.keys(packages)).to.deep.equal([`node_modules/${NAME}`]);
    const files = readdirSync(join(modules, NAME), { recursive: true, encoding: 'utf8' });
    const bytes = files.reduce((sum, file) => sum + statSync(join(modules, NAME, file)).size, 0);
    console.log(`      ${Math.round(bytes / 1_000)} kB installed`);
    expect(bytes).to.be.below(LARGEST_INSTALL);
  });

  it('imports no module of Node or of another package', () => {
    const code = readFileSync(join(PACKAGE, 'dist', 'index.js'), 'utf8');
    expect(code).not.to.match(/^import\b|\bimport\(|\brequire\(|["']node:/m);
    for (const name of builtinModules) expect(code).not.to.include(`from "${name}"`);
  });

  it('has at most 42 kB gzip when esbuild bundles and minifies all of it', async () => {
    const minified = { bundle: true, minify: true, format: 'esm', write: false } as const;
    const { outputFiles } = await esbuild({ entryPoints: [entry], ...minified });
    const { text } = outputFiles[0]!;
    const bytes = gzipSync(text).length;
    console.log(`      ${(bytes / 1_000).toFixed(1)} kB gzip, ${Math.round(text.length / 1_000)} kB`);
    expect(text).to.include('agent-marketplace-typescript/');
    expect(bytes).to.be.at.most(LARGEST_GZIP);
  });

  it('has types that pass --strict without skipLibCheck, as does the code in /docs', async () => {
    // This program fails if the types are not found, because everything would then have the type any.
    const typed = `import { AgentMarketplace, hasCode } from '${NAME}';
const client = new AgentMarketplace({ baseUrl: 'http://127.0.0.1' });
export const price: Promise<number> = client.agents.retrieve('a').then((agent) => agent.price_per_call_usdc);
export function limitOf(error: unknown): string | undefined {
  return hasCode(error, 'insufficient_balance') ? error.details?.limit : undefined;
}
import { checkQuote, payWithX402 } from '${NAME}/x402';
const payment = payWithX402({ wallet: { address: 'a' }, network: 'devnet' });
export const paying = new AgentMarketplace({ baseUrl: 'http://127.0.0.1', payment });
export const amount: bigint = checkQuote({}, { agentId: 'a', task: 'b', payer: null, maxCostUsdc: 1 }).amount;
// @ts-expect-error A task is text.
client.agents.run('a', { task: 1 });
// @ts-expect-error No such code.
hasCode(null, 'nothing');
`;
    writeFileSync(join(folder, 'typed.ts'), typed);
    // A snippet without imports must be a module too.
    for (const [id, code] of SNIPPETS) writeFileSync(join(folder, `docs-${id}.ts`), `${code}\nexport {};\n`);
    const types = { types: ['node'], typeRoots: [join(ROOT, 'node_modules', '@types')] };
    const fast = { skipDefaultLibCheck: true };
    const compilerOptions = { strict: true, noEmit: true, target: 'es2023', ...fast, ...types, module: 'nodenext' };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const { stdout } = await exec(process.execPath, [TSC, '-p', folder], { cwd: folder }).catch((error) => error);
    expect(stdout).to.equal('');
  });

  it('pays for a call from a wallet by x402, if the packages of x402 are installed', async () => {
    const wallet = Keypair.generate();
    await market.mintTo(wallet.publicKey, 100_000n);
    const { agentId, usdcMint, node, relay } = market;
    const settings = JSON.stringify({ network: 'devnet', asset: usdcMint.toBase58(), rpcUrl: node.rpcUrl });
    const text = `import { createKeyPairSignerFromBytes } from '@solana/kit';
import { AgentMarketplace } from '${NAME}';
import { payWithX402 } from '${NAME}/x402';
const wallet = await createKeyPairSignerFromBytes(Uint8Array.from([${wallet.secretKey}]));
const payment = payWithX402({ wallet, ...${settings} });
const client = new AgentMarketplace({ baseUrl: '${relay.url}', payment });
const { result } = await client.agents.run('${agentId}', { task: 'packed' }, { maxCostUsdc: 0.055 });
console.log(result);
`;
    writeFileSync(join(folder, 'pay.mjs'), text);
    const links = ['@x402', '@solana'].map((name) => join('node_modules', name));
    for (const link of links) symlinkSync(join(ROOT, link), join(folder, link));
    try {
      expect(await runNode('pay.mjs')).to.equal('done: packed\n');
    } finally {
      for (const link of links) rmSync(join(folder, link));
    }
    expect(await market.amountOf(findTokenAccount(wallet.publicKey, usdcMint))).to.equal(45_000n);
  });

  it('names the class of an error that nobody catches, beside one readable line of code', async () => {
    const programs = {
      NotFoundError: "await new AgentMarketplace().agents.run('nobody', { task: 'a' });",
      InvalidRequestError: 'await new AgentMarketplace().agents.list({ limit: -1 }).page();',
      WebhookVerificationError: "verifyWebhook('{}', {}, process.env.SECRET);",
      TypeError: "new AgentMarketplace({ baseUrl: 'nowhere' });",
    };
    const env = { ...environment(), SECRET };
    const fail = async (...args: string[]): Promise<string> => {
      const { stderr } = await exec(process.execPath, args, { cwd: folder, env }).then(
        () => expect.fail('it fails'),
        (error: { stderr: string }) => error,
      );
      return stderr;
    };
    for (const [name, line] of Object.entries(programs)) {
      const text = `import { AgentMarketplace, verifyWebhook } from '${NAME}';\n${line}\n`;
      writeFileSync(join(folder, 'uncaught.mjs'), text);
      const printed = await fail('uncaught.mjs');
      const [first, code, , , message] = printed.split('\n');
      expect(first).to.match(/^file:.*index\.js:\d+$/);
      expect(code!.trim(), printed).to.match(/^(throw |return new Class\()/);
      expect(message, printed).to.match(new RegExp(`^${name}: `));
      expect(printed.length, printed).to.be.below(3_000);
    }
    expect(await fail('--enable-source-maps', 'uncaught.mjs')).to.match(/client\/marketplace\.ts:\d+/);
    const { sources } = JSON.parse(readFileSync(join(PACKAGE, 'dist', 'index.js.map'), 'utf8')) as {
      sources: string[];
    };
    for (const source of sources) expect(source).to.match(/^\.\.\/\.\.\/(\.\.\/node_modules|sdk)\//);
  });

  it("runs README's first call, which is paid", async () => {
    const before = (await market.balances()).callers[0]!;
    expect(await runNode('first.mjs')).to.equal('done: Say hello cost 0.05 USDC\n');
    expect(before - (await market.balances()).callers[0]!).to.equal(50_000n);
  });

  it("runs README's call with its output, and reads its events", async () => {
    market.setBehaviour(({ execution_id }, response) => {
      expect(response.req.headers.accept).to.match(/^text\/event-stream/);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(renderEvent('delta', '{"text": "Hello"}'));
      const answer = goodAnswer(market.signingKey, execution_id, ', world');
      response.end(renderEvent('result', JSON.stringify(answer)));
    });
    const before = (await market.balances()).callers[0]!;
    const events = ['pending', 'running', 'completed'].map((name) => `execution.${name}\n`);
    expect(await runNode('stream.mjs')).to.equal(`Hello, world\n${events.join('')}`);
    expect(before - (await market.balances()).callers[0]!).to.equal(50_000n);
    market.setBehaviour(null);
  });

  it("runs README's long call twice, which is paid once", async () => {
    const before = (await market.balances()).callers[0]!;
    for (const _ of [1, 2]) expect(await runNode('long.mjs')).to.equal('test-agent completed done: Report\n');
    expect(before - (await market.balances()).callers[0]!).to.equal(50_000n);
  });

  it("runs README's check of a receipt, which the chain confirms", async () => {
    expect(await runNode('verify.mjs')).to.match(/^settlement passed $[\s\S]*^paid out for exactly this result$/m);
  });

  it("runs README's receiver of webhooks, which accepts ours and refuses others", async () => {
    const env = { ...environment(), PORT: '0', WEBHOOK_SECRET: SECRET };
    const child = spawn(process.execPath, ['webhook.mjs'], { cwd: folder, env });
    try {
      const lines: string[] = [];
      child.stdout.on('data', (chunk) => lines.push(String(chunk)));
      await once(child.stdout, 'data');
      const port = /port: (\d+)/.exec(lines[0]!)![1];
      const body = JSON.stringify({ type: 'webhook.test', timestamp: '2026-01-31T12:00:00.000Z', data: {} });
      const at = new Date();
      const headers = {
        'webhook-id': 'evt_7',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(SECRET).sign('evt_7', at, body),
      };
      const post = async (text: string) =>
        (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status;
      expect(await post(body)).to.equal(204);
      expect(await post(`${body} `)).to.equal(400);
      expect(await post('x'.repeat(10_000_000))).to.equal(400);
      const broken = connect(Number(port), '127.0.0.1').end('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\na');
      await once(broken.resume(), 'close');
      expect(await post(body)).to.equal(204);
      expect(lines.join('')).to.include('evt_7 webhook.test');
    } finally {
      child.kill('SIGKILL');
    }
  });

  runsElsewhere(folder, () => ({ market, env: environment() }));
});
