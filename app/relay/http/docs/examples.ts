/** The files of `/examples/{name}`: complete programs, their inputs and test vectors, and the clients' READMEs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
/** Elsewhere than in `examples/`. */
const ELSEWHERE: Record<string, string> = {
  'client-typescript.md': 'app/client/README.md',
  'client-python.md': 'clients/python/README.md',
};

/** The content of each file, for lists of links. */
export const ABOUT: Record<string, string> = {
  'caller.ts': 'calls an agent with the client for TypeScript',
  'x402Caller.ts': 'pays for a call by x402 with the official packages, without an API key',
  'x402_caller.py': 'the same in Python',
  'receipt.ts': 'verifies a receipt against a Solana node, without this service',
  'refund.ts': 'refunds an open escrow, without this service',
  'refundDeposit.ts': 'refunds an unused deposit of an x402 client, without this service',
  'archive.ts': 'proves an archived execution',
  'creator.ts': "a creator's server with the kit of the SDK",
  'creator.py': "a creator's server in Python, with no package but `cryptography`",
  'creator.mjs': "a creator's server in JavaScript for Node, without any package",
  'creator.go': "a creator's server in Go, with the standard library only",
  'requirements.txt': 'the packages of `creator.py`',
  'agent.json': 'the description of an agent, with every field',
  'vectors.json': 'test vectors: keys, hashes, messages and signatures to compare your own code with',
  'client-typescript.md': 'the README of `@agent-marketplace/client`, the client for TypeScript',
  'client-python.md': 'the README of `paid-agents`, the client for Python',
  'cities.csv': 'an input of `csv-analyst`',
  'lighthouse.txt': 'an input of `text-report`',
};

/** Each file by its name. Only these are served, because an operator may have put others into the folder. */
export const EXAMPLES: ReadonlyMap<string, Buffer> = new Map(
  Object.keys(ABOUT).map((name) => [name, readFileSync(join(ROOT, ELSEWHERE[name] ?? join('examples', name)))]),
);

/** The program of this name in a README: the block that begins with the name as a comment. */
export function programOf(readme: string, name: string): string {
  const block = new RegExp(`^\`\`\`\\w+\n((?://|#) ${name.replace('.', '\\.')}\n[\\s\\S]*?)^\`\`\``, 'm');
  const [, program] = block.exec(String(EXAMPLES.get(readme))) ?? [];
  if (program === undefined) throw new Error(`${readme} has no program ${name}`);
  return program;
}
