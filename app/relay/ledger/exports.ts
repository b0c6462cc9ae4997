/**
 * `npm run relay -- export FILE` and `-- import FILE`: what no chain can show again if the ledger is lost, and what calls
 * need: descriptions of listings, names and restrictions of keys, endpoints of webhooks with their secrets. One JSON
 * document a line; the last line counts the others, so a file that was cut is refused.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Kysely } from 'kysely';
import { type Bulk, writeRows } from '../../database/bulk.ts';
import { type DatabasePlace, openLedger, openViews } from './open.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

/** Columns in the order of the file; integers are strings there. */
const TABLES = {
  documents: {
    key: 'metadata_hash',
    columns: ['metadata_hash', 'id', 'received_ms', 'description', 'words', 'is_sandbox', 'document'],
    integers: ['id', 'received_ms', 'is_sandbox'],
  },
  api_keys: {
    key: 'key_hash',
    columns: [
      'key_hash',
      'key_id',
      'wallet',
      'name',
      'created_ms',
      'last_used_ms',
      'revoked_ms',
      'scopes',
      'expires_ms',
      'allowed_ips',
      'allowed_agents',
    ],
    integers: ['created_ms', 'last_used_ms', 'revoked_ms', 'expires_ms'],
  },
  webhook_endpoints: {
    key: 'endpoint_id',
    columns: [
      'endpoint_id',
      'wallet',
      'network',
      'is_known',
      'url',
      'event_types',
      'secret',
      'old_secret',
      'old_secret_until_ms',
      'created_ms',
      'failing_since_ms',
      'disabled_ms',
      'disabled_by',
    ],
    integers: ['is_known', 'old_secret_until_ms', 'created_ms', 'failing_since_ms', 'disabled_ms'],
  },
} as const satisfies Partial<
  Record<keyof LedgerTables, { key: string; columns: readonly string[]; integers: readonly string[] }>
>;
type Table = keyof typeof TABLES;
const NAMES = Object.keys(TABLES) as Table[];

/** A document has at most 64 KiB. */
const ROWS = 128;
/** It contains the secrets of webhooks. */
const PRIVATE = 0o600;

/** Rows of each table. */
type Counts = Record<Table, number>;
type Row = Record<string, unknown>;

/** Writes the file, which gets its name when it is complete. */
export async function exportTo(views: Kysely<LedgerDatabase>, file: string): Promise<Counts> {
  const partial = join(dirname(file), `.${basename(file)}.${process.pid}.partial`);
  const descriptor = openSync(partial, 'wx', PRIVATE);
  const write = (value: unknown) =>
    writeSync(descriptor, `${JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))}\n`);
  try {
    const counts = {} as Counts;
    for (const table of NAMES) {
      counts[table] = 0;
      for await (const row of rowsOf(views, table)) {
        write({ table, row });
        counts[table] += 1;
      }
    }
    write({ counts });
    fsyncSync(descriptor);
    renameSync(partial, file);
    return counts;
  } finally {
    closeSync(descriptor);
    rmSync(partial, { force: true });
  }
}

async function* rowsOf(views: Kysely<LedgerDatabase>, table: Table): AsyncGenerator<Row> {
  const { key, columns } = TABLES[table];
  for (let last = ''; ; ) {
    const rows: Row[] = await views
      .selectFrom(table)
      .select(columns as never)
      .where(key as never, '>', last as never)
      .orderBy(key as never)
      .limit(ROWS)
      .execute();
    yield* rows;
    if (rows.length < ROWS) return;
    last = rows.at(-1)![key] as string;
  }
}

/**
 * Adds the rows that the ledger lacks, in one transaction. Returns how many those are. Throws, and adds nothing, if the
 * file is not a whole export.
 */
export async function importFrom(ledger: Kysely<LedgerTables>, file: string): Promise<Counts> {
  const rows = readRows(file);
  return ledger.transaction().execute(async (transaction) => {
    const before = await countRows(transaction);
    for (const table of NAMES) {
      const { key, columns } = TABLES[table];
      await writeRows(transaction, { table, columns, conflict: { key: [key] } }, rows[table]);
    }
    const after = await countRows(transaction);
    return Object.fromEntries(NAMES.map((table) => [table, after[table] - before[table]])) as Counts;
  });
}

/** The values of each row, in the order of its table's columns. */
function readRows(file: string): Record<Table, unknown[][]> {
  const rows = Object.fromEntries(NAMES.map((table) => [table, []])) as unknown as Record<Table, unknown[][]>;
  const refuse = (why: string): never => {
    throw new Error(`${file} is not a whole export of \`npm run relay -- export\`: ${why}. Nothing was imported.`);
  };
  let counts: Counts | undefined;
  for (const [at, line] of readFileSync(file, 'utf8').trimEnd().split('\n').entries()) {
    let given: { table?: Table; row?: Row; counts?: Counts };
    try {
      given = JSON.parse(line);
    } catch {
      return refuse(`line ${at + 1} is no JSON`);
    }
    counts = given.counts;
    if (counts) continue;
    const { table, row } = given;
    if (!table || !row || !NAMES.includes(table)) return refuse(`line ${at + 1} is no row of a known table`);
    const { columns, integers } = TABLES[table];
    const isInteger = (column: string) => (integers as readonly string[]).includes(column);
    rows[table].push(
      columns.map((column) => {
        const value = row[column];
        if (value === undefined) return refuse(`line ${at + 1} has no ${column}`);
        return value !== null && isInteger(column) ? BigInt(value as string) : value;
      }),
    );
  }
  if (!counts || NAMES.some((table) => rows[table].length !== counts[table])) refuse('its end is missing');
  return rows;
}

async function countRows(ledger: Bulk<LedgerTables>): Promise<Counts> {
  const counts = {} as Counts;
  for (const table of NAMES) {
    const { count } = await ledger
      .selectFrom(table)
      .select((select) => select.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow();
    counts[table] = Number(count);
  }
  return counts;
}

type Places = DatabasePlace & { workingFolder: string };

export function addExportCommands(program: Command, readPlaces: () => Places): void {
  const say = (counts: Counts, json: true | undefined, done: string) => {
    const text = `${done} ${counts.documents} descriptions, ${counts.api_keys} keys, ${counts.webhook_endpoints} webhook endpoints`;
    console.log(json ? JSON.stringify(counts) : text);
  };
  program
    .command('export')
    .description(
      'Writes what the chain cannot show again to a file: descriptions of listings, names and restrictions of keys, webhook endpoints with their secrets. The relay can keep running.',
    )
    .argument('<file>', 'an existing file is replaced after the new one is complete')
    .option('--json', 'print one JSON object')
    .action(async (name: string, { json }: { json?: true }) => {
      const { workingFolder, ...place } = readPlaces();
      const views = await openViews(place);
      try {
        say(await exportTo(views.db, resolve(workingFolder, name)), json, 'Exported');
      } finally {
        await views.close();
      }
    });
  program
    .command('import')
    .description('Adds what the ledger lacks of such a file. Rows that are there stay. The relay can keep running.')
    .argument('<file>', 'a file that `export` has written')
    .option('--json', 'print one JSON object')
    .action(async (name: string, { json }: { json?: true }) => {
      const { workingFolder, ...place } = readPlaces();
      const files = await openLedger(place);
      try {
        say(await importFrom(files.ledger.db, resolve(workingFolder, name)), json, 'Added');
      } finally {
        await files.close();
      }
    });
}
