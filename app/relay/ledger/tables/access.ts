/** API keys, sessions and the keys of this service. */
import type { Generated } from 'kysely';

export interface ApiKeysTable {
  key_hash: string;
  key_id: string;
  wallet: string;
  name: string;
  created_ms: bigint;
  last_used_ms: bigint | null;
  revoked_ms: bigint | null;
  /** Space-separated. */
  scopes: Generated<string>;
  expires_ms: bigint | null;
  /** Comma-separated CIDR blocks; null allows any address. */
  allowed_ips: string | null;
  /** Comma-separated addresses of listings; null allows any agent. */
  allowed_agents: string | null;
}

/** Key revocations that the relay paid for; `fee` is in lamports. */
export interface RevocationsTable {
  wallet: string;
  sent_ms: bigint;
  fee: bigint;
}

/** Sessions and leaderships; their migration documents the columns. */
export interface SessionsTable {
  digest: string;
  kind: 'token' | 'cookie';
  wallet: string;
  /** Of the address that signed in. */
  network: string;
  /** 1 if unknown wallets cannot displace it. */
  is_known: bigint;
  expires_ms: bigint;
  ends_ms: bigint;
}

export interface UsedChallengesTable {
  digest: string;
  expires_ms: bigint;
}

export interface AuthorizationCodesTable {
  key_hash: string;
  digest: string;
  sealed_key: Buffer;
  binding: string;
  key_expires_ms: bigint;
  expires_ms: bigint;
}

export interface SecretsTable {
  name: string;
  bytes: Buffer;
}

export interface CallKeysTable {
  kid: string;
  x: string;
  listed_until_ms: bigint;
}
