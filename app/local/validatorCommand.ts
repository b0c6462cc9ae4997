/** The command that starts `solana-test-validator` as the node of a marketplace on this computer. */
import { join } from 'node:path';
import { PROGRAM_ID } from '../sdk/program/program.ts';
import { quote } from './greeting.ts';
import { PROGRAM_ARTIFACT } from './network.ts';

/**
 * Number of shreds to keep: enough for days of a quiet chain. The index cannot be rebuilt from history that the
 * validator has dropped.
 */
const KEPT_SHREDS = 100_000_000;

/**
 * The command and its arguments. The program exists from the first block, and the demo admin may upgrade it. A
 * deployment would need the keypair of the program's address, which is not published.
 */
export function validatorCommand(dataDir: string): string[] {
  return [
    'solana-test-validator',
    ...['--ledger', join(dataDir, 'validator')],
    ...['--upgradeable-program', PROGRAM_ID.toBase58(), PROGRAM_ARTIFACT, join(dataDir, 'demo', 'admin.json')],
    ...['--limit-ledger-size', String(KEPT_SHREDS)],
  ];
}

/** The command as one line to type in a shell. */
export const commandLine = (words: readonly string[]): string => words.map(quote).join(' ');
