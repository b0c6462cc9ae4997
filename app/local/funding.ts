/**
 * Gives SOL to every signer at the start and to the relay later, and mock USDC to creators and callers. Sufficient SOL
 * balances and existing USDC accounts stay unchanged.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  unpackMint,
} from '@solana/spl-token';
import { type Connection, LAMPORTS_PER_SOL, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { fundSol } from '../cli/surfpool.ts';
import { RESERVE } from '../relay/operation/lending.ts';
import { DEVNET_GENESIS, MAINNET_GENESIS } from '../sdk/program/clusters.ts';
import { findTokenAccount } from '../sdk/program/program.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { formatSol } from '../sdk/wire/sol.ts';
import { formatUsdc } from '../sdk/wire/usdc.ts';
import { CALLER_USDC } from './callers.ts';
import type { LocalChain } from './chain.ts';
import type { Identities } from './identities.ts';
import { sendAndConfirm } from './network.ts';
import type { Shutdown } from './shutdown.ts';

/** Lamports that each signer needs at the start. */
const LEAST_LAMPORTS = 0.5 * LAMPORTS_PER_SOL;
const GIVEN_LAMPORTS = 500 * LAMPORTS_PER_SOL;
/**
 * Amounts to request, in order, until the faucet gives one; and the balance below which more is requested.
 */
const OWN_FAUCET = { amounts: [GIVEN_LAMPORTS, LAMPORTS_PER_SOL], below: 50 * LAMPORTS_PER_SOL };
/** A public cluster's faucet gives one or two SOL at a time, and limits requests. */
const PUBLIC_FAUCET = { amounts: [LAMPORTS_PER_SOL], below: 0.75 * LAMPORTS_PER_SOL };
const AIRDROP_PATIENCE_MS = 30_000;
/** Seconds between checks of the relay's balance. */
export const POLL_SECONDS = 2;
/**
 * Below this the relay accepts no new calls, lamports: more than the fees of the calls that start between two checks.
 * Below `RESERVE` times as much it lends no deposits.
 */
export const STOP_LAMPORTS = 0.1 * LAMPORTS_PER_SOL;
/** Below this the user gets a message, lamports. */
const LOW_LAMPORTS = PUBLIC_FAUCET.below;
/** Pause after a faucet's first refusal; it doubles up to LAST_RETRY_MS. */
const FIRST_RETRY_MS = 15_000;
const LAST_RETRY_MS = 900_000;
/** More than the collateral of all demo agents of one creator, base units. */
const CREATOR_USDC = 1_000_000_000n;

/**
 * Gives SOL to every signer with less than LEAST_LAMPORTS. Throws Refusal naming the accounts that a person must fund.
 */
export async function provideSol(chain: LocalChain, identities: Identities): Promise<void> {
  const { admin, relayAuthority, x402FeePayer, creators, callers } = identities;
  const everyone = [
    admin,
    relayAuthority,
    x402FeePayer,
    creators.a,
    creators.b,
    ...callers.map(({ wallet }) => wallet),
  ];
  const addresses = everyone.map(({ publicKey }) => publicKey);
  const poor = await poorOf(chain.connection, addresses);
  if (chain.isSurfpool) {
    await Promise.all(poor.map((address) => fundSol(chain.rpcUrl, address, GIVEN_LAMPORTS)));
    return;
  }
  if (poor.length === 0) return;
  const { amounts } = await faucetOf(chain.connection);
  const refusals = await Promise.all(poor.map((address) => askFaucet(chain.connection, address, amounts)));
  const still = poor.filter((_, index) => refusals[index] !== null);
  if (still.length === 0) return;
  const list = still.map((address) => `  ${address}`).join('\n');
  throw new Refusal(
    `The node's faucet gives no SOL (${refusals.find((refusal) => refusal !== null)}). Send 1 SOL to each of these ` +
      `addresses, then start again:\n${list}`,
  );
}

/**
 * Keeps the relay funded while everything runs: each call locks the rent of its record for an hour. If the faucet gives
 * nothing, tells the user where to send SOL, while there is still enough for calls.
 */
