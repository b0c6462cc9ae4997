/** Records SQL statements, and counts their cost. The counts are exact: equal in every run, even on a busy machine. */
import { spawnSync } from 'node:child_process';
import Sqlite from 'better-sqlite3';
import pg from 'pg';

export interface Ran {
  text: string;
  values: unknown[];
}

const RUNNERS = ['all', 'get', 'iterate', 'run'] as const;
type Runner = (...values: unknown[]) => unknown;

/** Records every statement on any connection, of either database, until `end` is called. */
export function recordStatements(): { ran: Ran[]; end(): void } {
  const ran: Ran[] = [];
  const prototype = Object.getPrototypeOf(new Sqlite(':memory:').prepare('SELECT 1')) as Record<string, Runner>;
  const originals = RUNNERS.map((name) => [name, prototype[name] as Runner] as const);
  for (const [name, original] of originals) {
    prototype[name] = function (this: Sqlite.Statement, ...values: unknown[]) {
      ran.push({ text: this.source, values: values.flat() });
      return original.apply(this, values);
    };
  }
  const client = pg.Client.prototype as unknown as Record<'query', Runner>;
  const { query } = client;
  client.query = function (this: pg.Client, ...given: unknown[]) {
    const [text, values] = given as [string | { text: string; values?: unknown[] }, unknown];
    if (typeof text === 'string') ran.push({ text, values: Array.isArray(values) ? values : [] });
    else ran.push({ text: text.text, values: text.values ?? [] });
    return query.apply(this, given);
  };
  return {
    ran,
    end() {
      for (const [name, original] of originals) prototype[name] = original;
      client.query = query;
    },
  };
}

export interface Cost {
  /** SQLite: instructions of its virtual machine. PostgreSQL: rows and pages that the plan reads. */
  steps: number;
  /** Tables that are scanned completely. */
  whole: string[];
}

export interface Files {
  ledger: string;
  index: string;
}

/** Counts steps with SQLite's progress handler. In Python it can be called after every step. */
const COUNT_STEPS = `
import json, sqlite3, sys
asked = json.load(sys.stdin)
db = sqlite3.connect(asked['ledger'])
# SQLite has it since 3.43.
db.create_function('octet_length', 1, lambda text: None if text is None else len(text.encode()), deterministic=True)
db.execute('ATTACH DATABASE ? AS chain', (asked['index'],))
def value(v):
    if isinstance(v, dict): return int(v['whole']) if 'whole' in v else bytes.fromhex(v['bytes'])
    return v
counts = []
for text, values in asked['statements']:
    steps = 0
    def count():
        global steps
        steps += 1
        return 0
    db.set_progress_handler(count, 1)
    db.execute(text, [value(v) for v in values]).fetchall()
    db.set_progress_handler(None, 0)
    db.rollback()
    counts.append(steps)
print(json.dumps(counts))
`;

/** The cost of each statement, in the same order. All changes are rolled back. */
export function costsOnSqlite(files: Files, statements: Ran[]): Cost[] {
  const input = JSON.stringify({
    ...files,
    statements: statements.map(({ text, values }) => [text, values.map(toJson)]),
  });
  const { status, stdout, stderr } = spawnSync('python3', ['-c', COUNT_STEPS], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`python3 could not count: ${stderr}`);
  const sqlite = new Sqlite(files.ledger, { readonly: true });
  sqlite.prepare('ATTACH DATABASE ? AS chain').run(files.index);
  const costs = (JSON.parse(stdout) as number[]).map((steps, number) => {
    const { text, values } = statements[number] as Ran;
    const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
    return { steps, whole: plan.flatMap(({ detail }) => (detail.startsWith('SCAN ') ? detail.slice(5) : [])) };
  });
  sqlite.close();
  return costs;
}

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { whole: String(value) };
  if (Buffer.isBuffer(value)) return { bytes: value.toString('hex') };
  return value;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
  [name: string]: unknown;
}

/**
 * The cost of each statement, in the same order. All changes are rolled back. With `avoidsTables`, a table is scanned
 * completely only if there is no index for the query, as if the table were large.
 */
export async function costsOnPostgres(
  client: pg.Client,
  statements: Ran[],
  { avoidsTables }: { avoidsTables: boolean },
): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (const { text, values } of statements) {
    await client.query('BEGIN');
    await client.query(`SET LOCAL enable_seqscan = ${avoidsTables ? 'off' : 'on'}`);
    const { rows } = await client.query({ text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values });
    await client.query('ROLLBACK');
    const root = rows[0]['QUERY PLAN'][0].Plan as PlanNode;
    costs.push({ steps: stepsOf(root), whole: wholeTablesOf(root) });
  }
  return costs;
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Rows that scans read, including those they filter out, plus all pages read. */
function stepsOf(root: PlanNode): number {
  const blocks = (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0);
  const scans = nodesOf(root).filter((node) => / Scan$/.test(node['Node Type']));
  return scans.reduce((sum, node) => {
    const removed = Object.entries(node).filter(([name]) => name.startsWith('Rows Removed by'));
    const looked = removed.reduce((rows, [, number]) => rows + Number(number), node['Actual Rows'] ?? 0);
    return sum + looked * (node['Actual Loops'] ?? 0);
  }, blocks);
}

const wholeTablesOf = (root: PlanNode): string[] =>
  nodesOf(root).flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? []) : []));
