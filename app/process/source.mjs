/**
 * Runs our TypeScript. A file is bundled with those of our modules that it imports, because to load them one by one
 * takes seconds. The bundle stays in the folder for temporary files until one of its sources changes.
 */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..', '..');
/** Packages of a hundred small modules and more. They are bundled too; all others are left to Node. */
const SMALL_MODULES = /^(kysely|@solana\/spl-token)$/;
/** A process may still import a part of an older bundle. */
const KEPT_MS = 7 * 86_400_000;

const shortHash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Imports a TypeScript file, by its path or URL, as if Node could read it. */
export async function importSource(file) {
  const path = String(file).startsWith('file:') ? fileURLToPath(file) : file;
  process.setSourceMapsEnabled(true);
  return import(pathToFileURL(freshBundle(path) ?? (await bundle(path))).href);
}

/** Folder of the bundles of this checkout and user. Throws if it is another user's. */
function openFolder() {
  const uid = process.getuid?.() ?? 0;
  const own = join(tmpdir(), `agent-marketplace-${uid}`);
  const folder = join(own, shortHash(ROOT));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(own).uid !== uid) throw new Error(`${own} belongs to another user.`);
  return folder;
}

/** A name for the bundles of a source file. */
const nameOf = (path) => `${basename(path).replace(/\.\w+$/, '')}-${shortHash(path)}`;

/** When it was last written, by path from the root. */
const writtenAt = (path) => statSync(join(ROOT, path)).mtimeMs;

/** Path of the bundle that is there already; null if there is none, or a source has changed. */
function freshBundle(path) {
  try {
    const record = join(openFolder(), `${nameOf(path)}.json`);
    const { entry, sources } = JSON.parse(readFileSync(record, 'utf8'));
    const isFresh = Object.entries(sources).every(([path, time]) => writtenAt(path) === time);
    return isFresh && statSync(entry) ? entry : null;
  } catch {
    return null;
  }
}

const packages = {
  name: 'packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point' || SMALL_MODULES.test(path)) return undefined;
      return { path, external: true };
    });
  },
};

/** Modules see where their source is, not where the bundle is. */
const ownPlaces = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (path.includes('node_modules') || !text.includes('import.meta')) return { contents: text, loader: 'ts' };
      const places = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
      const contents = text.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, key) =>
        JSON.stringify(places[key]),
      );
      return { contents, loader: 'ts' };
    });
  },
};

async function bundle(path) {
  const { build, stop } = await import('esbuild');
  const begun = Date.now();
  const folder = openFolder();
  const name = nameOf(path);
  const draft = mkdtempSync(join(folder, `${name}-`));
  const { metafile } = await build({
    entryPoints: [path],
    outdir: draft,
    absWorkingDir: ROOT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    // Names of functions and classes are used.
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [packages, ownPlaces],
  });
  await stop();
  const sources = Object.fromEntries(Object.keys(metafile.inputs).map((source) => [source, writtenAt(source)]));
  const place = join(folder, `${name}-${shortHash(JSON.stringify(sources))}`);
  keep(draft, place);
  link(join(folder, 'node_modules'));
  const entry = join(place, `${basename(path).replace(/\.\w+$/, '')}.mjs`);
  // The bundle may lack what was written since.
  if (Object.values(sources).every((time) => time < begun)) {
    writeFileSync(`${draft}.json`, JSON.stringify({ entry, sources }));
    renameSync(`${draft}.json`, join(folder, `${name}.json`));
  }
  for (const other of readdirSync(folder)) {
    const at = join(folder, other);
    if (other.startsWith(name) && statSync(at).mtimeMs < begun - KEPT_MS) rmSync(at, { recursive: true, force: true });
  }
  return entry;
}

/** Another process may have built the same. */
function keep(draft, place) {
  try {
    renameSync(draft, place);
  } catch {
    rmSync(draft, { recursive: true });
  }
}

function link(place) {
  try {
    symlinkSync(join(ROOT, 'node_modules'), place, 'dir');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}
