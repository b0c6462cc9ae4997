/** Decoded accounts as on the chain, for tests of the HTTP layer. */
import { Keypair } from '@solana/web3.js';
import type { Config, KeyGrant } from '../../../app/sdk/program/program.ts';
import { EPOCH, type TestKey } from './rows.ts';

/** The marketplace's admin, who is also its relay authority in these tests. */
export const ADMIN = Keypair.generate();
const authority = ADMIN.publicKey;
const mint = Keypair.generate().publicKey;

/** The program's Config in these tests. */
export const CONFIG: Config = {
  version: 1,
  adminPaused: false,
  guardianPaused: false,
  feeBps: 100,
  tierCount: 2,
  admin: authority,
  changesValidFrom: 0n,
  adminSince: 0n,
  guardian: authority,
  relayAuthorityCount: 1,
  relayAuthorities: Array.from({ length: 8 }, () => authority),
  reserved: new Uint8Array(64),
  usdcMint: mint,
  minPrice: 10_000n,
  disputeBondLamports: 10_000_000n,
  disputeWindowSeconds: 259_200,
  refundGraceSeconds: 600,
  maxTimeoutSeconds: 3_600,
  recordSeconds: 3_600,
  longestSpanSeconds: 263_400,
  exposureMultiple: 0,
  adminDelaySeconds: 0,
  tiers: [
    { maxPrice: 1_000_000n, deposit: 5_000_000n },
    { maxPrice: 10_000_000n, deposit: 25_000_000n },
    { maxPrice: 0n, deposit: 0n },
    { maxPrice: 0n, deposit: 0n },
  ],
};

/** An active grant account as on the chain. */
export function grantAccount(key: TestKey, changes: Partial<KeyGrant> = {}): KeyGrant {
  return {
    version: 1,
    revoked: false,
    bump: 255,
    spenderBump: 254,
    sourceBump: 253,
    wallet: authority,
    keyId: Buffer.from(key.keyId, 'hex'),
    rentSponsor: authority,
    perExecutionMax: 10_000_000n,
    periodMax: 10_000_000n,
    totalMax: 100_000_000n,
    periodSeconds: 86_400,
    expiresAt: BigInt(EPOCH + 1000),
    createdAt: BigInt(EPOCH),
    periodStart: BigInt(EPOCH),
    periodSpent: 0n,
    totalSpent: 0n,
    executionCount: 0n,
    lastOpenedAt: 0n,
    maxGasLamports: 20_000,
    reserved: new Uint8Array(16),
    ...changes,
  };
}
