/**
 * Sessions of wallets. The relay issues a message, and the wallet signs it (Sign In With Solana). The signature is
 * exchanged for a token for 15 minutes, or for a cookie that lasts while it is used. Unanswered messages are not
 * stored, because their nonce carries our MAC. Sessions and used messages are in the ledger, by their digests. All its
 * relays know them, they survive a restart, and an ended session is ended everywhere.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { createSignInMessageText, parseSignInMessageText } from '@solana/wallet-standard-util';
import bs58 from 'bs58';
import { DEVNET_GENESIS, MAINNET_GENESIS } from '../../sdk/program/clusters.ts';
import { verifySignedText } from '../../sdk/receipt/offchain.ts';
import type { SignInInput } from '../../sdk/wire/procedures.ts';
import { digestOf, isSameSecret } from '../digest.ts';
import { ApiError } from '../errors.ts';
import type { Payers } from '../ledger/payers.ts';
import {
  deleteSession,
  insertSession,
  prolongSession,
  readSecret,
  readSession,
  useChallenge,
} from '../ledger/sessions.ts';
import type { Databases, LedgerTables } from '../ledger/tables.ts';
import { invalidField } from '../parse.ts';
import type { Now } from '../waiting.ts';

const CHALLENGE_MS = 5 * 60 * 1000;
const SESSION_MS = 15 * 60 * 1000;
/** Maximum life of a cookie's session, even if it is used. */
export const LONGEST_SESSION_MS = 12 * 60 * 60 * 1000;
/** Shorter extensions are not written: a page sends many requests a minute. */
const LEAST_PROLONGING_MS = 60 * 1000;
/** Format of a token or cookie: 32 random bytes. An API key never matches. */
const SECRET = /^[\w-]{43}$/;
/** Random hex digits of a nonce; its MAC of 128 bits follows. */
const RANDOM_DIGITS = 32;

const STATEMENT = 'Sign in to manage API keys, listings and disputes. This is not a transaction and spends nothing.';

/** The message of a challenge and the wallet's signature over it, base58. */
interface SignedChallenge {
  wallet: string;
  message: string;
  signature: string;
  /** Base64 of the signed bytes, if the wallet put an envelope around the message. */
  signed_message?: string | undefined;
}

export interface Session {
  wallet: string;
  /** Unix milliseconds. */
  expiresMs: number;
}

export type Sessions = ReturnType<typeof createSessions>;

export interface SessionsDeps extends Pick<Databases, 'ledger'>, Now {
  /** The first block of the chain, base58. */
  genesisHash: string;
  payers: Pick<Payers, 'isKnown'>;
}

/** Issues the messages that wallets sign, and recognizes ours. */
function createChallenges({ ledger, genesisHash, now }: SessionsDeps) {
  let known: Promise<Buffer> | null = null;

  /** Read once; after a failure the next call reads it again. */
  function readKey(): Promise<Buffer> {
    known ??= readSecret(ledger, 'challenges').catch((error) => {
      known = null;
      throw error;
    });
    return known;
  }

  /** Appends our MAC over the fields to their nonce. */
  async function seal(fields: SignInInput): Promise<SignInInput> {
    const mac = createHmac('sha256', await readKey())
      .update(createSignInMessageText(fields))
      .digest('hex');
    return { ...fields, nonce: fields.nonce + mac.slice(0, 32) };
  }

  /** Expiry of our message for this wallet; null for any other text. */
  async function expiryOf(wallet: string, message: string): Promise<number | null> {
    const fields = parseSignInMessageText(message) as SignInInput | null;
    if (fields?.address !== wallet || !fields.nonce || !fields.expirationTime) return null;
    const sealed = await seal({ ...fields, nonce: fields.nonce.slice(0, RANDOM_DIGITS) });
    return isSameSecret(createSignInMessageText(sealed), message) ? Date.parse(fields.expirationTime) : null;
  }

  /** `origin` is the service's origin as the wallet's page knows it. */
  async function create(wallet: string, origin: string) {
    requireWallet(wallet);
    const expiresAt = new Date(now() + CHALLENGE_MS).toISOString();
    const fields = await seal({
      domain: new URL(origin).host,
      address: wallet,
      statement: STATEMENT,
      uri: origin,
      version: '1',
      chainId: chainIdOf(genesisHash),
      nonce: randomBytes(RANDOM_DIGITS / 2).toString('hex'),
      issuedAt: new Date(now()).toISOString(),
      expirationTime: expiresAt,
    });
    return { message: createSignInMessageText(fields), sign_in: fields, expires_at: expiresAt };
  }

  return { create, expiryOf };
}

