/** `npm run relay -- reconcile`: proves that escrows, journal and index agree, and prints the differences. */
import type { Command } from 'commander';
import { formatUsdc, toUsdc } from '../../sdk/wire/usdc.ts';
import { connectForReading } from '../../solana/rpc.ts';
import { type DatabasePlace, openViews } from '../ledger/open.ts';
import { DIFFERENCES, type DifferenceKind } from './compare.ts';
import { type Reconciliation, reconcile } from './sweep.ts';

const EXIT_AGREES = 0;
const EXIT_DIFFERS = 1;
const EXIT_UNKNOWN = 2;
/** Maximum time for a search through all escrows. */
const ANSWER_MS = 60_000;

/** The places of the tables, and the node's URL. */
type ReconcilePlaces = DatabasePlace & { rpcUrl: string };

/** `readPlaces` returns the places of files and node; it is called when the command runs. */
export function addReconcileCommand(program: Command, readPlaces: () => ReconcilePlaces): void {
  program
    .command('reconcile')
    .description('Compares every escrow with the journal and the index. Reads only; the relay can keep running.')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `\nSet SOLANA_RPC_URL and DATA_DIR (or DATABASE_URL). Exit code 0: all agree; 1: differences; 2: the check failed.
Differences are checked again for a few seconds, because running processes can be a moment apart. Kinds of differences:\n
${Object.entries(DIFFERENCES)
  .map(([kind, meaning]) => `  ${kind.padEnd(16)} ${meaning}`)
  .join('\n')}`,
    )
    .action(async ({ json }: { json?: true }) => {
      try {
        const found = await run(readPlaces());
        console.log(json ? JSON.stringify(toJson(found)) : toText(found));
        process.exitCode = found.agrees ? EXIT_AGREES : EXIT_DIFFERS;
      } catch (error) {
        console.error((error as Error).message);
        process.exitCode = EXIT_UNKNOWN;
      }
    });
}

async function run({ rpcUrl, ...place }: ReconcilePlaces): Promise<Reconciliation> {
  const opened = await openViews(place);
  try {
    const connection = connectForReading(rpcUrl, new AbortController().signal, ANSWER_MS);
    return await reconcile({ connection, views: opened.db });
  } finally {
    await opened.close();
  }
}

export function toJson(found: Reconciliation): Record<string, unknown> {
  const { escrow_total, ...rest } = found;
  return { ...rest, escrow_total_usdc: toUsdc(escrow_total) };
}

export function toText(found: Reconciliation): string {
  const { open_records, escrow_total, journal_rows, index_rows, keys, differences, differences_total } = found;
  const checked = `${open_records} open records holding ${formatUsdc(escrow_total)} USDC, ${journal_rows} rows of the journal, ${index_rows} of the index, ${keys} keys`;
  if (found.agrees) return `All agree: ${checked}.`;
  const lines = differences.map(({ kind, subject, detail }) => `${kind}  ${subject}  ${detail}`);
  const kinds = [...new Set<DifferenceKind>(differences.map(({ kind }) => kind))];
  const legend = kinds.map((kind) => `  ${kind.padEnd(16)} ${DIFFERENCES[kind]}`);
  const listed = differences.length < differences_total ? ` (the first ${differences.length} are listed)` : '';
  return [...lines, '', ...legend, '', `${differences_total} differences${listed} in ${checked}.`].join('\n');
}
