/** SQLite's migrations and PostgreSQL's make the same tables, columns and indexes. */
import { expect } from 'chai';
import pg from 'pg';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';
import { SCHEMAS } from '../../app/database/postgres.ts';
import { freshPostgres } from '../harness/postgres.ts';

/**
 * Tables that differ. Full-text search is a table on SQLite and a column on PostgreSQL. Sums that several relays add to
 * are split into parts only on PostgreSQL.
 */
const OWN = /^(document_words|lent_sums$)/;
const KINDS: Record<string, string> = {
  INTEGER: 'bigint',
  TEXT: 'text C',
  BLOB: 'bytea',
  REAL: 'double precision',
};

/** Tables in comparable lines: their columns (type, NOT NULL, position in the primary key) and their indexes. */
type Shape = Record<string, string[]>;

/** The `(a, b DESC) WHERE c` of an index's SQL, in one notation for both databases. */
function termsOf(text: string): string {
  const [, terms = ''] = /\bON (?:\w+\.)?\w+(?: USING btree)? ?(\(.*)$/s.exec(text) ?? [];
  return (
    terms
      .replace(/CAST|::\w+(\[\])?|COLLATE "C"|\bNULLS (FIRST|LAST)\b/g, '')
      // PostgreSQL quotes names that are keywords.
      .replaceAll('"', '')
      .replace(/= ANY \(ARRAY\[(.*?)\]\)/g, 'IN ($1)')
      .replace(/<> ALL \(ARRAY\[(.*?)\]\)/g, 'NOT IN ($1)')
      .replace(/[()\s]+/g, ' ')
      .replace(/ ,/g, ',')
      .replace('COALESCE', 'coalesce')
      .trim()
  );
}

function shapeOfSqlite(folder: string): Shape {
  const { sqlite, close } = openDatabase(':memory:');
  migrate(sqlite, folder);
  const shape: Shape = {};
  const tables = sqlite
    .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name <> 'migrations' ORDER BY name")
    .pluck()
    .all() as string[];
  for (const table of tables.filter((name) => !OWN.test(name) && !name.startsWith('sqlite_'))) {
    const columns = sqlite.pragma(`table_info(${table})`) as {
      name: string;
      type: string;
      notnull: bigint;
      pk: bigint;
    }[];
    const isView = sqlite.prepare('SELECT type FROM sqlite_schema WHERE name = ?').pluck().get(table) === 'view';
    shape[table] = columns.map(({ name, type, notnull, pk }) =>
      isView ? name : `${name} ${KINDS[type]}${notnull || pk ? ' NOT NULL' : ''}${pk ? ` key ${pk}` : ''}`,
    );
    const made = sqlite
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
      .all(table) as { name: string; sql: string }[];
    shape[table].push(...made.map(({ name, sql }) => `index ${name}: ${termsOf(sql)}`));
    const unique = sqlite.pragma(`index_list(${table})`) as { name: string; origin: string }[];
    for (const { name, origin } of unique) {
      const parts = sqlite.pragma(`index_info(${name})`) as { name: string }[];
      if (origin === 'u') shape[table].push(`unique ${parts.map((part) => part.name).join(', ')}`);
    }
    shape[table].sort();
  }
  close();
  return shape;
}

async function shapeOfPostgres(client: pg.Client, schema: string): Promise<Shape> {
  const shape: Shape = {};
  const put = (table: string, line: string) => {
    if (OWN.test(table) || table === 'migrations' || line.includes('lexeme')) return;
    shape[table] = [...(shape[table] ?? []), line];
  };
  const columns = await client.query(
    `SELECT c.relname AS table, a.attname AS name, c.relkind AS kind, a.attnotnull AS is_needed,
       format_type(a.atttypid, NULL) || CASE WHEN o.collname = 'C' THEN ' C' ELSE '' END AS type,
       array_position(k.conkey, a.attnum) AS pk
     FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
     LEFT JOIN pg_collation AS o ON o.oid = a.attcollation
     LEFT JOIN pg_constraint AS k ON k.conrelid = c.oid AND k.contype = 'p'
     WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped`,
    [schema],
  );
  for (const row of columns.rows) {
    const flags = `${row.is_needed ? ' NOT NULL' : ''}${row.pk ? ` key ${row.pk}` : ''}`;
    put(row.table, row.kind === 'v' ? row.name : `${row.name} ${row.type}${flags}`);
  }
  const indexes = await client.query(
    `SELECT t.relname AS table, i.relname AS name, pg_get_indexdef(x.indexrelid) AS text, k.contype AS constraint
     FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
     LEFT JOIN pg_constraint AS k ON k.conindid = x.indexrelid
     WHERE t.relnamespace = $1::regnamespace`,
    [schema],
  );
  for (const row of indexes.rows) {
    if (row.constraint === 'u') put(row.table, `unique ${termsOf(row.text)}`);
    else if (row.constraint === null) put(row.table, `index ${row.name}: ${termsOf(row.text)}`);
  }
  for (const lines of Object.values(shape)) lines.sort();
  return shape;
}

describe('the migrations of both databases', () => {
  let client: pg.Client;
  before(async () => {
    client = new pg.Client({ connectionString: await freshPostgres() });
    await client.connect();
  });
  after(() => client.end());

  for (const [name, folder] of Object.entries(MIGRATIONS)) {
    it(`create the same ${name}`, async () => {
      const schema = SCHEMAS[name as keyof typeof MIGRATIONS];
      expect(await shapeOfPostgres(client, schema)).to.deep.equal(shapeOfSqlite(folder));
    });
  }
});
