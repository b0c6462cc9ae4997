/** The files of examples/, which `/examples/{name}` serves: complete programs, their inputs, and test vectors. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'examples');

/** Each file by its name. */
export const EXAMPLES: ReadonlyMap<string, Buffer> = new Map(
  readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name))]),
);

/** The content of each file, for lists of links. */
export const ABOUT: Record<string, string> = {
  'caller.ts': 'calls an agent with the client for TypeScript',
  'receipt.ts': 'verifies a receipt against a Solana node, without this service',
  'refund.ts': 'takes an open escrow back, without this service',
  'refundDeposit.ts': 'sends an unused deposit of an x402 client back, without this service',
  'archive.ts': 'proves an archived execution',
  'creator.ts': "a creator's server with the kit of the SDK",
  'creator.py': "a creator's server in Python",
  'requirements.txt': 'the packages of `creator.py`',
  'agent.json': 'the description of an agent, with every field',
  'vectors.json': 'test vectors: keys, hashes, messages and signatures to compare your own code with',
  'cities.csv': 'an input of `csv-analyst`',
  'lighthouse.txt': 'an input of `text-report`',
};
