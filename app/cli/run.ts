/**
 * Runs the command line once, from the user's arguments to an exit code. Everything is printed through `console`:
 * results on stdout, everything else on stderr. Only the definitions of the commands are loaded at the start. An action
 * loads what it needs, so that help and usage errors appear at once.
 */
import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { refusalIn, UnknownOutcome } from '../sdk/wallet/refusal.ts';
import { withoutSecrets } from '../sdk/wire/secrets.ts';
import { explain } from './advice.ts';
import { adminCommands } from './commands/admin.ts';
import { agentsCommands } from './commands/agents.ts';
import { archiveCommands } from './commands/archive.ts';
import { creatorCommands } from './commands/creator.ts';
import { depositCommands } from './commands/deposit.ts';
import { disputeCommands } from './commands/dispute.ts';
import { executionCommands } from './commands/execution.ts';
import { gasCommands } from './commands/gas.ts';
import { keysCommands } from './commands/keys.ts';
import { listingCommands } from './commands/listing.ts';
import { localCommands } from './commands/local.ts';
import { refundCommands } from './commands/refund.ts';
import { statementCommands } from './commands/statement.ts';
import { webhooksCommands } from './commands/webhooks.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_UNKNOWN = 3;

/** Every command, as commander knows it before a run. */
export function createProgram(): Command {
  const program = new Command('npm run cli --')
    .description('Agent Marketplace: list agents, create API keys, pay for calls, dispute results, administer')
    .addCommand(creatorCommands())
    .addCommand(listingCommands())
    .addCommand(keysCommands())
    .addCommand(gasCommands())
    .addCommand(agentsCommands())
    .addCommand(executionCommands())
    .addCommand(statementCommands())
    .addCommand(webhooksCommands())
    .addCommand(depositCommands())
    .addCommand(refundCommands())
    .addCommand(disputeCommands())
    .addCommand(archiveCommands())
    .addCommand(adminCommands())
    .addCommand(localCommands());
  prepare(program);
  return program;
}

/** Runs one command. `words` are the arguments after the program's name. Returns the exit code; never throws. */
export async function runCommand(words: string[]): Promise<number> {
  try {
    await createProgram().parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    const refusal = refusalIn(error);
    console.error(withoutSecrets(refusal ? explain(refusal) : inspect(error)));
    return error instanceof UnknownOutcome ? EXIT_UNKNOWN : EXIT_FAILED;
  }
}

/** Commands made separately do not inherit settings, so each one gets them. */
function prepare(command: Command): void {
  command
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .configureOutput({
      writeOut: (text) => console.log(text.trimEnd()),
      writeErr: (text) => console.error(withoutSecrets(text.trimEnd())),
    });
  for (const child of command.commands) prepare(child);
}
