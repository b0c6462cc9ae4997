/**
 * `npm run count`: the size of the project, for whoever decides whether a change is worth its weight. Lines are those
 * that people wrote: generated files, the IDL, recorded vectors and the schema dump do not count.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { MIGRATIONS, migrate } from '../app/database/migrate.ts';
import { openDatabase } from '../app/database/open.ts';
import { describeConfig as relaySettings } from '../app/relay/config.ts';
import { describeConfig as indexerSettings } from '../indexer/config.ts';
import { runScript } from './options.ts';

const ROOT = join(import.meta.dirname, '..');
const KINDS = /\.(ts|tsx|mjs|rs|py|sql|css|html|sh)$/;
const GENERATED = [
  'app/relay/ledger/generated.ts',
  'app/sdk/client/generated.ts',
  'app/sdk/program/idl/idl.ts',
  'clients/python/src/paid_agents/client.py',
  'clients/python/src/paid_agents/_blocking/',
  'clients/python/src/paid_agents/models.py',
  'indexer/queries/generated.ts',
  'tests/schema.sql',
];
/** Lengths of files, of which none or few should be longer. */
const LONG = [200, 300];
const MEGABYTE = 1_000_000;

interface Size {
  files: number;
  lines: number;
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Lines of each tracked file that a person wrote. */
function handWritten(): Map<string, number> {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const paths = tracked.filter(
    (path) => KINDS.test(path) && !GENERATED.some((start) => path.startsWith(start)) && existsSync(join(ROOT, path)),
  );
  return new Map(paths.map((path) => [path, read(path).split('\n').length - 1]));
}

/** The folder that a file is counted under: two levels, three below the relay. */
function roomOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  return folders.slice(0, path.startsWith('app/relay/') ? 3 : 2).join('/') || '.';
}

function add(sizes: Record<string, Size>, name: string, lines: number) {
  sizes[name] ??= { files: 0, lines: 0 };
  sizes[name].files += 1;
  sizes[name].lines += lines;
}

/** Tables and columns of each database after all migrations, as tests/schema.sql shows them. */
function schema() {
  const sizes = Object.entries(MIGRATIONS).map(([name, folder]) => {
    const { sqlite, close } = openDatabase(':memory:');
    migrate(sqlite, folder);
    const all = sqlite.pragma('table_list') as { name: string; type: string; ncol: bigint }[];
    const ours = all.filter(({ name, type }) => ['table', 'virtual'].includes(type) && !name.startsWith('sqlite_'));
    close();
    return [name, { tables: ours.length, columns: ours.reduce((sum, { ncol }) => sum + Number(ncol), 0) }] as const;
  });
  return Object.fromEntries(sizes);
}

/** Rows of the table of mechanisms. */
function mechanisms(): number {
  const [, section = ''] = read('ARCHITECTURE.md').split('\n## Without each mechanism\n');
  const rows = (section.split('\n## ')[0] as string).split('\n').filter((line) => line.startsWith('| '));
  return rows.length - 1;
}

const settingsIn = (help: string) => help.split('\n').filter((line) => /^ {2}[A-Z][A-Z0-9_]+ /.test(line)).length;

/** Bytes of a folder without the packages that are installed inside it. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((bytes, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? bytes : bytes + bytesIn(path);
    return entry.isFile() ? bytes + statSync(path).size : bytes;
  }, 0);
}

/** Packages that npm has installed here for these workspaces. */
function installed(workspaces: string[], ...options: string[]) {
  const filter = workspaces.map((name) => `--workspace=${name}`);
  const words = [
    'ls',
    '--package-lock-only',
    '--all',
    '--parseable',
    '--include-workspace-root',
    ...filter,
    ...options,
  ];
  // It also reports peers that do not fit, and then exits with 1.
  const { stdout } = spawnSync('npm', words, { cwd: ROOT, encoding: 'utf8' });
  const paths = [...new Set(stdout.split('\n').filter((path) => path.includes('/node_modules/') && existsSync(path)))];
  return {
    packages: paths.length,
    megabytes: Math.round(paths.reduce((bytes, path) => bytes + bytesIn(path), 0) / MEGABYTE),
  };
}

/** What a newcomer's `npm start` installs, what a relay needs, and what the tests add. */
function packages() {
  const workspaces = JSON.parse(read('package.json')).workspaces as string[];
  const ours = workspaces.filter((name) => name !== 'tests');
  return { start: installed(ours), relay: installed(ours, '--omit=dev'), all: installed(workspaces) };
}

function count() {
  const files = handWritten();
  const rooms: Record<string, Size> = {};
  const parts: Record<string, Size> = {};
  for (const [path, lines] of files) {
    add(rooms, roomOf(path), lines);
    add(parts, path.includes('/') ? (path.split('/')[0] as string) : '.', lines);
  }
  const lengths = [...files.values()];
  return {
    lines: lengths.reduce((sum, lines) => sum + lines, 0),
    files: lengths.length,
    longer: Object.fromEntries(LONG.map((limit) => [limit, lengths.filter((lines) => lines > limit).length])),
    parts,
    rooms,
    schema: schema(),
    settings: { relay: settingsIn(relaySettings()), indexer: settingsIn(indexerSettings()) },
    mechanisms: mechanisms(),
    installed: packages(),
  };
}

type Count = ReturnType<typeof count>;

function toText({ lines, files, longer, parts, rooms, schema, settings, mechanisms, installed }: Count): string {
  const row = (name: string, size: Size) =>
    `${name.padEnd(32)}${String(size.lines).padStart(8)}${String(size.files).padStart(7)}`;
  const table = (sizes: Record<string, Size>) => Object.entries(sizes).map(([name, size]) => row(name, size));
  return [
    `${''.padEnd(32)}   lines  files`,
    ...table(rooms),
    '',
    ...table(parts),
    row('all', { lines, files }),
    '',
    ...Object.entries(longer).map(([limit, number]) => `files over ${limit} lines: ${number}`),
    ...Object.entries(schema).map(([name, made]) => `${name}.db: ${made.tables} tables, ${made.columns} columns`),
    `settings: relay ${settings.relay}, indexer ${settings.indexer}`,
    `mechanisms: ${mechanisms}`,
    `npm start installs: ${installed.start.packages} packages, ${installed.start.megabytes} MB`,
    `a relay needs: ${installed.relay.packages} packages, ${installed.relay.megabytes} MB`,
    `npm test installs: ${installed.all.packages} packages, ${installed.all.megabytes} MB`,
  ].join('\n');
}

const command = new Command('npm run count --')
  .description('Counts lines that people wrote, tables, settings, mechanisms and installed packages.')
  .option('--json', 'print one JSON object')
  .action(({ json }: { json?: boolean }) => console.log(json ? JSON.stringify(count(), null, 2) : toText(count())));
await runScript(command);
