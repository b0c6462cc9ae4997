/**
 * `npm run build:dashboard`: builds the page into `dist/`, with hashed names and a Brotli twin of every text. Sources that
 * have not changed are not built again.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');
const DIST = join(HERE, 'dist');
/** In the build: the hash of what it was made from. */
const STAMP = '.sources';
const TEXT = /\.(js|css|svg|html)$/;

/** Files that the page is made of, by path from the root. */
function sources(): string[] {
  const below = (folder: string, skipped: RegExp) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
      .filter((path) => !skipped.test(path));
  const page = below('app/dashboard', /^app\/dashboard\/dist/);
  const sdk = below('app/sdk', /^app\/sdk\/(dist|creator|node_modules)\//);
  return [...page, ...sdk, 'package-lock.json'].sort();
}

function hashSources(): string {
  const hash = createHash('sha256');
  for (const path of sources())
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update('\0');
  return hash.digest('hex');
}

/** Builds beside the old one, which then is replaced at once: whoever serves it meanwhile has read it already. */
async function build(hash: string): Promise<void> {
  // Only here: a start that has nothing to build does without them.
  const [vite, { default: react }, { default: tailwindcss }] = await Promise.all([
    import('vite'),
    import('@vitejs/plugin-react'),
    import('@tailwindcss/vite'),
  ]);
  const draft = mkdtempSync(join(HERE, 'dist-'));
  try {
    await vite.build({
      root: HERE,
      configFile: false,
      plugins: [react(), tailwindcss()],
      resolve: { alias: { buffer: 'buffer/' } },
      build: {
        outDir: draft,
        emptyOutDir: true,
        target: 'es2022',
        // A data: URI would need a word of its own in the policy.
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 1_500,
        reportCompressedSize: false,
        // Each file more is a turn on the network for whoever comes the first time.
        rolldownOptions: { output: { codeSplitting: { groups: [{ name: createFirstLoad(), debugName: 'first' }] } } },
      },
      logLevel: 'warn',
    });
    await compress(draft);
    writeFileSync(join(draft, STAMP), hash);
    rmSync(DIST, { recursive: true, force: true });
    renameSync(draft, DIST);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

interface Modules {
  getModuleInfo(id: string): { isEntry: boolean; importers: readonly string[] } | null;
}

/** Names one file for all that the page's first file imports, however indirectly; what is imported lazily stays apart. */
function createFirstLoad(): (id: string, modules: Modules) => string | null {
  const first = new Set<string>();
  // `walked`: a circle of imports ends there.
  function isFirst(id: string, modules: Modules, walked: Set<string>): boolean {
    if (first.has(id)) return true;
    if (walked.has(id)) return false;
    walked.add(id);
    const info = modules.getModuleInfo(id);
    if (!info) return false;
    const found = info.isEntry || info.importers.some((importer) => isFirst(importer, modules, walked));
    if (found) first.add(id);
    return found;
  }
  return (id, modules) => (isFirst(id, modules, new Set()) ? 'first' : null);
}

async function compress(folder: string): Promise<void> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => TEXT.test(name));
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(readFileSync(path)));
    }),
  );
}

const hash = hashSources();
const stamp = join(DIST, STAMP);
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) {
  console.error('The dashboard is built already.');
} else {
  console.error('Building the dashboard ...');
  const begun = performance.now();
  await build(hash);
  console.error(`The dashboard is built (${((performance.now() - begun) / 1_000).toFixed(1)} s).`);
}
