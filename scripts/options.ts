/** What the commands for long tests and figures share: numbers from a command line, and its end. */
import { type Command, InvalidArgumentError } from 'commander';
import { runCommandLine } from '../app/process/commandLine.ts';

/** A parser of whole numbers from `least` on. */
export function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
  };
}

/** Minutes above zero, whole or not. */
export function toMinutes(text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new InvalidArgumentError('It must be above zero.');
}

/** Reads the command line and runs the command's action; exits with 2 for wrong options, else with `exitCode`. */
export async function runScript(command: Command): Promise<never> {
  await runCommandLine(command);
  process.exit();
}
