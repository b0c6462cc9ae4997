/**
 * Sessions of wallets: the relay hands out a message, the wallet signs it, and the signature buys a token for 15 minutes.
 * Messages need no memory, because they carry a MAC of ours; tokens are kept in memory and end with the process.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import bs58 from 'bs58';
import { verifyMessage } from '../../sdk/creator/nativeReceipt.ts';
import { ApiError } from '../errors.ts';

const CHALLENGE_MS = 5 * 60 * 1000;
const SESSION_MS = 15 * 60 * 1000;
/** Wallets cost nothing to make, so tokens are bounded; the oldest make room. */
const MAX_SESSIONS = 10_000;

export interface Sessions {
  challenge(wallet: string): { message: string; expires_at: string };
  /** Throws ApiError 401 unless `signature` (base58) is the wallet's over one of our messages, unexpired and unused. */
  verify(answer: { wallet: string; message: string; signature: string }): { token: string; expires_at: string };
  /** The wallet of a token; null where there is none or it has expired. */
  walletOf(token: string | null): string | null;
}

export interface SessionsDeps {
  /** Public address of the service, which stands in the message. */
  baseUrl(): string;
  /** Unix milliseconds. */
  now(): number;
}

export function createSessions(deps: SessionsDeps): Sessions {
  const secret = randomBytes(32);
  const wallets = new Map<string, { wallet: string; expiresMs: number }>();
  const usedMessages = new Map<string, { expiresMs: number }>();

  function writeMessage(wallet: string, expiresAt: string, random: string): string {
    const { host } = new URL(deps.baseUrl());
    const body = [
      `${host} wants you to sign in with your Solana account:`,
      wallet,
      '',
      'Manage API keys and listings. This is no transaction and spends nothing.',
      '',
      `Expiration Time: ${expiresAt}`,
    ].join('\n');
    const mac = createHmac('sha256', secret).update(`${random}\n${body}`).digest('hex');
    return `${body}\nNonce: ${random}${mac}`;
  }

  /** Expiry of a message that is ours and for this wallet; null for any other text. */
  function readMessage(wallet: string, message: string): number | null {
    const [, expiresAt, random] =
      /\nExpiration Time: ([0-9T:.Z-]{24})\nNonce: ([0-9a-f]{32})[0-9a-f]{64}$/.exec(message) ?? [];
    if (expiresAt === undefined || random === undefined) return null;
    return isSame(writeMessage(wallet, expiresAt, random), message) ? Date.parse(expiresAt) : null;
  }

  return {
    challenge(wallet) {
      requireWallet(wallet);
      const expiresAt = new Date(deps.now() + CHALLENGE_MS).toISOString();
      return { message: writeMessage(wallet, expiresAt, randomBytes(16).toString('hex')), expires_at: expiresAt };
    },
    verify({ wallet, message, signature }) {
      const publicKey = requireWallet(wallet);
      const expiresMs = readMessage(wallet, message);
      const isGood = expiresMs !== null && expiresMs > deps.now() && !usedMessages.has(message);
      if (!isGood || !verifyMessage(publicKey, message, `ed25519:${signature}`)) {
        throw new ApiError(
          'unauthorized',
          "The signature must be the wallet's, over a message of ours that is unexpired and unused",
        );
      }
      forget(usedMessages, deps.now());
      usedMessages.set(message, { expiresMs });
      forget(wallets, deps.now());
      const token = randomBytes(32).toString('base64url');
      const sessionEnds = deps.now() + SESSION_MS;
      wallets.set(digest(token), { wallet, expiresMs: sessionEnds });
      return { token, expires_at: new Date(sessionEnds).toISOString() };
    },
    walletOf(token) {
      const session = token === null ? undefined : wallets.get(digest(token));
      return session && session.expiresMs > deps.now() ? session.wallet : null;
    },
  };
}

/** Entries are in the order of their expiry, because all of a map live equally long. */
function forget(entries: Map<string, { expiresMs: number }>, now: number): void {
  for (const [name, { expiresMs }] of entries) {
    if (expiresMs > now && entries.size < MAX_SESSIONS) return;
    entries.delete(name);
  }
}

function requireWallet(wallet: string): Uint8Array {
  const bytes = bs58.decodeUnsafe(wallet);
  if (bytes?.length === 32) return bytes;
  throw new ApiError('invalid_request', 'The field "wallet" must be a base58 address of 32 bytes');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)));
}
