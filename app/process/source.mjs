/**
 * Runs our TypeScript: bundles a file with those of our modules that it imports, and imports the bundle. To compile and
 * load the modules one by one takes twice the processor time. Packages are left to Node.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');

/** Imports a TypeScript file, by its path or URL, as if Node could read it. */
export async function importSource(file) {
  const path = String(file).startsWith('file:') ? fileURLToPath(file) : file;
  const { outputFiles } = await build({
    entryPoints: [path],
    outdir: openFolder(),
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
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'silent',
    packages: 'external',
    plugins: [{ name: 'own places', setup: ({ onLoad }) => onLoad({ filter: /\.m?ts$/ }, readWithPlaces) }],
  });
  outputFiles.forEach(keep);
  process.setSourceMapsEnabled(true);
  const entry = outputFiles.find((output) => basename(output.path).startsWith('entry-'));
  return import(pathToFileURL(entry.path).href);
}

/** Modules see where their source is, not where the bundle is. */
async function readWithPlaces({ path }) {
  const places = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
  const text = await readFile(path, 'utf8');
  const contents = text.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, key) => JSON.stringify(places[key]));
  return { contents, loader: 'ts' };
}

/** The folder of this checkout's bundles, from which Node finds our packages. The checkout itself may be read-only. */
function openFolder() {
  const uid = process.getuid?.() ?? 0;
  const own = join(tmpdir(), `agent-marketplace-${uid}`);
  const folder = join(own, createHash('sha256').update(ROOT).digest('hex').slice(0, 16));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(own).uid !== uid) throw new Error(`${own} belongs to another user.`);
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return folder;
}

/** Writes a file of a bundle unless it is there. */
function keep({ path, contents }) {
  if (existsSync(path)) return;
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
