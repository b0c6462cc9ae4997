/**
 * One query of csv-analyst in a separate process: CSV into an in-memory SQLite table, one statement, rows as JSON.
 * SQLite cannot be stopped from another thread, so a query with a 2 s timeout must run in a process. Plain JavaScript,
 * because a process without TypeScript starts in a tenth of a second.
 *
 *     in   {csv, query}
 *     out  {type: 'loaded'} when the query is about to run, then {type: 'rows', json} or {type: 'failure', reason}
 */

import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';

const MAX_RECORDS = 100_000;
const MAX_COLUMNS = 500;
const MAX_ROWS = 10_000;
const MAX_RESULT_BYTES = 4 * 1024 * 1024;
const INT64_MAX = 2n ** 63n - 1n;

/** A reason that the caller may read. */
class Refusal extends Error {}

/** Header and records of an RFC 4180 text, whose records may also end as on Unix or old Macs. @param {string} csv */
function parseCsv(csv) {
  refuseNul('CSV: the text', csv);
  const records = parseRecords(csv, delimiterOf(csv));
  const headerAt = records.findIndex((one) => !isBlank(one));
  if (headerAt < 0) throw new Refusal('CSV: the text has no header record');
  const [first] = records.splice(0, headerAt + 1).slice(-1);
  const header = columnNames(first.record);
  if (header.length > MAX_COLUMNS) throw new Refusal(`CSV: more than ${MAX_COLUMNS} columns`);
  if (records.length > MAX_RECORDS) throw new Refusal(`CSV: more than ${MAX_RECORDS} records`);
  const rows = [];
  for (const one of records) {
    const { record, info } = one;
    // A blank line cannot be a record of several fields; with one column it is an empty value.
    if (isBlank(one) && header.length > 1) continue;
    if (record.length !== header.length) {
      throw new Refusal(
        `CSV: the record ending on line ${info.lines} has ${record.length} fields, the header has ${header.length}`,
      );
    }
    rows.push(record);
  }
  return { header, rows };
}

const isBlank = ({ record }) => record.length === 1 && record[0].trim() === '';

/** The separator of fields: spreadsheets of many countries write semicolons or tabs. */
function delimiterOf(csv) {
  const unquoted = csv.replace(/"[^"]*"?/g, '""');
  const header = unquoted.split(/[\r\n]/).find((line) => line.trim() !== '') ?? '';
  return [',', ';', '\t'].find((one) => header.includes(one)) ?? ',';
}

/** SQLite would read only the text before it. */
function refuseNul(what, text) {
  if (text.includes('\0')) throw new Refusal(`${what} contains the character U+0000`);
}

function parseRecords(csv, delimiter) {
  try {
    return parse(csv, {
      bom: true,
      info: true,
      relax_column_count: true,
      delimiter,
      // All ends of a record: files from several systems mix them, and csv-parse would expect only the first one.
      record_delimiter: ['\r\n', '\n', '\r'],
    });
  } catch (error) {
    throw new Refusal(`CSV: ${error.message}`);
  }
}

/** Column names for SQLite: trimmed, not empty, and unique regardless of case. @param {string[]} record */
function columnNames(record) {
  const taken = new Set();
  return record.map((field, index) => {
    const wanted = field.trim() || `column_${index + 1}`;
    let name = wanted;
    for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${wanted}_${count}`;
    taken.add(name.toLowerCase());
    return name;
  });
}

/**
 * The narrowest type that fits every value without losing a digit: 007 stays text, as do whole numbers beyond int64 and
 * decimals that a double only approximates. Spaces around a number are not part of it.
 * @param {string[][]} rows @param {number} column
 */
function columnType(rows, column) {
  const values = rows.map((row) => row[column].trim()).filter((value) => value !== '');
  if (values.length === 0) return 'TEXT';
  if (values.every(isInteger)) return 'INTEGER';
  return values.every(isReal) ? 'REAL' : 'TEXT';
}

function isInteger(value) {
  if (value.length > 20 || !/^(0|-?[1-9][0-9]*)$/.test(value)) return false;
  return BigInt(value) <= INT64_MAX && BigInt(value) >= -INT64_MAX - 1n;
}

/** A double holds every number of 15 digits. */
const isReal = (value) =>
  /^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]{1,2})?$/i.test(value) && value.replace(/e.*|\D/gi, '').length <= 15;

const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

/** An in-memory database with one table `csv`, then made read-only. */
function load({ header, rows }) {
  const types = header.map((_, column) => columnType(rows, column));
  const toValue = {
    INTEGER: (text) => BigInt(text),
    REAL: (text) => Number(text),
  };
  const convert = types.map((type) => (text) => {
    if (type === 'TEXT') return text === '' ? null : text;
    return text.trim() === '' ? null : toValue[type](text);
  });
  const database = new Database(':memory:');
  const columns = header.map((name, index) => `${quoted(name)} ${types[index]}`);
  database.exec(`CREATE TABLE csv (${columns.join(', ')})`);
  const insert = database.prepare(`INSERT INTO csv VALUES (${header.map(() => '?').join(', ')})`);
  database.transaction(() => {
    for (const row of rows) insert.run(row.map((text, column) => convert[column](text)));
  })();
  database.pragma('temp_store = MEMORY');
  database.pragma('query_only = ON');
  return database;
}

/** Prepares the statement if it is exactly one read-only SELECT or WITH. */
function prepare(database, query) {
  refuseNul('SQL: the query', query);
  const keyword = /^(?:\s|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*([a-z]+)/i.exec(query)?.[1]?.toUpperCase();
  if (keyword !== 'SELECT' && keyword !== 'WITH') {
    throw new Refusal('SQL: the query must be one SELECT or WITH statement');
  }
  const statement = database.prepare(query);
  if (!statement.readonly || !statement.reader) throw new Refusal('SQL: the query must be read-only');
  return statement;
}

/** The rows as JSON text. */
function runQuery(statement) {
  const columns = statement.columns().map(({ name }) => name);
  const rows = [];
  let bytes = 0;
  for (const row of statement.raw().safeIntegers().iterate()) {
    if (rows.length === MAX_ROWS) throw new Refusal(`SQL: the query returns more than ${MAX_ROWS} rows; add a LIMIT`);
    const json = JSON.stringify(row.map(toJson));
    bytes += Buffer.byteLength(json);
    if (bytes > MAX_RESULT_BYTES) throw new Refusal('SQL: the result is larger than 4 MiB of JSON; select less');
    rows.push(json);
  }
  return `{"columns":${JSON.stringify(columns)},"rows":[${rows.join(',')}],"row_count":${rows.length}}`;
}

/** A SQLite value for JSON: values that a double or JSON cannot represent become text. */
function toJson(value) {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return Buffer.isBuffer(value) ? value.toString('hex') : value;
}

/** SQLite's own message, and the columns that help to correct the query. */
function queryRefusal(error, header) {
  if (error instanceof Refusal) return error;
  return new Refusal(`SQL: ${error.message} (columns of the table csv: ${header.map(quoted).join(', ')})`);
}

/** Resolves when the message is sent, because the next step may block this thread. */
function send(message) {
  return new Promise((resolve) => process.send(message, resolve));
}

process.once('message', async ({ csv, query }) => {
  try {
    const table = parseCsv(csv);
    const database = load(table);
    await send({ type: 'loaded' });
    try {
      await send({ type: 'rows', json: runQuery(prepare(database, query)) });
    } catch (error) {
      throw queryRefusal(error, table.header);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await send({ type: 'failure', reason: error.message.slice(0, 400) });
  }
  process.exit(0);
});
process.on('disconnect', () => process.exit(0));
