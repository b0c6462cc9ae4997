/**
 * `npm run indexer`: follows the program on a cluster and keeps the index, in a process separate from the relay. It can
 * also rebuild the index.
 */
import { Command } from 'commander';
import pino from 'pino';
import type { OpenDatabase } from '../app/database/open.ts';
import { messageOf } from '../app/database/temporary.ts';
import { runCommandLine } from '../app/process/commandLine.ts';
import { logToStandard } from '../app/process/logDestination.ts';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import { heliusHistory } from '../app/solana/helius.ts';
import { connectForReading } from '../app/solana/rpc.ts';
import { createNotices } from './chain/notices.ts';
import { describeConfig, type IndexerConfig, readConfig } from './config.ts';
import { createIndexer, type Indexer } from './indexer.ts';
import { LockLost, openFitting, openToRead, placeName } from './queries/open.ts';
import { describePruned, isBehind, lagOf, readGaps, readProgress, readPruned, readStatus } from './queries/read.ts';
import type { IndexDatabase } from './queries/tables.ts';
import { rebuild } from './repair/rebuild.ts';
import { hashIndex } from './verify/hash.ts';
import { describeDifference, verify } from './verify/verify.ts';

async function run(): Promise<void> {
  const config = readConfig(process.env);
  const log = pino({ level: config.logLevel }, logToStandard(1));
  let isStopping = false;
  const fail = (error: unknown) => {
    log.error({ error: (error as Error).message }, 'the indexer cannot continue');
    process.exitCode = 1;
  };
  const create = (): Indexer =>
    createIndexer({
      ...config,
      ...(config.helius && { history: heliusHistory(config.helius) }),
      log,
      onFailure: (error) => {
        if (error instanceof LockLost) void standBy().catch(fail);
        else {
          process.exitCode = 1;
          void indexer.stop();
        }
      },
    });
  let indexer = create();
  /** Another indexer may hold the index now. Waits, and takes over when it ends. */
  async function standBy(): Promise<void> {
    await indexer.stop();
    if (isStopping) return;
    indexer = create();
    await indexer.start();
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      isStopping = true;
      void indexer.stop();
    });
  }
  await indexer.start().catch((error: unknown) => {
    throw new Error(messageOf(error, placeName(config.path)), { cause: error });
  });
}

/** Results go to stdout alone, so that a program can read them. */
function print(json: boolean | undefined, fields: Record<string, unknown>, text: string): void {
  console.log(json ? JSON.stringify(fields) : text);
}

async function runHash({ json }: { json?: true }): Promise<void> {
  const { path } = readConfig(process.env);
  const { db, close } = await openFitting(path);
  try {
    const [hash, { cursor }] = [await hashIndex(db), await readStatus(db)];
    print(json, { hash, cursor: cursor && { signature: cursor.signature, slot: Number(cursor.slot) } }, hash);
  } finally {
    await close();
  }
}

async function runRebuild({ json }: { json?: true }): Promise<void> {
  const config = readConfig(process.env);
  const log = pino({ level: config.logLevel }, logToStandard(2));
  const source = {
    connection: connectForReading(config.rpcUrl, new AbortController().signal),
    programId: PROGRAM_ID,
    notices: createNotices(),
    signaturePage: 1_000,
    ...(config.helius && { history: heliusHistory(config.helius) }),
  };
  const started = performance.now();
  await rebuild({
    path: config.path,
    ingest: source,
    log,
    onWaiting: (sessions) =>
      console.error(
        `waiting for database sessions that read the old tables: ${sessions}. pg_terminate_backend ends them.`,
      ),
  });
  const seconds = Math.round((performance.now() - started) / 1_000);
  const path = placeName(config.path);
  print(json, { path, seconds }, `${path} was rebuilt in ${seconds} s`);
}

/** Advice about slots that the node had forgotten. */
const FILL_IN =
  'To fill them in, set SOLANA_RPC_URL to a node with the whole history and run `npm run indexer -- rebuild`.';

