/** `creator new`: writes a template into a new folder. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { createKeyFile } from './wallet.ts';

const TEMPLATES = join(import.meta.dirname, 'templates');
/** Stored without the dot, so that they do not apply to the templates themselves. */
const DOT_FILES = new Set(['gitignore', 'dockerignore']);

/** Writes the files and a new signing key. Throws Refusal if the folder has files. */
export function createFolder(folder: string, language: 'ts' | 'python') {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  if (name === '')
    throw new Refusal(`The folder name ${folder} must contain a letter or digit, because the agent gets this name.`);
  requireEmpty(folder);
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../sdk/package.json'), 'utf8'));
  for (const template of ['both', language]) {
    for (const file of readdirSync(join(TEMPLATES, template))) {
      const text = readFileSync(join(TEMPLATES, template, file), 'utf8');
      const path = join(folder, DOT_FILES.has(file) ? `.${file}` : file);
      writeFileSync(path, text.replaceAll('AGENT_NAME', name).replaceAll('SDK_VERSION', version));
    }
  }
  const { address } = createKeyFile(join(folder, 'signing-key.json'));
  return { folder, agent: name, signing_key: address, next: `${join(folder, 'README.md')} has the next steps` };
}

function requireEmpty(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    throw new Refusal(`${folder} cannot be used: ${(error as Error).message}`);
  }
  throw new Refusal(`${folder} has files already. Choose a new or an empty folder.`);
}
