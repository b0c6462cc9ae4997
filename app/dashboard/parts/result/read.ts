/** Finds out what an agent's result is, so that it can be shown as people read it. */
import Papa from 'papaparse';

/** A table: the names of its columns, and rows with one value for each. */
export interface Rows {
  columns: string[];
  rows: unknown[][];
}

export interface Picture {
  /** The field that contained it; empty if the result is the picture. */
  name: string;
  /** A data: URL. */
  url: string;
}

/** Ways to show a result. `text` is the exact result; the others are easier to read. */
export type Form = 'pictures' | 'table' | 'json' | 'markdown' | 'text';

export interface ReadResult {
  /** The most readable form first; always ends with `text`. */
  forms: Form[];
  pictures: Picture[];
  table: Rows | null;
  json: object | null;
}

/** Formats that cannot contain a program, unlike SVG. */
const PICTURE = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/;
const LONGEST_PICTURE = 4_000_000;
const MOST_PICTURES = 20;
/** A longer result is shown as text: reading it as a table would block the page. */
const LONGEST_TABLE = 2_000_000;
const MOST_COLUMNS = 50;
const DELIMITERS = [',', ';', '\t', '|'];
/** Signs of Markdown: headings, lists, emphasis, tables, links, code. */
const MARKDOWN = /^#{1,6} \S|^[-*+] \S|^\d+\. \S|^>\s|\*\*\S|^\|.+\||\]\(https?:|```/m;

export function readResult(text: string): ReadResult {
  const json = toObject(text);
  const pictures = picturesIn(json ?? text);
  const table = text.length > LONGEST_TABLE ? null : json ? tableOf(json) : tableOfCsv(text);
  const forms: Form[] = [];
  if (pictures.length > 0) forms.push('pictures');
  if (table) forms.push('table');
  if (json) forms.push('json');
  if (!json && !table && MARKDOWN.test(text)) forms.push('markdown');
  return { forms: [...forms, 'text'], pictures, table, json };
}

/** The object or array that the text is in JSON; null for other text. */
function toObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

const isPicture = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_PICTURE && PICTURE.test(value);

function picturesIn(result: object | string): Picture[] {
  if (typeof result === 'string') return isPicture(result.trim()) ? [{ name: '', url: result.trim() }] : [];
  return Object.entries(result)
    .filter((entry): entry is [string, string] => isPicture(entry[1]))
    .slice(0, MOST_PICTURES)
    .map(([name, url]) => ({ name, url }));
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The table in `[{...}, ...]` and `{columns, rows}`; null for other values. */
function tableOf(json: object): Rows | null {
  if (Array.isArray(json)) return json.length > 0 && json.every(isPlain) ? tableOfObjects(json) : null;
  const { columns, rows } = json as { columns?: unknown; rows?: unknown };
  if (!Array.isArray(columns) || !Array.isArray(rows) || rows.length === 0) return null;
  const names = columns.map((column) => (isPlain(column) ? column.name : column));
  if (!names.every((name): name is string => typeof name === 'string')) return null;
  if (rows.every(isPlain)) return checked({ columns: names, rows: rows.map((row) => names.map((name) => row[name])) });
  const isEven = rows.every((row): row is unknown[] => Array.isArray(row) && row.length === names.length);
  return isEven ? checked({ columns: names, rows }) : null;
}

function tableOfObjects(objects: Record<string, unknown>[]): Rows | null {
  const columns = [...new Set(objects.flatMap(Object.keys))];
  return checked({ columns, rows: objects.map((object) => columns.map((name) => object[name])) });
}

const checked = (table: Rows): Rows | null =>
  table.columns.length > 0 && table.columns.length <= MOST_COLUMNS ? table : null;

/** The table in CSV with a first line of names; null for text that only contains commas. */
function tableOfCsv(text: string): Rows | null {
  const { data, errors, meta } = Papa.parse<string[]>(text.trim(), { delimitersToGuess: DELIMITERS });
  const [columns, ...rows] = data;
  if (errors.length > 0 || !columns || columns.length < 2 || rows.length < 2) return null;
  const isNamed = columns.every((name) => name.trim() !== '') && new Set(columns).size === columns.length;
  const isEven = rows.every((row) => row.length === columns.length);
  // A sentence has a space after its comma. A line of a Markdown table begins and ends with its delimiter.
  const isProse = meta.delimiter === ',' && data.some((row) => row.slice(1).some((cell) => /^ [\p{L}"']/u.test(cell)));
  return isNamed && isEven && !isProse ? checked({ columns, rows }) : null;
}

/** A value of a table as text. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Cells that a spreadsheet would run as a formula are marked as text. The library's own pattern misses those of several lines. */
const FORMULA = /^[=+\-@\t\r\n]/;
const write = ({ columns, rows }: Rows, format?: Papa.UnparseConfig): string =>
  Papa.unparse({ fields: columns, data: rows.map((row) => row.map(cellText)) }, { escapeFormulae: FORMULA, ...format });

/** The table as CSV. */
export const toCsv = (table: Rows): string => write(table);

/** The table as spreadsheets paste it. */
export const toTabs = (table: Rows): string => write(table, { delimiter: '\t', newline: '\n' });
