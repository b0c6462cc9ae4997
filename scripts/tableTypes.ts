/**
 * Generates the types of all tables from the schema that the migrations make, with their comments, for Kysely. What the
 * schema does not say is in `indexer/queries/tables.ts` and `app/relay/ledger/tables.ts`.
 */
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import type { MIGRATIONS } from '../app/database/migrate.ts';

const ROOT = join(import.meta.dirname, '..');

interface Target {
  file: string;
  /** Name of the interface with all tables. */
  types: string;
  /** Its writer names every column of a row, and writes `0n` or `1n` for a flag. */
  isExact: boolean;
  /** A table whose columns are listed. */
  listed?: string;
}

const TARGETS: Record<keyof typeof MIGRATIONS, Target> = {
  index: { file: join(ROOT, 'indexer/queries/generated.ts'), types: 'IndexTables', isExact: true },
  ledger: {
    file: join(ROOT, 'app/relay/ledger/generated.ts'),
    types: 'StoredTables',
    isExact: false,
    listed: 'executions',
  },
};

const TYPES: Record<string, string> = { INTEGER: 'bigint', REAL: 'number', TEXT: 'string', BLOB: 'Buffer' };
/** A column begins its line; further lines of it do not begin with a name and a type. */
const COLUMN = /^(\w+) (INTEGER|REAL|TEXT|BLOB)\b(.*)/;

/** The path and text of the file with the types of one database's tables. */
export function tableTypes(name: keyof typeof MIGRATIONS, sqlite: Sqlite.Database, renewal: string) {
  const { file, types, isExact, listed } = TARGETS[name];
  const tables = sqlite
    .prepare(`SELECT name, sql FROM sqlite_schema
      WHERE type = 'table' AND sql LIKE '%STRICT%' AND name <> 'migrations' ORDER BY name`)
    .all() as { name: string; sql: string }[];
  const rows = tables.map(({ name, sql }) => `  ${name}: {\n${columnsOf(inLines(sql), isExact)}  };\n`);
  const list = listed
    ? `\nexport const ${listed.toUpperCase()}_COLUMNS = [\n${namesIn(sqlite, listed)}] as const;\n`
    : '';
  const text = `/** The tables of migrations/${name}. Made by: ${renewal} */
import type { Generated } from 'kysely';

export interface ${types} {
${rows.join('')}}
${list}`;
  return { file, text };
}

const namesIn = (sqlite: Sqlite.Database, table: string) =>
  (sqlite.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => `  '${name}',\n`).join('');

function columnsOf(sql: string, isExact: boolean): string {
  let text = '';
  let comment: string[] = [];
  for (const line of sql.split('\n').map((part) => part.trim())) {
    const [, name, type, rules] = COLUMN.exec(line) ?? [];
    if (line.startsWith('--')) comment.push(line.slice(2).trim());
    if (!name || !type || rules === undefined) continue;
    // It is for triggers alone.
    if (rules.includes('GENERATED')) {
      comment = [];
      continue;
    }
    if (comment.length > 0) text += `    /** ${comment.join(' ')} */\n`;
    comment = [];
    const values = valuesIn(sql, name);
    const value = values && (isExact || type === 'TEXT') ? values : TYPES[type]!;
    const isKey = rules.includes('PRIMARY KEY');
    const whole = isKey || rules.includes('NOT NULL') ? value : `${value} | null`;
    const isOptional =
      (isKey && name === 'id' && !rules.includes('CHECK')) || (!isExact && rules.includes(' DEFAULT '));
    text += `    ${name}: ${isOptional ? `Generated<${whole}>` : whole};\n`;
  }
  return text;
}

/** The values that the schema allows in a column, as a type. */
function valuesIn(sql: string, column: string): string | null {
  const [, list] = new RegExp(`CHECK \\(${column} IN \\(([^)]*)\\)\\)`).exec(sql) ?? [];
  const values = list?.split(',').map((value) => value.trim());
  return values?.map((value) => (value.startsWith("'") ? value : `${value}n`)).join(' | ') ?? null;
}

/** Splits columns that SQLite appended on one line. */
export function inLines(sql: string): string {
  return sql.replace(/\n, (.*)\n?\) STRICT$/, (_, columns: string) => {
    const lines = columns.split(/, (?=\w+ (?:INTEGER|REAL|TEXT|BLOB))/);
    return `,\n  ${lines.join(',\n  ')}\n) STRICT`;
  });
}
