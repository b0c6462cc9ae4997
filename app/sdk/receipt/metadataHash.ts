/** The hash that ties a listing to its metadata document, so that neither can change alone. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Lower-case hex SHA-256 of a document's bytes: the listing's metadata_hash. */
export function hashMetadata(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}
