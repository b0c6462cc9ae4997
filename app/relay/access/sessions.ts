/**
 * Sessions of wallets: the relay hands out a message, the wallet signs it (Sign In With Solana), and the signature buys a
 * token for 15 minutes, or a cookie that lasts while it is used. A message that nobody has answered needs no memory,
 * because its nonce carries a MAC of ours; sessions and used messages are in the ledger, by their digests, so that all
 * relays on it know them, a restart ends none, and one that was ended is ended everywhere.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createSignInMessageText, parseSignInMessageText } from '@solana/wallet-standard-util';
import bs58 from 'bs58';
import type { Kysely } from 'kysely';
import { verifyMessage } from '../../sdk/creator/nativeReceipt.ts';
import { DEVNET_GENESIS, MAINNET_GENESIS } from '../../sdk/program/clusters.ts';
import type { SignInInput } from '../../sdk/wire/procedures.ts';
import { ApiError } from '../errors.ts';
import {
  deleteSession,
  insertSession,
  prolongSession,
  readSecret,
  readSession,
  useChallenge,
} from '../ledger/sessions.ts';
import type { LedgerTables, SessionsTable } from '../ledger/tables.ts';

const CHALLENGE_MS = 5 * 60 * 1000;
const SESSION_MS = 15 * 60 * 1000;
/** The longest that a cookie's session goes on, however much it is used. */
export const LONGEST_SESSION_MS = 12 * 60 * 60 * 1000;
/** What is less than this longer is not written down: a page asks many times a minute. */
const LEAST_PROLONGING_MS = 60 * 1000;
/** Of a token or cookie: 32 random bytes. An API key is neither. */
const SECRET = /^[\w-]{43}$/;
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
  challenge(wallet: string, origin: string): Promise<{ message: string; sign_in: SignInInput; expires_at: string }>;
  /** Rejects with ApiError 401 unless the signature is the wallet's, over one of our messages, unexpired and unused. */
  verify(answer: SignedChallenge): Promise<{ token: string; expires_at: string }>;
  /** The same for a cookie, whose session lasts longer while it is used. */
  signIn(answer: SignedChallenge): Promise<{ cookie: string; expires_at: string }>;
  /** The session of a token; null where there is none or it has expired. */
  ofToken(token: string | null): Promise<Session | null>;
  /** The session of a cookie, without using it. */
  peek(cookie: string | null): Promise<Session | null>;
  /** The session of a cookie, which this prolongs. */
  use(cookie: string | null): Promise<Session | null>;
  /** Ends a cookie's session; whether there was one. */
  end(cookie: string | null): Promise<boolean>;
}

export interface SessionsDeps {
  ledger: Kysely<LedgerTables>;
  /** The first block of the chain, base58. */
  genesisHash: string;
  /** Unix milliseconds. */
  now(): number;
}

export function createSessions(deps: SessionsDeps): Sessions {
  const { ledger } = deps;
  let known: Promise<Buffer> | null = null;

  /** Read once; where that fails the next one reads it. */
  function readKey(): Promise<Buffer> {
    known ??= readSecret(ledger, 'challenges').catch((error) => {
      known = null;
      throw error;
    });
    return known;
  }

  /** The fields with a nonce that proves them ours. */
  async function seal(fields: SignInInput): Promise<SignInInput> {
    const mac = createHmac('sha256', await readKey())
      .update(createSignInMessageText(fields))
      .digest('hex');
    return { ...fields, nonce: fields.nonce + mac.slice(0, 32) };
  }

  /** Expiry of a message that is ours and for this wallet; null for any other text. */
  async function readMessage(wallet: string, message: string): Promise<number | null> {
    const fields = parseSignInMessageText(message) as SignInInput | null;
    if (fields?.address !== wallet || !fields.nonce || !fields.expirationTime) return null;
    const sealed = await seal({ ...fields, nonce: fields.nonce.slice(0, RANDOM_DIGITS) });
    return isSame(createSignInMessageText(sealed), message) ? Date.parse(fields.expirationTime) : null;
  }

  async function requireSigned({ wallet, message, signature }: SignedChallenge): Promise<void> {
    const publicKey = requireWallet(wallet);
    const expiresMs = await readMessage(wallet, message);
    const isGood =
      expiresMs !== null &&
      expiresMs > deps.now() &&
      verifyMessage(publicKey, message, `ed25519:${signature}`) &&
      // Last, so that only who has signed can have anything written down.
      (await useChallenge(ledger, { digest: digest(message), expiresMs }, deps.now()));
    if (isGood) return;
    throw new ApiError(
      'unauthorized',
      "The signature must be the wallet's, over a message of ours that is unexpired and unused",
    );
  }

  /** Returns what only its owner gets to see. */
  async function open(kind: SessionsTable['kind'], wallet: string, longestMs: number) {
    const secret = randomBytes(32).toString('base64url');
    const nowMs = deps.now();
    const expiresMs = nowMs + SESSION_MS;
    const times = { expires_ms: BigInt(expiresMs), ends_ms: BigInt(nowMs + longestMs) };
    await insertSession(ledger, { digest: digest(secret), kind, wallet, ...times }, nowMs);
    return { secret, expires_at: new Date(expiresMs).toISOString() };
  }

  async function find(kind: SessionsTable['kind'], secret: string | null) {
    if (secret === null || !SECRET.test(secret)) return null;
    const row = await readSession(ledger, kind, digest(secret), deps.now());
    return row ? { wallet: row.wallet, expiresMs: Number(row.expires_ms), endsMs: Number(row.ends_ms) } : null;
  }

  return {
    async challenge(wallet, origin) {
      requireWallet(wallet);
      const expiresAt = new Date(deps.now() + CHALLENGE_MS).toISOString();
      const fields = await seal({
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
    async verify(answer) {
      await requireSigned(answer);
      const { secret: token, expires_at } = await open('token', answer.wallet, SESSION_MS);
      return { token, expires_at };
    },
    async signIn(answer) {
      await requireSigned(answer);
      const { secret: cookie, expires_at } = await open('cookie', answer.wallet, LONGEST_SESSION_MS);
      return { cookie, expires_at };
    },
    ofToken: (token) => find('token', token),
    peek: (cookie) => find('cookie', cookie),
    async use(cookie) {
      const session = await find('cookie', cookie);
      if (cookie === null || session === null) return null;
      const expiresMs = Math.min(deps.now() + SESSION_MS, session.endsMs);
      if (expiresMs - session.expiresMs < LEAST_PROLONGING_MS) return session;
      await prolongSession(ledger, digest(cookie), BigInt(expiresMs));
      return { ...session, expiresMs };
    },
    end: async (cookie) => cookie !== null && (await deleteSession(ledger, 'cookie', digest(cookie))),
  };
}

function chainIdOf(genesisHash: string): SignInInput['chainId'] {
  if (genesisHash === MAINNET_GENESIS) return 'mainnet';
  return genesisHash === DEVNET_GENESIS ? 'devnet' : 'localnet';
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
