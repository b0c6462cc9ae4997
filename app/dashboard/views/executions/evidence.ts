/** Evidence in the browser: its bytes, media type and hash. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { EVIDENCE_TYPES, type EvidenceType, MAX_EVIDENCE_BYTES } from '../../../sdk/wire/procedures.ts';

export interface Evidence {
  bytes: Uint8Array;
  mediaType: EvidenceType;
  hash: Uint8Array;
  hashHex: string;
}

const KIB = 1_024;
export const MAX_KIB = MAX_EVIDENCE_BYTES / KIB;
/** Types offered for a file. A file of unknown type is sent as bytes; files of other types are refused. */
export const ACCEPTED = EVIDENCE_TYPES.filter((type) => type !== 'application/octet-stream').join(',');

/** Throws with a message if it is empty or too large. */
export function evidenceOf(bytes: Uint8Array, mediaType: string): Evidence {
  requireSize(bytes.length);
  const hash = sha256(bytes);
  const known = EVIDENCE_TYPES.find((type) => type === mediaType);
  return { bytes, mediaType: known ?? 'application/octet-stream', hash, hashHex: bytesToHex(hash) };
}

function requireSize(length: number): void {
  if (length === 0) throw new Error('It is empty.');
  if (length <= MAX_EVIDENCE_BYTES) return;
  const kib = Math.ceil(length / KIB);
  throw new Error(`It has ${kib} KiB, but the limit is ${MAX_KIB} KiB. Shorten it, or choose a smaller file.`);
}

/** Reads a file. Throws with a message, without reading, if its type is refused or its size is wrong. */
export async function readEvidenceFile(file: File): Promise<Evidence> {
  if (file.type !== '' && !EVIDENCE_TYPES.some((type) => type === file.type)) {
    throw new Error(`Files of the type ${file.type} are not accepted. Choose text, PDF, PNG, JPEG or JSON.`);
  }
  return readAnyFile(file);
}

/** Also a type that is refused for a new dispute: the hash on the chain may be of such a file. */
export async function readAnyFile(file: File): Promise<Evidence> {
  requireSize(file.size);
  return evidenceOf(new Uint8Array(await file.arrayBuffer()), file.type);
}

/** Bytes per call of `fromCharCode`, because the number of arguments is limited. */
const PIECE = 0x2000;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
