/**
 * At the start, gives SOL to every signer, and mock USDC to creators and callers. Sufficient SOL balances and existing
 * USDC accounts stay unchanged.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  unpackMint,
} from '@solana/spl-token';
import {
  type Connection,
  type Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { fundSol } from '../cli/surfpool.ts';
import { findTokenAccount } from '../sdk/program/program.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { formatUsdc } from '../sdk/wire/usdc.ts';
import { CALLER_USDC } from './callers.ts';
import type { LocalChain } from './chain.ts';
import type { Identities } from './identities.ts';
import { sendAndConfirm } from './network.ts';

/** Lamports that each signer needs at the start. */
const LEAST_LAMPORTS = 0.5 * LAMPORTS_PER_SOL;
/** A signer with less gets more, if the node gives it. */
const LOW_LAMPORTS = 50 * LAMPORTS_PER_SOL;
const GIVEN_LAMPORTS = 500 * LAMPORTS_PER_SOL;
/** Amounts to request, in order, until the faucet gives one. */
const AIRDROPS = [GIVEN_LAMPORTS, LAMPORTS_PER_SOL];
const AIRDROP_PATIENCE_MS = 30_000;
/** More than the collateral of all demo agents of one creator, base units. */
const CREATOR_USDC = 1_000_000_000n;

/**
 * Gives SOL to every signer that has less than it needs, on the embedded node to all with less than LOW_LAMPORTS.
 * Throws Refusal naming the accounts that a person must fund.
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
  const below = (lamports: number, accounts = everyone) => poorerThan(lamports, chain.connection, accounts);
  if (chain.isSurfpool) {
    const poor = await below(LOW_LAMPORTS);
    await Promise.all(poor.map((address) => fundSol(chain.rpcUrl, address, GIVEN_LAMPORTS)));
    return;
  }
  const needy = await below(LEAST_LAMPORTS);
  // The relay pays for every call.
  const [relay] = await below(LOW_LAMPORTS, [relayAuthority]);
  const asking = relay && !needy.some((one) => one.equals(relay)) ? [...needy, relay] : needy;
  if (asking.length === 0) return;
  const refusals = await Promise.all(asking.map((address) => askFaucet(chain.connection, address)));
  const still = await below(LEAST_LAMPORTS);
  if (still.length === 0) return;
  const list = still.map((address) => `  ${address}`).join('\n');
  throw new Refusal(
    `The node's faucet gives no SOL (${refusals.find((refusal) => refusal !== null)}). Send 1 SOL to each of these ` +
      `addresses, then start again:\n${list}`,
  );
}

/** Requests the first possible amount, and waits until it has arrived. Returns why it failed, or null. */
async function askFaucet(connection: Connection, address: PublicKey): Promise<string | null> {
  const before = await connection.getBalance(address);
  let refusal = '';
  for (const lamports of AIRDROPS) {
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

async function poorerThan(lamports: number, connection: Connection, signers: Keypair[]): Promise<PublicKey[]> {
  const addresses = signers.map(({ publicKey }) => publicKey);
  const accounts = await connection.getMultipleAccountsInfo(addresses);
  return addresses.filter((_, index) => (accounts[index]?.lamports ?? 0) < lamports);
}