export function createSessions(deps: SessionsDeps) {
  const { ledger } = deps;
  const challenges = createChallenges(deps);

  async function requireSigned(answer: SignedChallenge): Promise<void> {
    const { wallet, message, signature, signed_message } = answer;
    const publicKey = requireWallet(wallet);
    const signed = signed_message === undefined ? null : Buffer.from(signed_message, 'base64');
    const expiresMs = await challenges.expiryOf(wallet, message);
    const isGood =
      expiresMs !== null &&
      expiresMs > deps.now() &&
      verifySignedText(publicKey, message, `ed25519:${signature}`, signed) &&
      // Last, so that only a valid signature can cause a write.
      (await useChallenge(ledger, { digest: digestOf(message), expiresMs }, deps.now()));
    if (isGood) return;
    throw new ApiError(
      'unauthorized',
      'The signature does not match the wallet and the message, or the message has expired or was already used. Request a new message with auth.challenge.',
    );
  }

  /** 1 if strangers cannot evict the wallet's sessions. */
  const knownOf = async (wallet: string) => ((await deps.payers.isKnown(wallet)) ? 1n : 0n);

  /** Stores a session. Returns its secret, which only its owner gets. */
  async function open(kind: LedgerTables['sessions']['kind'], wallet: string, longestMs: number, network: string) {
    const secret = randomBytes(32).toString('base64url');
    const nowMs = deps.now();
    const expiresMs = nowMs + SESSION_MS;
    const times = { expires_ms: BigInt(expiresMs), ends_ms: BigInt(nowMs + longestMs) };
    const is_known = await knownOf(wallet);
    await insertSession(ledger, { digest: digestOf(secret), kind, wallet, network, is_known, ...times }, nowMs);
    return { secret, expires_at: new Date(expiresMs).toISOString() };
  }

  async function find(kind: LedgerTables['sessions']['kind'], secret: string | null) {
    if (secret === null || !SECRET.test(secret)) return null;
    const row = await readSession(ledger, kind, digestOf(secret), deps.now());
    return row ? { wallet: row.wallet, expiresMs: Number(row.expires_ms), endsMs: Number(row.ends_ms) } : null;
  }

  return {
    challenge: challenges.create,
    /**
     * Rejects with ApiError 401 unless the wallet signed one of our messages that is neither expired nor used. `network`
     * is the network of the request's address.
     */
    async verify(answer: SignedChallenge, network = '') {
      await requireSigned(answer);
      const { secret: token, expires_at } = await open('token', answer.wallet, SESSION_MS, network);
      return { token, expires_at };
    },
    /** Like `verify`, for a cookie. Each use extends its session. */
    async signIn(answer: SignedChallenge, network = '') {
      await requireSigned(answer);
      const { secret: cookie, expires_at } = await open('cookie', answer.wallet, LONGEST_SESSION_MS, network);
      return { cookie, expires_at };
    },
    /** The session of a token; null if there is none or it has expired. */
    ofToken: (token: string | null): Promise<Session | null> => find('token', token),
    /** The session of a cookie, without using it. */
    peek: (cookie: string | null): Promise<Session | null> => find('cookie', cookie),
    /** The session of a cookie; extends it. */
    async use(cookie: string | null): Promise<Session | null> {
      const session = await find('cookie', cookie);
      if (cookie === null || session === null) return null;
      const expiresMs = Math.min(deps.now() + SESSION_MS, session.endsMs);
      if (expiresMs - session.expiresMs < LEAST_PROLONGING_MS) return session;
      await prolongSession(ledger, digestOf(cookie), BigInt(expiresMs), await knownOf(session.wallet));
      return { ...session, expiresMs };
    },
    /** Ends a cookie's session; true if there was one. */
    end: async (cookie: string | null) => cookie !== null && (await deleteSession(ledger, 'cookie', digestOf(cookie))),
    /** Like `end`, for a token. */
    endToken: async (token: string | null) => token !== null && (await deleteSession(ledger, 'token', digestOf(token))),
  };
}

function chainIdOf(genesisHash: string): SignInInput['chainId'] {
  if (genesisHash === MAINNET_GENESIS) return 'mainnet';
  return genesisHash === DEVNET_GENESIS ? 'devnet' : 'localnet';
}

function requireWallet(wallet: string): Uint8Array {
  const bytes = bs58.decodeUnsafe(wallet);
  if (bytes?.length === 32) return bytes;
  throw invalidField('wallet', 'must be a base58 address of 32 bytes', wallet);
}
