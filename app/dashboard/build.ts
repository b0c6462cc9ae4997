/**
 * `npm run build:dashboard`: builds the web page into `dist/`, with hashed names and a Brotli copy of every text. Does
 * nothing if the sources have not changed.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { Rolldown } from 'vite';
import type { Drawing } from './prerender.tsx';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');
const DIST = join(HERE, 'dist');
/** File in the build with the hash of its sources. */
const STAMP = '.sources';
/** Large parts of the page, in the order in which they are loaded: each is one file. */
const LOADS = ['app.tsx', 'api.ts', 'wallet/web3.ts'];
/** Shared by tabs, menus and dialogs: a dozen modules, each too small for its own file. */
const SMALL_PARTS =
  /node_modules\/@radix-ui\/(?!react-(menu|dropdown-menu|popper|toast|dialog|dismissable-layer|focus)|react-[a-z-]*focus-)/;
/** The first file, with Vite's part of every lazy import. In the app's file, that part would load the app before it. */
const FIRST_FILE = /vite\/preload-helper|dashboard\/main\.tsx$/;
/** The font of nearly all text. */
const FIRST_FONT = /inter-latin-wght-normal.*\.woff2$/;
/** The program that prerenders the views. */
const DRAWER = 'prerender.mjs';
const TEXT = /\.(js|css|svg)$/;

/** Source files of the page, by path from the root. */
function sources(): string[] {
  const below = (folder: string, skipped: RegExp) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
      .filter((path) => !skipped.test(path));
  const page = below('app/dashboard', /^app\/dashboard\/dist/);
  // Without files that the build does not read, and the image does not have.
  const sdk = below('app/sdk', /^app\/sdk\/((dist|creator|node_modules)\/|LICENSE|README|tsconfig)/);
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

/** Builds into a new folder, which then replaces the old build. A running server has already read the old files. */
async function build(hash: string): Promise<void> {
  // Imported here, so that a start without changes does not load them.
  const [vite, { default: react }, { default: tailwindcss }] = await Promise.all([
    import('vite'),
    import('@vitejs/plugin-react'),
    import('@tailwindcss/vite'),
  ]);
  const draft = mkdtempSync(join(HERE, 'dist-'));
  const drawer = mkdtempSync(join(HERE, 'dist-'));
  try {
    const shared = { root: HERE, configFile: false, logLevel: 'warn' } as const;
    // A data: URI would need an exception in the CSP.
    const assetsInlineLimit = 0;
    const built = (await vite.build({
      ...shared,
      plugins: [react(), tailwindcss()],
      resolve: { alias: { buffer: 'buffer/' } },
      build: {
        outDir: draft,
        emptyOutDir: true,
        target: 'es2022',
        assetsInlineLimit,
        // As a module of its own, it would be another file before the first.
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: 1_500,
        reportCompressedSize: false,
        // Each additional file is another network request for a new visitor.
        rolldownOptions: {
          output: {
            codeSplitting: {
              groups: [
                { name: 'main', test: FIRST_FILE },
                ...LOADS.map((entry) => ({ name: createLoad(entry), debugName: entry })),
                { name: 'parts', test: SMALL_PARTS },
              ],
            },
          },
        },
      },
    })) as Rolldown.RolldownOutput;
    await vite.build({
      ...shared,
      plugins: [react()],
      build: {
        outDir: drawer,
        assetsInlineLimit,
        ssr: join(HERE, 'prerender.tsx'),
        rolldownOptions: { output: { entryFileNames: DRAWER } },
      },
    });
    const { drawViews }: typeof import('./prerender.tsx') = await import(pathToFileURL(join(drawer, DRAWER)).href);
    writeDocuments(draft, built.output, await drawViews());
    await compress(draft);
    writeFileSync(join(draft, STAMP), hash);
    rmSync(DIST, { recursive: true, force: true });
    // Only its owner can read a new temporary folder. A relay runs as another user than the one who builds.
    chmodSync(draft, 0o755);
    renameSync(draft, DIST);
  } finally {
    for (const folder of [draft, drawer]) rmSync(folder, { recursive: true, force: true });
  }
}

interface Modules {
  getModuleInfo(id: string): { importers: readonly string[] } | null;
}

/**
 * Groups an entry and all its direct and indirect imports into one file, without modules of an earlier group. Lazy
 * imports stay separate.
 */
function createLoad(entry: string): (id: string, modules: Modules) => string | null {
  const found = new Set([join(HERE, entry)]);
  // `walked` ends a cycle of imports.
  function isPart(id: string, modules: Modules, walked: Set<string>): boolean {
    if (found.has(id)) return true;
    if (walked.has(id)) return false;
    walked.add(id);
    const isFound = (modules.getModuleInfo(id)?.importers ?? []).some((by) => isPart(by, modules, walked));
    if (isFound) found.add(id);
    return isFound;
  }
  return (id, modules) => (isPart(id, modules, new Set()) ? basename(entry, extname(entry)) : null);
}

/** Writes the document of every view: its drawing, and preloads of its files and its first requests. */
function writeDocuments(folder: string, output: Rolldown.RolldownOutput['output'], drawings: Map<string, Drawing>) {
  const chunks = output.filter((file) => file.type === 'chunk');
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const filesOf = (source: string): string[] => {
    const id = join(HERE, source);
    const chunk =
      chunks.find(({ facadeModuleId }) => facadeModuleId === id) ?? chunks.find((it) => it.moduleIds.includes(id));
    if (!chunk) throw new Error(`${source} is in no file of the build`);
    const files = new Set<string>();
    const walk = (name: string) => {
      if (files.has(name)) return;
      files.add(name);
      for (const imported of byName.get(name)?.imports ?? []) walk(imported);
    };
    walk(chunk.fileName);
    return [...files];
  };
  const font = output.find(({ fileName }) => FIRST_FONT.test(fileName));
  if (!font) throw new Error('the font of the page is not in the build');
  const page = join(folder, 'index.html');
  const html = readFileSync(page, 'utf8');
  rmSync(page);
  for (const [name, { view, asks, html: drawn }] of drawings) {
    const files = [...new Set([...filesOf('app.tsx'), ...filesOf('api.ts'), ...filesOf(view)])];
    // The drawing needs the style and the font. main.tsx adds the others once it is shown.
    const first = `<link rel="preload" as="font" type="font/woff2" crossorigin href="/${font.fileName}">`;
    const later = [
      ...files.map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`),
      ...asks.map((path) => `<link rel="preload" as="fetch" crossorigin href="${path}">`),
    ];
    const document = html
      .replace(/ *<link rel="modulepreload".*\n/g, '')
      .replace('</head>', () => `  ${first}\n    <template id="later">${later.join('')}</template>\n  </head>`)
      .replace('<div id="root">', () => `<div id="root" data-drawing>${drawn}`);
    // The guide is complete without a script.
    const isWhole = name === 'docs';
    writeFileSync(join(folder, `${name}.html`), isWhole ? document.replace(/ *<noscript>.*\n/, '') : document);
  }
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
