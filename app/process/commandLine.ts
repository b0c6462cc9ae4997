/** Reads the command line of every command except the CLI. Unknown arguments are refused, never ignored. */
import { type Command, CommanderError } from 'commander';

const EXIT_USAGE = 2;

/**
 * Runs the command's action. Exits with 2 and the usage if an argument or option is unknown or missing, and with 0
 * after help. Rethrows errors of the action.
 */
export async function runCommandLine(command: Command): Promise<void> {
  prepare(command);
  try {
    await command.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) process.exit(0);
    // Commander reports only the number of excess arguments.
    const isWord = error.code === 'commander.excessArguments';
    console.error(`${isWord ? `error: unknown argument: ${command.args.join(' ')}` : error.message}\n`);
    console.error(command.helpInformation().trimEnd());
    process.exit(EXIT_USAGE);
  }
}

/** Subcommands do not inherit these settings. */
function prepare(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => {} });
  for (const child of command.commands) prepare(child);
}
