/**
 * Runs our TypeScript: bundles a file with those of our modules that it imports, and imports the bundle. The bundle is
 * kept until a source changes. To compile and load the modules one by one takes twice the processor time.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';

const ROOT = join(import.meta.dirname, '..', '..');
/** What decides on bundles beside our sources. */
const SETTINGS = [import.meta.filename, join(ROOT, 'package-lock.json'), join(ROOT, 'tsconfig.json')];

/**
 * Programs that start often. Their bundles contain the packages too: Node would load these one file after the other. All
 * other bundles leave packages to Node.
 */
const SERVED =
  /^((app\/(cli|local|mcp|relay)|indexer|tests\/(harness\/node|relay\/sweeper))\/|scripts\/(drill|migrate)\.ts$)/;
const WITH_PACKAGES = {
  // These look for files beside themselves.
  external: [
    'better-sqlite3',
    'bigint-buffer',
    'bufferutil',
    'esbuild',
    'litesvm',
    'pino',
    'piscina',
    'utf-8-validate',
  ],
  // Some packages call `require`, which a module does not have.
  banner: {
    js: `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(import.meta.url)});`,
  },
};

/**
 * The source map of a package's file. It names one place, the start of the file: Node reads the whole map of a bundle at
 * each start, and esbuild ignores a map without a place.
 */
function mapToFile(path) {
  const map = { version: 3, sources: [basename(path)], names: [], mappings: 'AAAA' };
  return `data:application/json,${encodeURIComponent(JSON.stringify(map))}`;
}

/** Imports a TypeScript file, by its path or URL, as if Node could read it. */
export async function importSource(file) {
  const path = String(file).startsWith('file:') ? fileURLToPath(file) : file;
  const folder = openFolder();
  const record = join(folder, `${basename(path)}-${hashOf(path)}.json`);
  const entry = findBundle(record) ?? (await makeBundle(path, folder, record));
  process.setSourceMapsEnabled(true);
  return import(pathToFileURL(entry).href);
}

/** The bundle that was made last, unless one of its sources has changed since. */
function findBundle(record) {
  if (!existsSync(record)) return undefined;
  const { entry, outputs, inputs } = JSON.parse(readFileSync(record, 'utf8'));
  const isSame = ([input, hash]) => existsSync(input) && hashOf(readFileSync(input)) === hash;
  return outputs.every(existsSync) && Object.entries(inputs).every(isSame) ? entry : undefined;
}

async function makeBundle(path, folder, record) {
  const { build } = await import('esbuild');
  const inputs = Object.fromEntries(SETTINGS.map((file) => [file, hashOf(readFileSync(file))]));
  const { outputFiles } = await build({
    entryPoints: [path],
    outdir: folder,
    // Each file is named by its contents: the same sources give the same files, and none is ever changed.
    entryNames: 'entry-[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    absWorkingDir: ROOT,
    write: false,
    bundle: true,
    // What is imported later is loaded later.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Names of functions and classes are used.
    keepNames: true,
    // Node reads less: a fifth of the time of a relay's start.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'silent',
    ...(SERVED.test(relative(ROOT, path)) ? WITH_PACKAGES : { packages: 'external' }),
    plugins: [
      {
        name: 'own places',
        setup: ({ onLoad }) => onLoad({ filter: /\.m?[jt]sx?$/ }, ({ path: input }) => readWithPlaces(input, inputs)),
      },
    ],
  });
  for (const output of outputFiles) if (!existsSync(output.path)) write(output.path, output.contents);
  const outputs = outputFiles.map((output) => output.path);
  const entry = outputs.find((output) => basename(output).startsWith('entry-'));
  write(record, JSON.stringify({ entry, outputs, inputs }));
  return entry;
}

const hashOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Our modules see where their source is, not where the bundle is. Notes the hash of each in `inputs`. */
async function readWithPlaces(path, inputs) {
  const text = await readFile(path, 'utf8');
  if (relative(ROOT, path).includes('node_modules/'))
    return { contents: `${text}\n//# sourceMappingURL=${mapToFile(path)}`, loader: 'js' };
  const places = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
  inputs[path] = hashOf(text);
  const contents = text.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, key) => JSON.stringify(places[key]));
  return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
}

/** The folder of this checkout's bundles, from which Node finds our packages. The checkout itself may be read-only. */
function openFolder() {
  const uid = process.getuid?.() ?? 0;
  const own = join(tmpdir(), `agent-marketplace-${uid}`);
  const folder = join(own, hashOf(ROOT));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(own).uid !== uid) throw new Error(`${own} belongs to another user.`);
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return folder;
}

/** Writes a file at once as a whole: another process may do the same or read it. */
function write(file, contents) {
  const draft = `${file}.${process.pid}.${threadId}`;
  writeFileSync(draft, contents);
  renameSync(draft, file);
}
