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

const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 32);

/** Imports a TypeScript file, by its path or URL, as if Node could read it. */
export async function importSource(file) {
  const path = String(file).startsWith('file:') ? fileURLToPath(file) : file;
  const { outputFiles } = await build({
    entryPoints: [path],
    outfile: 'bundle.mjs',
    absWorkingDir: ROOT,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Names of functions and classes are used.
    keepNames: true,
    sourcemap: 'inline',
    sourceRoot: pathToFileURL(`${ROOT}/`).href,
    sourcesContent: false,
    logLevel: 'silent',
    packages: 'external',
    plugins: [{ name: 'own places', setup: ({ onLoad }) => onLoad({ filter: /\.m?ts$/ }, readWithPlaces) }],
  });
  process.setSourceMapsEnabled(true);
  return import(pathToFileURL(keep(`${basename(path, '.ts')}-`, outputFiles[0].contents)).href);
}

/** Modules see where their source is, not where the bundle is. */
async function readWithPlaces({ path }) {
  const places = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
  const text = await readFile(path, 'utf8');
  const contents = text.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, key) => JSON.stringify(places[key]));
  return { contents, loader: 'ts' };
}

/**
 * Writes the bundle, if it is not there yet, to a folder from which Node finds our packages, and gives its path. The
 * folder is outside the checkout, which may be read-only.
 */
function keep(name, contents) {
  const uid = process.getuid?.() ?? 0;
  const own = join(tmpdir(), `agent-marketplace-${uid}`);
  const folder = join(own, hashOf(ROOT));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(own).uid !== uid) throw new Error(`${own} belongs to another user.`);
  const place = join(folder, `${name}${hashOf(contents)}.mjs`);
  if (existsSync(place)) return place;
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const draft = `${place}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, place);
  return place;
}
