/**
 * Solana's off-chain messages, versions 0 and 1: the envelope that hardware wallets, and the wallets in front of them,
 * sign in place of a text. https://docs.anza.xyz/proposals/off-chain-message-signing
 */
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { verifyMessage } from './receipt.ts';

const PREFIX = concatBytes(Uint8Array.of(0xff), utf8ToBytes('solana offchain'));
const VERSION_0 = concatBytes(PREFIX, Uint8Array.of(0));
/** Its text, behind its signers, fills the rest. */
const VERSION_1 = concatBytes(PREFIX, Uint8Array.of(1));
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

/** The envelopes that wallets put around a text: the first form, of Ledger's libraries, and the standard's two. */
function envelopesOf(text: string, wallet: Uint8Array): Uint8Array[] {
  const content = utf8ToBytes(text);
  const length = Uint8Array.of(content.length & 0xff, content.length >> 8);
  const standard = concatBytes(VERSION_0, new Uint8Array(APPLICATION_BYTES));
  return [
    ...FORMATS.flatMap((format) => [
      concatBytes(VERSION_0, Uint8Array.of(format), length, content),
      concatBytes(standard, Uint8Array.of(format, 1), wallet, length, content),
    ]),
    concatBytes(VERSION_1, Uint8Array.of(1), wallet, content),
  ];
}

/** The text of bytes that a wallet has signed, with or without an envelope; null if it is not this wallet's text. */
export function textOf(signed: Uint8Array, wallet: Uint8Array): string | null {
  if (startsWith(signed, VERSION_1)) {
    const { signers, end } = signersAt(signed, VERSION_1.length);
    return signers.some((signer) => startsWith(signer, wallet)) ? decode(signed.subarray(end)) : null;
  }
  if (!startsWith(signed, VERSION_0)) return decode(signed);
  const first = contentAt(signed, VERSION_0.length + 1);
  if (first) return decode(first);
  const { signers, end } = signersAt(signed, VERSION_0.length + APPLICATION_BYTES + 1);
  const content = contentAt(signed, end);
  return content && signers.some((signer) => startsWith(signer, wallet)) ? decode(content) : null;
}

/** The keys behind their number, and the index after them. */
function signersAt(signed: Uint8Array, at: number): { signers: Uint8Array[]; end: number } {
  const count = signed[at] ?? 0;
  const signers = Array.from({ length: count }, (_, index) =>
    signed.subarray(at + 1 + index * KEY_BYTES, at + 1 + (index + 1) * KEY_BYTES),
  );
  return { signers, end: at + 1 + count * KEY_BYTES };
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
