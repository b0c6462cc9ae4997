// Entry of every npm script: `node scripts/run.mjs FILE.ts [arguments]`.
// It makes sure that the dependencies match package-lock.json, then runs the TypeScript file in this same process, so
// that signals and exit code are those of the file. It must not import any dependency.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.installed-lock');

/** Exits with a message that tells the user what to do. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

/** True if an earlier run found the required packages, or more of them, installed from the same package-lock.json. */
function hasStamp() {
  const [hash, kind] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : [];
  return hash === lockHash && KINDS.indexOf(kind) >= KINDS.indexOf(wanted);
}

/** True if node_modules matches package-lock.json, also if npm was run by hand. */
function isInstalled() {
  if (hasStamp()) return true;
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages;
  // With these, npm has installed all that they need.
  const direct = ['', ...WORKSPACES].flatMap((path) =>
    Object.keys(packages[path].devDependencies ?? {}).map((name) => `node_modules/${name}`),
  );
  // Packages for other platforms are optional and may be missing.
  const mayMiss = (path, { dev, optional }) =>
    optional || (dev && (wanted === 'server' || (wanted === 'start' && !direct.includes(path))));
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .every(([path, entry]) => (present[path] ? present[path].version === entry.version : mayMiss(path, entry)));
}

/** True if the native SQLite module was built for this version of Node. */
function nativeModuleLoads() {
  const probe = "new (require('better-sqlite3'))(':memory:').close()";
  return spawnSync(process.execPath, ['-e', probe], { cwd: root, stdio: 'ignore' }).status === 0;
}

function install() {
  console.error('Installing dependencies; the first time takes one or two minutes ...');
  const missing = ['make', 'g++', 'python3'].filter((tool) => spawnSync(tool, ['--version']).error);
  const filter = WORKSPACES.map((path) => `--workspace=${path}`);
  // What is already there stays there: only the packages of the tests are missing then.
  const isPartly = existsSync(stamp) && readFileSync(stamp, 'utf8').startsWith(lockHash);
  const words =
    wanted !== 'all' ? ['ci', '--include-workspace-root', ...filter] : isPartly ? ['install', '--no-save'] : ['ci'];
  try {
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', [...words, ...quiet], { cwd: root, stdio: ['ignore', 2, 2] });
  } catch {
    if (missing.length === 0) fail(`npm ${words[0]} failed; its output is above.`);
    fail(`npm ${words[0]} failed; its output is above. ${missing.join(', ')} not found: without a
prebuilt SQLite module, it must be compiled. On Debian or Ubuntu: apt-get install build-essential python3`);
  }
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) fail(`Node 20.19 or newer is needed; this is ${process.version}.`);

const [file] = process.argv.slice(2);
if (!file) fail('usage: node scripts/run.mjs FILE.ts [arguments]');
const target = resolve(root, file);
if (!existsSync(target)) fail(`${file} does not exist.`);

/**
 * The packages that a program needs. `server`: none for development, `npm ci --omit=dev` is enough. `start`: also those of
 * the root and of the workspaces but `tests`. `all`: those of tests, checks and builds too.
 */
const KINDS = ['server', 'start', 'all'];
const isServer = /^((app\/(relay|cli|mcp)|indexer)\/|scripts\/drill\.ts$)/.test(file);
const wanted = isServer ? 'server' : file.startsWith('app/') ? 'start' : 'all';
const WORKSPACES = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).workspaces.filter(
  (path) => path !== 'tests',
);
const lockHash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
if (!isInstalled()) install();
if (!hasStamp()) {
  if (!nativeModuleLoads()) {
    console.error('Building the SQLite module for this Node ...');
    const rebuilt = spawnSync('npm', ['rebuild', 'better-sqlite3'], { cwd: root, stdio: ['ignore', 2, 2] });
    if (rebuilt.status !== 0 || !nativeModuleLoads()) {
      fail('better-sqlite3 could not be built. On Debian or Ubuntu: apt-get install build-essential python3');
    }
  }
  try {
    writeFileSync(stamp, `${lockHash} ${wanted}`);
  } catch {
    // Another user installed the packages, and this user cannot write the stamp. The next run checks again.
  }
}

// The file sees its arguments as if Node had started it directly.
process.argv.splice(1, 2, target);
const { importSource } = await import('../app/process/source.mjs');
await importSource(target);
