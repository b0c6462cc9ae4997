/**
 * The command line of creators, callers and the admin: `npm run cli -- GROUP COMMAND`. It uses only what anyone can
 * use: a Solana node, the wallet's own keypair file and, if a command needs it, the service's API.
 */
import { runCommand } from './run.ts';

process.exitCode = await runCommand(process.argv.slice(2));
