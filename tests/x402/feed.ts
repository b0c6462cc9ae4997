/** Runs a program that reads all of its input. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** What it printed; throws with its complaints if it fails. */
export async function feed(command: string, args: string[], input: string, env = process.env): Promise<string> {
  const child = spawn(command, args, { stdio: 'pipe', env });
  const closed = once(child, 'close');
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
  return stdout;
}
