/** Runs the command line: as a process, as a person does, or in this process, for tests with many steps. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { runCommand } from '../../app/cli/run.ts';
import { undisturbed } from '../harness/edge/undisturbed.ts';
import { useFolder } from '../harness/folder.ts';
import { ROOT } from '../local/start.ts';

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the CLI with these arguments, without the settings that this process inherited. */
export function cli(args: string[], env: Record<string, string> = {}): Promise<Run> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTINGS.includes(name)));
  const options = { cwd: ROOT, env: { ...inherited, ...env } };
  return new Promise((resolve) => {
    const argv = ['scripts/run.mjs', 'app/cli/main.ts', ...args];
    execFile(process.execPath, argv, options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

/** A creator's file, beside its signing key, but for the name and the endpoint of the agent. */
export const AGENT_FILE = {
  tagline: 'Does something.',
  description: 'Does it well.',
  display_name: 'Ada',
  tags: ['data'],
  price_usdc: '0.25',
  timeout_seconds: 30,
  input_schema: { type: 'object', properties: {} },
  output_schema: { type: 'string' },
  signing_key: 'signing.json',
};

/** The environment variables that commands read. */
const SETTINGS = ['MARKETPLACE_URL', 'SOLANA_RPC_URL', 'SOLANA_KEYPAIR', 'DATA_DIR', 'INIT_CWD'];

let last: Promise<unknown> = Promise.resolve();

/** Like `cli`, but in this process, one command after another. Output is captured from the console. */
export function runHere(words: string[], env: Record<string, string> = {}): Promise<Run> {
  const run = last.then(() => runAlone(words, env));
  last = run;
  return run;
}

async function runAlone(words: string[], env: Record<string, string>): Promise<Run> {
  const { log, error } = console;
  const printed = { stdout: '', stderr: '' };
  const before = { ...process.env };
  for (const name of SETTINGS) delete process.env[name];
  Object.assign(process.env, env);
  console.log = (text) => (printed.stdout += `${text}\n`);
  console.error = (text) => {
    // web3.js prints this for connections of earlier files, whose nodes have stopped.
    if (text !== 'ws error:') printed.stderr += `${text}\n`;
  };
  try {
    return { code: await runCommand(words), ...printed };
  } finally {
    Object.assign(console, { log, error });
    for (const name of SETTINGS) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

/** Runs a `creator test`, again if a pause of this computer spoiled it. */
export const testUndisturbed = (run: () => Promise<Run>): Promise<Run> =>
  undisturbed(async () => {
    const ran = await run();
    return { ...ran, failed: [...ran.stderr.matchAll(/^failed (\w+): /gm)].map(([, name]) => name!) };
  });

/** Runs commands on the chain of a suite, signed by the test's wallets. */
export function useTerminal(rpcUrl: () => string) {
  const directory = useFolder('cli');
  const path = (name: string): string => join(directory, name);
  /** Writes a file for a command to read; returns its path. */
  const file = (name: string, content: string): string => {
    writeFileSync(path(name), content);
    return path(name);
  };
  const run = (wallet: Keypair, words: string[]): Promise<Run> => {
    const keypair = file(`${wallet.publicKey}.json`, JSON.stringify([...wallet.secretKey]));
    return runHere([...words, '--rpc-url', rpcUrl(), '--keypair', keypair, '--json']);
  };
  const parse = ({ code, stdout, stderr }: Run) => {
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout);
  };
  return {
    /** The path of a file in the same directory. */
    path,
    file,
    run,
    /** Runs a command that succeeds, and returns its result. */
    done: async (wallet: Keypair, ...words: string[]) => parse(await run(wallet, words)),
    /** Runs a command that is refused, and returns its message. */
    async refused(wallet: Keypair, ...words: string[]): Promise<string> {
      const { code, stdout, stderr } = await run(wallet, words);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      return stderr;
    },
    /** Runs a command without a signer, and returns its result. */
    look: async (...words: string[]) => parse(await runHere([...words, '--rpc-url', rpcUrl(), '--json'])),
  };
}
