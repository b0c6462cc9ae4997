/**
 * csv-analyst: answers one SQL question about one CSV text. Each execution runs `csvWorker.mjs` in a process that is
 * killed at its timeout. So neither an endless query nor one that needs much memory affects the server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ExecutionFailure, type ExecutionOutput, type ExecutionRequest } from '../../sdk/creator/creator.ts';

const WORKER = fileURLToPath(new URL('./csvWorker.mjs', import.meta.url));
const MAX_CSV_BYTES = 1024 * 1024;
/** Counted in steps. A pause of this computer counts as one step, so it stops no query that had no time to run. */
const QUERY_MS = 2000;
const STEP_MS = 100;
/** Reading the largest CSV takes about two seconds on a slow machine. */
const LOAD_MS = 15_000;
/**
 * Limits that the operating system enforces even if this process has ended: 512 MiB of data, because nothing else
 * limits SQLite's memory, and 20 s of processor time. If a system lacks one limit, the other still applies.
 */
const LIMITED = 'ulimit -d 524288 2>/dev/null; ulimit -t 20 2>/dev/null; exec "$0" "$1"';
/** More workers would only share the same processors. Further executions queue. */
const MAX_WORKERS = 2;

type WorkerMessage = { type: 'loaded' } | { type: 'rows'; json: string } | { type: 'failure'; reason: string };

const workers = new Set<ChildProcess>();
const waiting: (() => void)[] = [];
let taken = 0;

process.on('exit', () => {
  for (const worker of workers) worker.kill('SIGKILL');
});

/** Answers `{"columns", "rows", "row_count"}` as JSON text. Any other outcome is an ExecutionFailure. */
export async function analyseCsv(
  { parameters }: ExecutionRequest,
  { signal }: { signal: AbortSignal },
): Promise<ExecutionOutput> {
  const { csv, query } = parameters;
  if (typeof csv !== 'string' || csv === '')
    throw new ExecutionFailure('parameters.csv must be the text of a CSV file');
  if (typeof query !== 'string' || query === '')
    throw new ExecutionFailure('parameters.query must be an SQL statement');
  if (Buffer.byteLength(csv) > MAX_CSV_BYTES) throw new ExecutionFailure('parameters.csv is larger than 1 MiB');
  await takeTurn();
  try {
    signal.throwIfAborted();
    return { result: await runWorker({ csv, query }, signal) };
  } finally {
    endTurn();
  }
}

function runWorker(job: { csv: string; query: string }, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // An empty environment: the worker needs nothing of ours, and TypeScript's loader would only slow it down.
    const worker = spawn('/bin/sh', ['-c', LIMITED, process.execPath, WORKER], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    workers.add(worker);
    let timer = setTimeout(() => end(new ExecutionFailure('CSV: reading took longer than 15 s')), LOAD_MS);
    const onAbort = (): void => end(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });

    function end(outcome: Error | string): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      worker.kill('SIGKILL');
      if (typeof outcome === 'string') resolve(outcome);
      else reject(outcome);
    }

    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'rows') return end(message.json);
      if (message.type === 'failure') return end(new ExecutionFailure(message.reason));
      clearTimeout(timer);
      let left = QUERY_MS / STEP_MS;
      timer = setInterval(() => {
        left -= 1;
        if (left === 0) end(new ExecutionFailure('SQL: the query was stopped after 2 s'));
      }, STEP_MS);
    });
    worker.on('error', end);
    // After an answer this changes nothing. Without one, the worker was killed by its limits or crashed.
    worker.on('exit', () => {
      workers.delete(worker);
      end(new ExecutionFailure('the CSV and the query need too much memory or time'));
    });
    worker.send(job);
  });
}

async function takeTurn(): Promise<void> {
  if (taken < MAX_WORKERS) taken += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
}

/** Starts the execution that has waited longest, or frees a worker slot. */
function endTurn(): void {
  const next = waiting.shift();
  if (next) next();
  else taken -= 1;
}
