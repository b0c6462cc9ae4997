/** How every command of this project but the CLI reads its command line: what is not understood is refused, never passed over. */
import { type Command, CommanderError } from 'commander';

const EXIT_USAGE = 2;

/**
 * Runs the command's action. Exits with 2 and the usage where a word or an option is unknown or missing, and with 0 once
 * help was shown. What the action throws goes through.
 */
export async function runCommandLine(command: Command): Promise<void> {
  prepare(command);
  try {
    await command.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) process.exit(0);
    // Commander only counts the words that are too many.
    const isWord = error.code === 'commander.excessArguments';
    console.error(`${isWord ? `error: not understood: ${command.args.join(' ')}` : error.message}\n`);
    console.error(command.helpInformation().trimEnd());
    process.exit(EXIT_USAGE);
  }
}

/** Subcommands do not inherit it. */
function prepare(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => {} });
  for (const child of command.commands) prepare(child);
}
