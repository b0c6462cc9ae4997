/**
 * `npm run drill`: proves that the newest backup brings the ledger back. It restores the backup into a scratch place,
 * fills an index from the chain beside it, and ends with `reconcile` and `verify`. It signs nothing: a relay on the
 * scratch ledger would refund the open executions of the working one.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Connection } from '@solana/web3.js';
import { Command } from 'commander';
import { freeBytes } from '../app/process/disk.ts';
import { readToolConfig, type ToolConfig } from '../app/relay/config.ts';
import { type Backup, withWorkFolder } from '../app/relay/ledger/backup.ts';
import { type DatabasePlace, indexPath, type OpenLedger, openLedger } from '../app/relay/ledger/open.ts';
import { chooseBackup, restore } from '../app/relay/ledger/restore.ts';
import { toJson, toText } from '../app/relay/reconcile/command.ts';
import { type Reconciliation, reconcile } from '../app/relay/reconcile/sweep.ts';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import { connectForReading } from '../app/solana/rpc.ts';
import { readConfig as readIndexerConfig } from '../indexer/config.ts';
import { openPlace } from '../indexer/queries/open.ts';
import { describeDifference, type Verification, verify } from '../indexer/verify/verify.ts';
import { fillIndex, SCRATCH_DATABASE, say, withScratch } from './drill/scratch.ts';
import { runScript } from './options.ts';

const EXIT_DIFFERS = 1;
const EXIT_FAILED = 2;
/** The journal is written after the chain, and clocks differ. Longer than both together. */
const MARGIN_SECONDS = 300;
/** Time between two looks at the free space. */
const POLL_MS = 1_000;
/** Timeout of the node's answer to a search through all escrows. */
const ANSWER_MS = 60_000;
/** Tables whose rows are counted. */
const COUNTED = ['executions', 'results', 'api_keys', 'documents', 'webhook_endpoints'] as const;

interface Drilled {
  backup: Backup;
  rows: Record<(typeof COUNTED)[number], number>;
  /** Executions on the chain that the ledger lacks: a restore would lose their content. */
  missing: number;
  /** Executions and deposits that are no differences only because they are later than the backup. */
  later: number;
  reconciled: Reconciliation;
  verified: Verification;
  seconds: Record<'restore' | 'index' | 'reconcile' | 'verify', number>;
}

/** Counts rows of the restored ledger. */
async function countRows({ ledger }: OpenLedger): Promise<Drilled['rows']> {
  const counts = {} as Drilled['rows'];
  for (const table of COUNTED) {
    const { count } = await ledger.db
      .selectFrom(table)
      .select((select) => select.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow();
    counts[table] = Number(count);
  }
  return counts;
}

async function countMissing({ views }: OpenLedger): Promise<number> {
  const { count } = await views.db
    .selectFrom('chain.executions as indexed')
    .leftJoin('executions as own', 'own.execution_id', 'indexed.execution_id')
    .where('own.execution_id', 'is', null)
    .select((select) => select.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Restores, then compares; the scratch place is empty. */
async function drillIn(place: DatabasePlace, backup: Backup, config: ToolConfig): Promise<Drilled> {
  const seconds = {} as Drilled['seconds'];
  async function timed<Result>(part: keyof typeof seconds, what: string, work: () => Promise<Result>): Promise<Result> {
    say(what);
    const started = performance.now();
    const result = await work();
    seconds[part] = Math.round(performance.now() - started) / 1_000;
    return result;
  }
  const index = place.databaseUrl ?? indexPath(place.dataDir);
  await timed('restore', `Restoring ${backup.path}`, () => restore(backup, place, process.env));
  const indexer = await timed('index', 'Filling an index from the chain', () =>
    fillIndex(readIndexerConfig(process.env), index),
  );
  try {
    // Applies the migrations of this release, as a relay does.
    const opened = await openLedger(place);
    const connection = connectForReading(config.rpcUrl, new AbortController().signal, ANSWER_MS);
    const later = new Set<string>();
    const restored = {
      to: BigInt(Math.floor(backup.madeAt.getTime() / 1_000) - MARGIN_SECONDS),
      onLater: (id: string) => void later.add(id),
    };
    try {
      const [rows, missing] = [await countRows(opened), await countMissing(opened)];
      const reconciled = await timed('reconcile', 'Comparing every escrow with the ledger and the index', () =>
        reconcile({ connection, views: opened.views.db, restored }),
      );
      const verified = await timed('verify', 'Comparing every row of the index with the chain', () =>
        verifyIndex(index, connection),
      );
      return { backup, rows, missing, later: later.size, reconciled, verified, seconds };
    } finally {
      await opened.close();
    }
  } finally {
    await indexer.stop();
  }
}

async function verifyIndex(index: string, connection: Connection): Promise<Verification> {
  const { db, close } = await openPlace(index);
  try {
    const onProgress = (table: string, count: number) => say(`  ${table}: ${count} rows`);
    return await verify({ db, connection, programId: PROGRAM_ID, onProgress });
  } finally {
    await close();
  }
}

function drill(config: ToolConfig, { file, onServer = false }: Options): Promise<Drilled> {
  const { dir, minFreeBytes } = config.backup;
  const backup = chooseBackup(dir, file && resolve(config.workingFolder, file));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return withWorkFolder(dir, (folder) => {
    const interrupted = untilInterrupted(folder, minFreeBytes);
    // It may come while the scratch place is made or removed, where nobody waits for it.
    interrupted.catch(() => undefined);
    // What goes on after an interruption ends with the process, which removes the scratch place first.
    return withScratch(backup, config, { folder, onServer }, (place) =>
      Promise.race([drillIn(place, backup, config), interrupted]),
    );
  });
}

/** Rejects on a signal, and before the disk is so full that a relay beside it refuses calls. */
function untilInterrupted(folder: string, minFreeBytes: number): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new Error(`The drill was ended by ${signal}.`)));
    const look = async () => {
      const free = await freeBytes(folder);
      if (free < minFreeBytes)
        throw new Error(`Only ${free} bytes are free in ${folder}. Set BACKUP_DIR to a folder on another disk.`);
    };
    setInterval(() => look().catch(reject), POLL_MS).unref();
  });
}

