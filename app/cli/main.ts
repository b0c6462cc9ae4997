/**
 * The command line of creators and callers, until the dashboard exists and beside it: `npm run cli -- GROUP COMMAND`.
 * It uses what anyone could use: the service's API, a Solana node and the wallet's own keypair file.
 */
import { Command, CommanderError } from 'commander';
import { agentsCommands } from './commands/agents.ts';
import { keysCommands } from './commands/keys.ts';
import { listingCommands } from './commands/listing.ts';
import { Refusal } from './refusal.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const program = new Command('npm run cli --')
  .description('Agent Marketplace: list agents, make API keys')
  .addCommand(listingCommands())
  .addCommand(keysCommands())
  .addCommand(agentsCommands());

/** Settings are not inherited by commands that were made apart, so each command gets them. */
function throwOnExit(command: Command): void {
  command.exitOverride().showHelpAfterError('(--help shows how it is used)');
  for (const child of command.commands) throwOnExit(child);
}

throwOnExit(program);
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed what is wrong, or the help that was asked for.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  } else {
    console.error(error instanceof Refusal ? error.message : error);
    process.exitCode = EXIT_FAILED;
  }
}
