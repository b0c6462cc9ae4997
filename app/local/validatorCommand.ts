/** The command that starts `solana-test-validator` as the node of a marketplace on this computer. */
import { join } from 'node:path';
import { PROGRAM_ID } from '../sdk/program/program.ts';
import { quote } from './greeting.ts';
import { PROGRAM_ARTIFACT } from './network.ts';

export const VALIDATOR = 'solana-test-validator';

/**
 * Number of shreds to keep: enough for days of a quiet chain. The index cannot be rebuilt from history that the
 * validator has dropped.
 */
const KEPT_SHREDS = 100_000_000;

/** Finality as on today's clusters. Slots of 200 ms begin with the second epoch, so the first one is short. */
const ALPENGLOW = ['--alpenglow', '--slots-per-epoch', '64'];

/**
 * The command and its arguments. The program exists from the first block, and the demo admin may upgrade it. A
 * deployment would need the keypair of the program's address, which is not published. `help` is what the installed
 * version prints for `--help`: one older than 4.3 has no Alpenglow. Without `help` it is for 4.3.
 */
export function validatorCommand(dataDir: string, help?: string): string[] {
  const knows = (option: string) => help?.includes(option) ?? true;
  return [
    VALIDATOR,
    ...(knows('--alpenglow') ? ALPENGLOW : []),
    ...['--ledger', join(dataDir, 'validator')],
    ...['--upgradeable-program', PROGRAM_ID.toBase58(), PROGRAM_ARTIFACT, join(dataDir, 'demo', 'admin.json')],
    ...[knows('--limit-blockstore-size') ? '--limit-blockstore-size' : '--limit-ledger-size', String(KEPT_SHREDS)],
  ];
}

/** The command as one line to type in a shell. */
export const commandLine = (words: readonly string[]): string => words.map(quote).join(' ');
