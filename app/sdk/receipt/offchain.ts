/**
 * Solana's off-chain messages, version 0: the envelope that hardware wallets, and the wallets in front of them, sign in
 * place of a text. https://docs.anza.xyz/proposals/off-chain-message-signing
 */
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { verifyMessage } from './receipt.ts';

const PREFIX = concatBytes(Uint8Array.of(0xff), utf8ToBytes('solana offchain'), Uint8Array.of(0));
/** Printable ASCII, short UTF-8, long UTF-8. Wallets differ about line breaks. */
const FORMATS = [0, 1, 2];
const APPLICATION_BYTES = 32;
const KEY_BYTES = 32;

/**
 * True if the wallet signed the text, or an envelope around it. An envelope may name an application, which nobody can
 * guess: it is then needed as `signed`, the bytes that the wallet says it has signed.
 */
export function verifySignedText(
  wallet: Uint8Array,
  text: string,
  signature: string,
  signed: Uint8Array | null = null,
): boolean {
  if (signed) return textOf(signed, wallet) === text && verifyMessage(wallet, signed, signature);
  return [utf8ToBytes(text), ...envelopesOf(text, wallet)].some((bytes) => verifyMessage(wallet, bytes, signature));
}

/** The envelopes that wallets put around a text: the first form, of Ledger's libraries, and the standard's. */
function envelopesOf(text: string, wallet: Uint8Array): Uint8Array[] {
  const content = utf8ToBytes(text);
  const length = Uint8Array.of(content.length & 0xff, content.length >> 8);
  const standard = concatBytes(PREFIX, new Uint8Array(APPLICATION_BYTES));
  return FORMATS.flatMap((format) => [
    concatBytes(PREFIX, Uint8Array.of(format), length, content),
    concatBytes(standard, Uint8Array.of(format, 1), wallet, length, content),
  ]);
}

/** The text of bytes that a wallet has signed, with or without an envelope; null if it is not this wallet's text. */
export function textOf(signed: Uint8Array, wallet: Uint8Array): string | null {
  if (!startsWith(signed, PREFIX)) return decode(signed);
  const first = contentAt(signed, PREFIX.length + 1);
  if (first) return decode(first);
  const countAt = PREFIX.length + APPLICATION_BYTES + 1;
  const count = signed[countAt] ?? 0;
  const signers = Array.from({ length: count }, (_, at) =>
    signed.subarray(countAt + 1 + at * KEY_BYTES, countAt + 1 + (at + 1) * KEY_BYTES),
  );
  const content = contentAt(signed, countAt + 1 + count * KEY_BYTES);
  return content && signers.some((signer) => startsWith(signer, wallet)) ? decode(content) : null;
}

/** The content behind its length; null unless both fill the rest. */
function contentAt(signed: Uint8Array, at: number): Uint8Array | null {
  const [low, high] = signed.subarray(at, at + 2);
  const content = signed.subarray(at + 2);
  return low !== undefined && high !== undefined && content.length === low + high * 256 ? content : null;
}

const startsWith = (bytes: Uint8Array, start: Uint8Array): boolean =>
  bytes.length >= start.length && start.every((byte, at) => bytes[at] === byte);

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