export function keepInSol(
  { connection }: LocalChain,
  relay: PublicKey,
  { report, shutdown }: { report(line: string): void; shutdown: Pick<Shutdown, 'onStop' | 'isStopping'> },
): void {
  let faucet: typeof OWN_FAUCET | undefined;
  /** Why the faucet gave nothing the last time. */
  let refusal: string | null = null;
  let retryMs = FIRST_RETRY_MS;
  let askAt = 0;
  let isReported = false;

  async function poll(): Promise<void> {
    faucet ??= await faucetOf(connection);
    const balance = await connection.getBalance(relay);
    if (balance >= LOW_LAMPORTS) isReported = false;
    if (balance >= faucet.below) return;
    if (Date.now() >= askAt) {
      refusal = await askFaucet(connection, relay, faucet.amounts);
      if (refusal !== null) askAt = Date.now() + retryMs;
      retryMs = refusal === null ? FIRST_RETRY_MS : Math.min(2 * retryMs, LAST_RETRY_MS);
    }
    if (refusal === null || balance >= LOW_LAMPORTS || isReported || shutdown.isStopping) return;
    isReported = true;
    report(
      `\nThe relay has too little SOL: ${relay} has ${formatSol(BigInt(balance))} SOL, and the node's faucet gives none ` +
        `(${refusal}).\nSend it 1 SOL or more. Below ${formatSol(RESERVE * BigInt(STOP_LAMPORTS))} SOL it refuses calls of wallets without gas, and below ${formatSol(BigInt(STOP_LAMPORTS))} SOL all new calls.`,
    );
  }

  let timer: NodeJS.Timeout;
  const again = (): void => {
    // The relay itself reports a node that does not answer.
    const looked = poll().catch(() => undefined);
    timer = setTimeout(() => looked.then(again), POLL_SECONDS * 1_000).unref();
  };
  again();
  shutdown.onStop(() => clearTimeout(timer));
}

async function faucetOf(connection: Connection) {
  const genesis = await connection.getGenesisHash();
  return genesis === MAINNET_GENESIS || genesis === DEVNET_GENESIS ? PUBLIC_FAUCET : OWN_FAUCET;
}

/** Requests the first possible amount, and waits until it has arrived. Returns why it failed, or null. */
async function askFaucet(
  connection: Connection,
  address: PublicKey,
  amounts: readonly number[],
): Promise<string | null> {
  const before = await connection.getBalance(address);
  let refusal = '';
  for (const lamports of amounts) {
    try {
      await connection.requestAirdrop(address, lamports);
    } catch (error) {
      refusal = (error as Error).message;
      continue;
    }
    const patientUntil = Date.now() + AIRDROP_PATIENCE_MS;
    while (Date.now() < patientUntil) {
      if ((await connection.getBalance(address)) > before) return null;
      await delay(500);
    }
    return 'its airdrop did not arrive';
  }
  return refusal;
}

/**
 * Creates the creators' and callers' USDC accounts and mints to them, if they do not exist yet. If the marketplace's
 * mint is not ours, throws Refusal naming the accounts that a person must fund.
 */
export async function provideUsdc(chain: LocalChain, identities: Identities, mint: PublicKey): Promise<void> {
  const { admin, mintAuthority, creators, callers } = identities;
  const wanted = [
    ...[creators.a, creators.b].map(({ publicKey }) => ({ owner: publicKey, amount: CREATOR_USDC })),
    ...callers.map(({ wallet }) => ({ owner: wallet.publicKey, amount: CALLER_USDC })),
  ].map((entry) => ({ ...entry, account: findTokenAccount(entry.owner, mint) }));
  const addresses = [mint, ...wanted.map(({ account }) => account)];
  const [mintAccount, ...accounts] = await chain.connection.getMultipleAccountsInfo(addresses);
  const missing = wanted.filter((_, index) => !accounts[index]);
  if (missing.length === 0) return;
  const authority = unpackMint(mint, mintAccount ?? null).mintAuthority;
  if (!authority?.equals(mintAuthority.publicKey)) {
    const list = missing.map(({ owner, amount }) => `  ${owner}  ${formatUsdc(amount)} USDC`).join('\n');
    throw new Refusal(
      `This chain's marketplace settles in ${mint}, which only ${authority ?? 'nobody'} can mint. Send to each of ` +
        `these wallets at least what you want to spend (creators: the collateral of their agents):\n${list}`,
    );
  }
  const instructions = missing.flatMap(({ owner, account, amount }): TransactionInstruction[] => [
    createAssociatedTokenAccountIdempotentInstruction(admin.publicKey, account, owner, mint),
    createMintToInstruction(mint, account, mintAuthority.publicKey, amount),
  ]);
  await sendAndConfirm(chain.connection, instructions, [admin, mintAuthority]);
}

async function poorOf(connection: Connection, addresses: PublicKey[]): Promise<PublicKey[]> {
  if (addresses.length === 0) return [];
  const accounts = await connection.getMultipleAccountsInfo(addresses);
  return addresses.filter((_, index) => (accounts[index]?.lamports ?? 0) < LEAST_LAMPORTS);
}
