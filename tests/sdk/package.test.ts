/**
 * The published SDK: packed, installed from the tarball outside this repository, run by plain Node, type-checked,
 * bundled for a browser, and run without globals of Node.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build, transformSync } from 'esbuild';
import { useServers } from '../harness/edge/listen.ts';
import { useFolder } from '../harness/folder.ts';
import { pack } from '../harness/pack.ts';

const exec = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const SDK = join(ROOT, 'app', 'sdk');
const compiler = (name: string) => join(ROOT, 'node_modules', name, 'bin/tsc');
/** The entry points for browsers. */
const BROWSER_ENTRIES = ['wire', 'client', 'program', 'receipt', 'wallet'];

/** README.md's examples by entry point. */
const EXAMPLES = new Map(
  [...readFileSync(join(SDK, 'README.md'), 'utf8').matchAll(/^## `\.\/(\w+)`.*\n+```ts\n([\s\S]*?)```/gm)].map(
    ([, entry, code]) => [entry!, code!],
  ),
);
const CONSUMER = readFileSync(join(import.meta.dirname, 'consumer.mjs'), 'utf8');
const TSCONFIG = {
  compilerOptions: { strict: true, noEmit: true, target: 'es2023', module: 'nodenext', skipLibCheck: true },
  include: ['*.ts'],
};

describe('sdk/package', function () {
  this.timeout(600_000);
  const folder = useFolder('sdk-package');
  let packed: string[];
  /** The installed packages before those that only some entry points need. */
  let few: string[];
  const serve = useServers();
  let url: string;

  before(async () => {
    const { filename, files } = await pack('app/sdk', folder);
    packed = files.map(({ path }) => path);
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    const install = (cwd: string, ...others: string[]) =>
      exec('npm', ['install', ...quiet, join(folder, filename), ...others], { cwd });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await install(folder);
    const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
    few = Object.keys(lock.packages);
    const loads = ['client', 'wire', 'receipt', 'creator'].map((entry) => `import '@agent-marketplace/sdk/${entry}';`);
    await exec(process.execPath, ['--input-type=module', '-e', loads.join('\n')], { cwd: folder });
    await install(folder, '@solana/web3.js@1', '@types/node@20');
    for (const [entry, code] of EXAMPLES) {
      writeFileSync(join(folder, `${entry}.ts`), code);
      writeFileSync(join(folder, `${entry}.mjs`), transformSync(code, { loader: 'ts', format: 'esm' }).code);
    }
    writeFileSync(join(folder, 'consumer.mjs'), CONSUMER);
    writeFileSync(join(folder, 'run.mjs'), "import { run } from './consumer.mjs';\nconsole.log(await run());\n");

    url = await serve((request, response) => {
      const agents = { agents: [], total: 0, limit: 1, offset: 0 };
      response.setHeader('content-type', 'application/json');
      response.end(request.url === '/v1/agents?tags=writing&limit=1' ? JSON.stringify(agents) : '{}');
    });
  });

  /** Runs a script by plain Node, without loader or flag, and returns its output. */
  async function runNode(file: string): Promise<{ stdout: string; stderr: string }> {
    const env = { PATH: process.env.PATH, MARKETPLACE_URL: url };
    return exec(process.execPath, [file], { cwd: folder, env });
  }

  it('contains sources, compiled files with types and source maps, README and licence, and nothing else', () => {
    expect(packed).to.include.members(['README.md', 'LICENSE', 'package.json', 'program/idl/marketplace.json']);
    const sources = packed.filter((path) => /^(?!dist\/).*\.ts$/.test(path));
    const compiled = sources.flatMap((path) =>
      ['.js', '.js.map', '.d.ts'].map((ending) => `dist/${path.replace(/\.ts$/, ending)}`),
    );
    expect(packed.filter((path) => path.startsWith('dist/')).sort()).to.deep.equal(compiled.sort());
    expect(packed.length).to.equal(sources.length * 4 + 4);
  });

  it('describes in README.md how each entry point is used', () => {
    const { exports } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8')) as { exports: object };
    const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'));
    expect([...EXAMPLES.keys()].map((entry) => `./${entry}`).sort()).to.deep.equal(entries.sort());
  });

  for (const entry of [...EXAMPLES.keys()].filter((name) => name !== 'creator')) {
    it(`runs README's example of ./${entry} without a warning`, async () => {
      const { stdout, stderr } = await runNode(`${entry}.mjs`);
      expect(stderr).to.equal('');
      const expected = /\/\/ (1500000n.*|true)$/m.exec(EXAMPLES.get(entry)!)?.[1];
      if (expected !== undefined) expect(stdout.trim()).to.equal(expected);
    });
  }

  it("runs README's example of ./creator, which serves", async () => {
    const env = { PATH: process.env.PATH, PORT: '0', NODE_OPTIONS: '' };
    const report = "\nserver.on('listening', () => console.log(server.address().port));\n";
    writeFileSync(join(folder, 'serve.mjs'), readFileSync(join(folder, 'creator.mjs'), 'utf8') + report);
    const child = spawn(process.execPath, ['serve.mjs'], { cwd: folder, env });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    try {
      const ended = once(child, 'exit').then(() => Promise.reject(new Error(stderr)));
      const [port] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer];
      const health = (await (await fetch(`http://127.0.0.1:${String(port).trim()}/health`)).json()) as object;
      expect(health).to.have.keys('status', 'signing_key');
      expect(stderr).to.equal('');
    } finally {
      child.kill('SIGKILL');
    }
  });

  const RESOLUTIONS: Record<string, { tsc: string; options?: object }> = {
    // TypeScript 7 takes a third of the time.
    nodenext: { tsc: compiler('typescript-native'), options: { types: ['node'] } },
    // node10 ignores `exports`, and only TypeScript 5.9 has it. Top-level await needs a modern module format.
    node10: {
      tsc: compiler('typescript'),
      options: { module: 'esnext', moduleResolution: 'node10', resolveJsonModule: true, esModuleInterop: true },
    },
  };
  for (const [name, { tsc, options }] of Object.entries(RESOLUTIONS)) {
    it(`type-checks under --strict with moduleResolution ${name}`, async () => {
      // Fails if the package's types are not found, because then every call would type-check.
      writeFileSync(
        join(folder, 'typed.ts'),
        `import { createClient } from '@agent-marketplace/sdk/client';
// @ts-expect-error It takes an object.
createClient(1);
`,
      );
      if (name === 'node10') {
        const text = "import idl from '@agent-marketplace/sdk/program/idl.json';\nidl.instructions.length;\n";
        writeFileSync(join(folder, 'idl.ts'), text);
      }
      const config = { ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, ...options } };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const { stdout } = await exec(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch((error) => error);
      expect(stdout).to.equal('');
    });
  }

  it('needs few packages for ./client, ./wire, ./receipt and ./creator, and no TypeScript', () => {
    expect(few.length, few.join()).to.be.at.most(20);
    expect(few.join()).not.to.match(/typescript|web3\.js|@types/);
  });

  it('bundles the entry points for a browser without Node modules, and ./client small', async () => {
    const all = BROWSER_ENTRIES.map((entry) => `export * as ${entry} from '@agent-marketplace/sdk/${entry}';`);
    const { code, used } = await bundle(all.join('\n'));
    const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;
    console.log(`      ${kilobytes(code.length)} minified, ${kilobytes(gzipSync(code).length)} gzip`);
    // `import { z }` brings all of zod, with its messages in forty languages.
    expect(used.filter((path) => path.includes('/zod/v4/locales/')).length).to.be.at.most(1);
    const one = await bundle("export { createClient } from '@agent-marketplace/sdk/client';");
    // All of zod would be larger.
    expect(one.code.length).to.be.below(200 * 1024);
  });

  it('compiles the entry points for browsers to modules without Node imports', () => {
    const dist = join(folder, 'node_modules/@agent-marketplace/sdk/dist');
    const files = BROWSER_ENTRIES.flatMap((entry) =>
      readdirSync(join(dist, entry), { recursive: true, encoding: 'utf8' }).map((file) => join(entry, file)),
    );
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      const code = readFileSync(join(dist, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^ *\/\/.*$/gm, '');
      expect(code, file).not.to.match(/['"]node:|\bprocess\.|\brequire\(|\bglobal\./);
      // web3.js needs Buffer for instruction data, and the `buffer` package is already in its bundle.
      if (/\bBuffer\b/.test(code)) expect(code, file).to.include("import { Buffer } from 'buffer';");
    }
  });

  it('bundles ./receipt, which checks receipts against a node, without web3.js', async () => {
    const { inputs } = await bundle("export * from '@agent-marketplace/sdk/receipt';");
    const packages = new Set(inputs.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
    expect([...packages].sort()).to.deep.equal(
      '@agent-marketplace/sdk @noble/ed25519 @noble/hashes base-x bs58 canonicalize valibot'.split(' '),
    );
  });

  it('gives the same results with web globals only as in Node', async () => {
    const { code } = await bundle("export { run } from './consumer.mjs';");
    const WEB =
      'AbortController AbortSignal Headers Request Response TextDecoder TextEncoder URL URLSearchParams Uint8Array';
    const globals = Object.fromEntries(
      [
        ...WEB.split(' '),
        ...'atob btoa clearTimeout crypto fetch performance setTimeout structuredClone'.split(' '),
      ].map((name) => [name, globalThis[name as keyof typeof globalThis]]),
    );
    const context = createContext(globals);
    runInContext('globalThis.self = globalThis;', context);
    expect(runInContext('[typeof Buffer, typeof process, typeof require]', context).join()).to.equal(
      'undefined,undefined,undefined',
    );
    const inBrowser = (await runInContext(`${code}\nsdk.run();`, context)) as string;
    const { stdout, stderr } = await runNode('run.mjs');
    expect(stderr).to.equal('');
    expect(JSON.parse(inBrowser)).to.deep.equal(JSON.parse(stdout));
    expect(JSON.parse(inBrowser)).to.include({
      key: 'test',
      id: 'c1dc756c-ff4d-8d5c-91a6-11ec2f4e3a8b',
      verified: true,
      refused: false,
      approve: '040500000000000000',
      event: 'AdminChanged',
      health: 'ok',
      amount: '1.5',
      signed: true,
      checked: 'shape result_hash signature request_hash execution_signature genesis_hash program',
      lying: 'genesis_hash record',
    });
  });

  /**
   * Bundles one script with its dependencies, minified. Fails if a module of Node is left. `inputs` are all files that
   * were read, `used` those with code in the bundle.
   */
  async function bundle(contents: string): Promise<{ code: string; inputs: string[]; used: string[] }> {
    const { outputFiles, metafile } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'sdk',
      minify: true,
      metafile: true,
      write: false,
      logLevel: 'silent',
    });
    const left = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external));
    // esbuild's own name for its helpers.
    expect(left.map(({ path }) => path).filter((path) => path !== '<runtime>')).to.deep.equal([]);
    const code = outputFiles[0]!.text;
    expect(code).not.to.match(/["']node:/);
    for (const name of builtinModules) expect(code).not.to.include(`require("${name}")`);
    const [output] = Object.values(metafile.outputs);
    const used = Object.entries(output!.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    );
    return { code, inputs: Object.keys(metafile.inputs), used };
  }
});