/** Advice about transactions that could not be read. */
const CLOSE_GAP = 'Each start of the indexer tries again; a newer release may be needed.';

/** Runs `read` on an index: exit code 0 if it returns true, 1 if false, and 2 if it throws. */
async function judge(
  open: (path: string) => Promise<OpenDatabase<IndexDatabase>>,
  read: (db: OpenDatabase<IndexDatabase>['db'], config: IndexerConfig) => Promise<boolean>,
): Promise<void> {
  try {
    const config = readConfig(process.env);
    const opened = await open(config.path);
    try {
      process.exitCode = (await read(opened.db, config)) ? 0 : 1;
    } finally {
      await opened.close();
    }
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}

/** It also reads an index of another release. */
const runStatus = ({ json }: { json?: true }): Promise<void> =>
  judge(openToRead, async (db) => {
    const progress = await readProgress(db);
    const lag_ms = lagOf(progress, Date.now());
    const current = !isBehind(lag_ms);
    const pruned = await readPruned(db);
    const reach = progress ? `complete up to slot ${progress.slot}, ${lag_ms} ms ago` : 'not complete yet';
    const lacks = pruned.map((slots) => `${describePruned(slots)}: accounts were read instead. ${FILL_IN}`);
    const pruned_slots = pruned.map((slots) => [Number(slots.first_slot), Number(slots.last_slot)]);
    const gaps = (await readGaps(db)).map((gap) => ({ ...gap, slot: Number(gap.slot) }));
    const unread = gaps.map(({ reason }) => `${reason}. ${CLOSE_GAP}`);
    const slot = progress ? Number(progress.slot) : null;
    print(json, { current, slot, lag_ms, pruned_slots, gaps }, [reach, ...lacks, ...unread].join('\n'));
    return current;
  });

const runVerify = ({ json }: { json?: true }): Promise<void> =>
  judge(openFitting, async (db, config) => {
    const { rows, differences } = await verify({
      db,
      connection: connectForReading(config.rpcUrl, new AbortController().signal),
      programId: PROGRAM_ID,
      onProgress: (table, count) => console.error(`${table}: ${count} rows`),
    });
    print(json, { rows, differences }, differences.map(describeDifference).join('\n') || 'none');
    return differences.length === 0;
  });

try {
  const settings = `\nSettings come from the environment:\n\n${describeConfig()}`;
  const command = new Command('npm run indexer')
    .description('Runs the indexer: follows the program on-chain and maintains index.db.')
    .addHelpText('after', settings)
    .allowExcessArguments(false)
    .action(run);
  command
    .command('rebuild')
    .description('build a new index.db from the chain and replace the present one; relay and indexer can keep running')
    .option('--json', 'print one JSON object instead of text')
    .action(runRebuild);
  command
    .command('verify')
    .description('compare every row with its account, or its leaf, on the chain; print the differences, or `none`')
    .option('--json', 'print one JSON object instead of text')
    .addHelpText(
      'after',
      `\nReads only; an indexer can keep running. Differences are checked again for a few seconds.
Exit code 0: no differences; 1: differences; 2: the check failed.
Accounts do not contain reasons, signatures and positions; check these and the events with \`rebuild\` and \`hash\`.`,
    )
    .action(runVerify);
  command
    .command('status')
    .description(
      'print the slot up to which the index is complete, its age, any history that the node lacked, and any gaps',
    )
    .option('--json', 'print one JSON object instead of text')
    .addHelpText(
      'after',
      '\nExit code 0: at most 30 seconds old; 1: older, or still being filled; 2: the check failed.',
    )
    .action(runStatus);
  command
    .command('hash')
    .description('print the hash of all tables that are built from the chain')
    .option('--json', 'print one JSON object instead of text')
    .action(runHash);
  await runCommandLine(command);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
