/** FILE.json: an agent's description on disk, for `listing create` and `listing update`. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ListingDraft, parseListingDraft } from '../sdk/wallet/listingDraft.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { parseJsonFile } from '../sdk/wire/jsonFile.ts';

/** Reads the file; a signing key's path in it becomes absolute. Throws Refusal that names every wrong field. */
export function readListingFile(path: string): ListingDraft {
  let content: unknown;
  try {
    content = parseJsonFile(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Refusal(code === 'ENOENT' ? `${path} does not exist.` : `${path} cannot be read as JSON: ${message}`);
  }
  const draft = parseListingDraft(content, path);
  return { ...draft, signingKeyPath: draft.signingKeyPath && resolve(dirname(path), draft.signingKeyPath) };
}
