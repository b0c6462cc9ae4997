/** What statements cost SQLite: those that were run, and the steps that each takes, counted exactly. */
import { spawnSync } from 'node:child_process';
import Sqlite from 'better-sqlite3';

export interface Ran {
  text: string;
  values: unknown[];
}

const RUNNERS = ['all', 'get', 'iterate', 'run'] as const;
type Runner = (...values: unknown[]) => unknown;

/** Remembers every statement that is run on any connection, with its values, until `end`. */
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
  return {
    ran,
    end() {
      for (const [name, original] of originals) prototype[name] = original;
    },
  };
}

/** SQLite calls a progress handler after so many steps of its machine; Python's can ask for each. */
const COUNT_STEPS = `
import json, sqlite3, sys
asked = json.load(sys.stdin)
db = sqlite3.connect(asked['ledger'])
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
    counts.append(steps)
print(json.dumps(counts))
`;

/** The steps that each of these queries takes, in their order. */
export function countSteps(files: { ledger: string; index: string }, statements: Ran[]): number[] {
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
  return JSON.parse(stdout) as number[];
}

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { whole: String(value) };
  if (Buffer.isBuffer(value)) return { bytes: value.toString('hex') };
  return value;
}
