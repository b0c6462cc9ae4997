/**
 * `npm run build:client`: builds the package @agent-marketplace/client from modules of the SDK and the libraries that
 * they use. Each entry is one file that needs no other package. It is not minified, and has a source map: an error
 * that a program does not catch prints a readable line of it. Also writes the generated files of the Python package.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { constants } from '../app/sdk/program/constants.ts';
import { idl } from '../app/sdk/program/idl/idl.ts';
import { generateTypes } from './clientTypes.ts';
import { writePythonFiles } from './pythonClient.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGE = join(ROOT, 'app', 'client');
const DIST = join(PACKAGE, 'dist');
const SDK = join(ROOT, 'app', 'sdk');
const TSC = join(ROOT, 'node_modules', 'typescript-native', 'bin', 'tsc');
/** Entries of the package, by file name. */
const ENTRIES = { index: join(SDK, 'client', 'caller.ts'), x402: join(SDK, 'client', 'x402.ts') };

/** The instructions that checks of receipts need. All others are left out. */
const INSTRUCTIONS = [
  'open_execution',
  'open_execution_with_grant',
  'open_execution_from_deposit',
  'settle_execution',
  'refund_execution',
  'move_unclaimed_refund',
];
const ACCOUNTS = ['AgentListing', 'ExecutionRecord', 'Archive'];

/** Cuts the IDL, which would be half of the package, to the needed parts, and makes its constants plain values. */
const shortIdl: Plugin = {
  name: 'short-idl',
  setup({ onLoad }) {
    onLoad({ filter: /program[\\/]idl[\\/]idl\.ts$/ }, () => ({ contents: `export const idl = ${shorten()};` }));
    onLoad({ filter: /program[\\/]constants\.ts$/ }, () => ({ contents: plainConstants() }));
  },
};

/** The constants as plain values, without the IDL. */
function plainConstants(): string {
  const plain = Object.entries(constants).map(
    ([name, value]) => `${name}: ${value}${typeof value === 'bigint' ? 'n' : ''}`,
  );
  const bytes = idl.constants.flatMap(({ name, type, value }) => (type === 'bytes' ? [`${name}: ${value}`] : []));
  return `export const constants = { ${plain.join()} };
const BYTES = { ${bytes.join()} };
export const constantBytes = (name) => Uint8Array.from(BYTES[name]);
export const ARCHIVE_LEAF_DOMAIN = constantBytes('ARCHIVE_LEAF_DOMAIN');`;
}

function shorten(): string {
  const instructions = idl.instructions.filter(({ name }) => INSTRUCTIONS.includes(name));
  const accounts = idl.accounts.filter(({ name }) => ACCOUNTS.includes(name));
  const wanted = new Set<string>();
  const collect = (value: object): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"defined":\{"name":"(\w+)"/g)) addType(name!);
  };
  const addType = (name: string): void => {
    if (wanted.has(name)) return;
    wanted.add(name);
    collect(idl.types.find((type) => type.name === name)!);
  };
  for (const { name } of accounts) addType(name);
  for (const { args } of instructions) collect(args);
  return JSON.stringify({
    address: idl.address,
    instructions: instructions.map(({ name, discriminator, accounts, args }) => {
      return { name, discriminator, accounts: accounts.map((account) => ({ name: account.name })), args };
    }),
    accounts,
    types: idl.types.filter(({ name }) => wanted.has(name)),
  });
}

/** Writes the declarations of the entries and all they refer to. None may import a package, which users may lack. */
function writeDeclarations(): void {
  const made = mkdtempSync(join(tmpdir(), 'client-types-'));
  const options = [
    ...['--declaration', '--emitDeclarationOnly', '--rewriteRelativeImportExtensions', '--resolveJsonModule'],
    ...['--strict', '--target', 'es2023', '--module', 'nodenext', '--lib', 'es2024,dom,dom.iterable'],
    ...['--skipLibCheck', '--types', 'node', '--ignoreConfig', '--rootDir', SDK, '--outDir', made],
  ];
  execFileSync(process.execPath, [TSC, ...options, ...Object.values(ENTRIES)], { cwd: ROOT, stdio: 'inherit' });
  const queue = ['caller', 'x402'].map((name) => join('client', `${name}.d.ts`));
  for (const path of queue) {
    const text = readFileSync(join(made, path), 'utf8');
    mkdirSync(join(DIST, dirname(path)), { recursive: true });
    writeFileSync(join(DIST, path), text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
    for (const [, from = ''] of text.matchAll(/(?:from |import\()'([^']+)'/g)) {
      if (!from.startsWith('.')) throw new Error(`${path} needs the package ${from}`);
      const next = join(dirname(path), from.replace(/\.(ts|js)$/, '.d.ts'));
      if (!queue.includes(next)) queue.push(next);
    }
  }
  rmSync(made, { recursive: true });
}

/** The licences of the bundled libraries. */
function licencesOf({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const own = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(ROOT, folder)).find((name) => /^licen[cs]e/i.test(name));
    const text = file ? readFileSync(join(ROOT, folder, file), 'utf8').trim() : `Licence: ${own.license}`;
    return `${own.name} ${own.version}\n\n${text}\n`;
  });
  return `The file index.js contains code of these libraries.\n\n${texts.join('\n---\n\n')}`;
}

const types = join(SDK, 'client', 'generated.ts');
writeFileSync(types, await generateTypes());
writePythonFiles();
rmSync(DIST, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ENTRIES,
  outdir: DIST,
  // Only users who pay by x402 install them.
  external: ['@x402/*'],
  absWorkingDir: ROOT,
  bundle: true,
  sourcemap: true,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  plugins: [shortIdl],
  metafile: true,
  logLevel: 'warning',
});
writeFileSync(join(DIST, 'LICENSES.txt'), licencesOf(metafile));
writeDeclarations();
