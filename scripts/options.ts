/** Shared parts of the commands for long tests and benchmarks: parsers of numeric options, and the exit. */
import { type Command, InvalidArgumentError } from 'commander';
import { runCommandLine } from '../app/process/commandLine.ts';

/** Returns a parser of integers from `least` up. */
export function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
  };
}

/** Parses a positive number of minutes, which may be fractional. */
export function toMinutes(text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new InvalidArgumentError('It must be above zero.');
}

/** Parses the command line and runs the action. Exits with 2 for wrong options, else with `exitCode`. */
export async function runScript(command: Command): Promise<never> {
  await runCommandLine(command);
  process.exit();
}
