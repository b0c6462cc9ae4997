/**
 * Sessions of wallets: the relay hands out a message, the wallet signs it (Sign In With Solana), and the signature buys a
 * token for 15 minutes, or a cookie that lasts while it is used. Messages need no memory, because their nonce carries a
 * MAC of ours; sessions are kept in memory and end with the process.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createSignInMessageText, parseSignInMessageText } from '@solana/wallet-standard-util';
import bs58 from 'bs58';
import { verifyMessage } from '../../sdk/creator/nativeReceipt.ts';
import { DEVNET_GENESIS, MAINNET_GENESIS } from '../../sdk/program/clusters.ts';
import type { SignInInput } from '../../sdk/wire/procedures.ts';
import { ApiError } from '../errors.ts';

const CHALLENGE_MS = 5 * 60 * 1000;
const SESSION_MS = 15 * 60 * 1000;
/** The longest that a cookie's session goes on, however much it is used. */
export const LONGEST_SESSION_MS = 12 * 60 * 60 * 1000;
/** Wallets cost nothing to make, so sessions are bounded; the oldest make room. */
const MAX_SESSIONS = 10_000;
/** Hex digits of a nonce that are random; its MAC, of 128 bits, follows. */
const RANDOM_DIGITS = 32;

const STATEMENT = 'Manage API keys, listings and disputes. This is no transaction and spends nothing.';

/** A challenge's message and the wallet's signature over it, base58. */
export interface SignedChallenge {
  wallet: string;
  message: string;
  signature: string;
}

export interface Session {
  wallet: string;
  /** Unix milliseconds. */
  expiresMs: number;
}

export interface Sessions {
  /** `origin`: that of the service as the wallet's page knows it. */
  challenge(wallet: string, origin: string): { message: string; sign_in: SignInInput; expires_at: string };
  /** Throws ApiError 401 unless the signature is the wallet's, over one of our messages, unexpired and unused. */
  verify(answer: SignedChallenge): { token: string; expires_at: string };
  /** The same for a cookie, whose session lasts longer while it is used. */
  signIn(answer: SignedChallenge): { cookie: string; expires_at: string };
  /** The session of a token; null where there is none or it has expired. */
  ofToken(token: string | null): Session | null;
  /** The session of a cookie, without using it. */
  peek(cookie: string | null): Session | null;
  /** The session of a cookie, which this prolongs. */
  use(cookie: string | null): Session | null;
  /** Ends a cookie's session; whether there was one. */
  end(cookie: string | null): boolean;
}

export interface SessionsDeps {
  /** The first block of the chain, base58. */
  genesisHash: string;
  /** Unix milliseconds. */
  now(): number;
}

export function createSessions(deps: SessionsDeps): Sessions {
  const secret = randomBytes(32);
  const usedMessages = new Map<string, { expiresMs: number }>();
  const tokens = new Map<string, Session>();
  // Apart from tokens, so that neither is ever taken for the other.
  const cookies = new Map<string, Session & { endsMs: number }>();

  /** The fields with a nonce that proves them ours. */
  function seal(fields: SignInInput): SignInInput {
    const mac = createHmac('sha256', secret).update(createSignInMessageText(fields)).digest('hex');
    return { ...fields, nonce: fields.nonce + mac.slice(0, 32) };
  }

  /** Expiry of a message that is ours and for this wallet; null for any other text. */
  function readMessage(wallet: string, message: string): number | null {
    const fields = parseSignInMessageText(message) as SignInInput | null;
    if (fields?.address !== wallet || !fields.nonce || !fields.expirationTime) return null;
    const sealed = seal({ ...fields, nonce: fields.nonce.slice(0, RANDOM_DIGITS) });
    return isSame(createSignInMessageText(sealed), message) ? Date.parse(fields.expirationTime) : null;
  }

  function requireSigned({ wallet, message, signature }: SignedChallenge): void {
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
  }

  function peek(cookie: string | null) {
    const session = cookie === null ? undefined : cookies.get(digest(cookie));
    return session && session.expiresMs > deps.now() ? session : null;
  }

  return {
    challenge(wallet, origin) {
      requireWallet(wallet);
      const expiresAt = new Date(deps.now() + CHALLENGE_MS).toISOString();
      const fields = seal({
        domain: new URL(origin).host,
        address: wallet,
        statement: STATEMENT,
        uri: origin,
        version: '1',
        chainId: chainIdOf(deps.genesisHash),
        nonce: randomBytes(RANDOM_DIGITS / 2).toString('hex'),
        issuedAt: new Date(deps.now()).toISOString(),
        expirationTime: expiresAt,
      });
      return { message: createSignInMessageText(fields), sign_in: fields, expires_at: expiresAt };
    },
    verify(answer) {
      requireSigned(answer);
      forget(tokens, deps.now());
      const token = randomBytes(32).toString('base64url');
      const expiresMs = deps.now() + SESSION_MS;
      tokens.set(digest(token), { wallet: answer.wallet, expiresMs });
      return { token, expires_at: new Date(expiresMs).toISOString() };
    },
    signIn(answer) {
      requireSigned(answer);
      forget(cookies, deps.now());
      const cookie = randomBytes(32).toString('base64url');
      const expiresMs = deps.now() + SESSION_MS;
      cookies.set(digest(cookie), { wallet: answer.wallet, expiresMs, endsMs: deps.now() + LONGEST_SESSION_MS });
      return { cookie, expires_at: new Date(expiresMs).toISOString() };
    },
    ofToken(token) {
      const session = token === null ? undefined : tokens.get(digest(token));
      return session && session.expiresMs > deps.now() ? session : null;
    },
    peek,
    use(cookie) {
      const session = peek(cookie);
      if (cookie === null || session === null) return null;
      const used = { ...session, expiresMs: Math.min(deps.now() + SESSION_MS, session.endsMs) };
      // Put last again, so that those which nobody uses make room first.
      cookies.delete(digest(cookie));
      cookies.set(digest(cookie), used);
      return used;
    },
    end: (cookie) => cookie !== null && cookies.delete(digest(cookie)),
  };
}

function chainIdOf(genesisHash: string): SignInInput['chainId'] {
  if (genesisHash === MAINNET_GENESIS) return 'mainnet';
  return genesisHash === DEVNET_GENESIS ? 'devnet' : 'localnet';
}

/** Entries stand nearly in the order of their expiry: one behind a later one is dropped with it. */
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
