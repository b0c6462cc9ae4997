/** FILE.json: an agent's description on disk, for `listing create` and `listing update`. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ListingDraft, parseListingDraft } from '../sdk/wallet/listingDraft.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { parseJsonFile } from '../sdk/wire/jsonFile.ts';
import { pictureUrl } from '../sdk/wire/picture.ts';
import { readBytes } from './commands/options.ts';

/** Reads the file and its picture; a signing key's path in it becomes absolute. Throws Refusal that names every wrong field. */
export function readListingFile(path: string): ListingDraft {
  let content: unknown;
  try {
    content = parseJsonFile(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Refusal(code === 'ENOENT' ? `${path} does not exist.` : `${path} cannot be read as JSON: ${message}`);
  }
  const draft = parseListingDraft(withPicture(content, path), path);
  return { ...draft, signingKeyPath: draft.signingKeyPath && resolve(dirname(path), draft.signingKeyPath) };
}

/** `picture` as the path of a file becomes the data: URL of its bytes. */
function withPicture(content: unknown, path: string): unknown {
  if (typeof content !== 'object' || content === null || !('picture' in content)) return content;
  const { picture } = content;
  if (typeof picture !== 'string' || picture.startsWith('data:')) return content;
  const file = resolve(dirname(path), picture);
  const url = pictureUrl(readBytes(file));
  if (url === null) throw new Refusal(`The picture ${file} is not a PNG, JPEG or WebP.`);
  return { ...content, picture: url };
}