interface Options {
  file?: string;
  onServer?: boolean;
  json?: true;
}

async function run({ json, ...options }: Options): Promise<void> {
  try {
    const { backup, rows, missing, later, reconciled, verified, seconds } = await drill(
      readToolConfig(process.env),
      options,
    );
    const ok = reconciled.agrees && verified.differences.length === 0;
    const { path, madeAt, bytes } = backup;
    const made_at = madeAt.toISOString();
    if (json) {
      console.log(
        JSON.stringify({
          ok,
          file: path,
          made_at,
          bytes,
          rows,
          missing,
          later,
          reconcile: toJson(reconciled),
          verify: verified,
          seconds,
        }),
      );
    } else {
      const counts = Object.entries(rows).map(([table, count]) => `${count} ${table}`);
      console.log(
        [
          `${path}, made at ${made_at}, ${bytes} bytes: restored with ${counts.join(', ')}.`,
          `${missing} executions on the chain are not in it.`,
          `reconcile: ${toText(reconciled)}`,
          `verify: ${verified.differences.map(describeDifference).join('\n') || 'none'}`,
          ok ? 'The drill succeeded: this backup can be restored.' : 'The drill found differences.',
        ].join('\n'),
      );
    }
    process.exitCode = ok ? 0 : EXIT_DIFFERS;
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = EXIT_FAILED;
  }
}

await runScript(
  new Command('npm run drill --')
    .description(
      'Restores the newest backup into a scratch place, fills an index from the chain beside it, and compares both with the chain. The working ledger and index are not touched, and nothing is signed.',
    )
    .option('--file <file>', 'the backup (default: the newest in BACKUP_DIR)')
    .option('--on-server', `restore a backup of PostgreSQL into a new database ${SCRATCH_DATABASE} beside DATABASE_URL`)
    .option('--json', 'print one JSON object; progress goes to stderr')
    .addHelpText(
      'after',
      `
Settings come from the environment, as for relay and indexer: BACKUP_DIR (or DATA_DIR), SOLANA_RPC_URL, SOLANA_WS_URL or
HELIUS_API_KEY. For a backup of PostgreSQL, PostgreSQL must be installed here: the drill starts one of its own. With
--on-server only its programs must be; the user of DATABASE_URL then needs the right CREATEDB.
The scratch place is in BACKUP_DIR and needs as much room as ledger and index. It is removed at the end.
Exit code 0: the backup can be restored; 1: there are differences; 2: the drill failed.`,
    )
    .action(run),
);
