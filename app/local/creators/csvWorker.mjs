/**
 * One query of csv-analyst in a separate process: CSV into an in-memory SQLite table, one statement, rows as JSON.
 * SQLite cannot be stopped from another thread, so a query with a 2 s timeout must run in a process. Plain JavaScript,
 * because a process without TypeScript starts in a tenth of a second.
 *
 *     in   {csv, query}
 *     out  {type: 'loaded'} when the query is about to run, then {type: 'rows', json} or {type: 'failure', reason}
 */

import Database from 'better-sqlite3';
import Big from 'big.js';
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
  const records = parseRecords(csv, formOf(csv));
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

/**
 * The separator of fields, and the line of the first record. Spreadsheets of many countries write semicolons or tabs, and
 * may name them in a first line `sep=;`.
 */
function formOf(csv) {
  const named = /^\uFEFF?sep=(.)(?=[\r\n])/i.exec(csv)?.[1];
  if (named) return { delimiter: named, from_line: 2 };
  const unquoted = csv.replace(/"[^"]*"?/g, '""');
  const header = unquoted.split(/[\r\n]/).find((line) => line.trim() !== '') ?? '';
  return { delimiter: [',', ';', '\t'].find((one) => header.includes(one)) ?? ',', from_line: 1 };
}

/** SQLite would read only the text before it. */
function refuseNul(what, text) {
  if (text.includes('\0')) throw new Refusal(`${what} contains the character U+0000`);
}

function parseRecords(csv, form) {
  try {
    return parse(csv, {
      bom: true,
      info: true,
      relax_column_count: true,
      ...form,
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

function isReal(value) {
  if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(value)) return false;
  // A double holds every number of 15 digits.
  if (value.length <= 15 && !/e/i.test(value)) return true;
  const number = Number(value);
  return Number.isFinite(number) && Big(number).eq(value);
}

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
  addFunctions(database);
  database.pragma('temp_store = MEMORY');
  database.pragma('query_only = ON');
  return database;
}

/**
 * Functions whose answers would be wrong without a word. SQLite adds `1,000` as 1 and `n/a` as 0, adds decimals as binary
 * fractions, and changes the case of ASCII letters only.
 */
function addFunctions(database) {
  const changeCase = (change) => (value) => (typeof value === 'string' ? change(value) : value);
  const exact = { deterministic: true, safeIntegers: true };
  database.function(
    'upper',
    exact,
    changeCase((text) => text.toUpperCase()),
  );
  database.function(
    'lower',
    exact,
    changeCase((text) => text.toLowerCase()),
  );
  const sums = {
    sum: (sum) => (sum.count === 0 ? null : sum.isReal ? realOf(sum) : wholeOf(sum)),
    total: realOf,
    avg: (sum) => (sum.count === 0 ? null : realOf(sum) / sum.count),
  };
  for (const [name, result] of Object.entries(sums)) {
    const add = (sign) => (sum, value) => addTo(sum, value, sign, name);
    database.aggregate(name, {
      ...exact,
      start: () => ({ count: 0, whole: 0n, part: Big(0), isReal: false }),
      step: add(1),
      inverse: add(-1),
      result,
    });
  }
}

/** Adds a value, or takes it away if `sign` is -1. Decimals are added as they are written. */
function addTo(sum, value, sign, name) {
  if (value === null) return sum;
  const number = typeof value === 'bigint' ? value : decimalIn(value);
  if (number === null) {
    const shown = typeof value === 'string' ? `'${value.slice(0, 40)}'` : String(value);
    throw new Refusal(
      `SQL: ${name}() of ${shown}, which is not a number; select only numbers, or convert the text first`,
    );
  }
  const isAdded = sign === 1;
  sum.count += sign;
  if (typeof number === 'bigint') sum.whole += isAdded ? number : -number;
  else {
    sum.part = isAdded ? sum.part.plus(number) : sum.part.minus(number);
    sum.isReal = true;
  }
  return sum;
}

/** The number that a REAL or a TEXT value is; null if it is none. */
function decimalIn(value) {
  if (typeof value === 'number') return Number.isFinite(value) ? Big(value) : null;
  if (typeof value !== 'string') return null;
  const text = value.trim().replace(/^\+/, '');
  if (/^-?[0-9]+$/.test(text)) return BigInt(text);
  return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text) ? Big(text) : null;
}

const realOf = ({ whole, part }) => part.plus(whole.toString()).toNumber();

function wholeOf({ whole }) {
  if (whole <= INT64_MAX && whole >= -INT64_MAX - 1n) return whole;
  throw new Refusal('SQL: integer overflow; use total() for a sum beyond int64');
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
