/**
 * The command line of creators, callers and the admin: `npm run cli -- GROUP COMMAND`. It uses what anyone could use: a
 * Solana node, the wallet's own keypair file and, only where a command needs it, the service's API.
 */
import { runCommand } from './run.ts';

process.exitCode = await runCommand(process.argv.slice(2));
