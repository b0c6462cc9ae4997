/** SOL for everyone who signs, and mock USDC for creators and callers. What is there already is left as it is. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  unpackMint,
} from '@solana/spl-token';
import { type Connection, LAMPORTS_PER_SOL, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { fundSol } from '../cli/surfpool.ts';
import { findTokenAccount } from '../sdk/program/program.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { formatUsdc } from '../sdk/wire/usdc.ts';
import { CALLER_USDC } from './callers.ts';
import type { LocalChain } from './chain.ts';
import type { Identities } from './identities.ts';
import { sendAndConfirm } from './network.ts';

/** What each needs for a start, and what a Surfpool gives, in SOL. Public faucets give one or two at a time. */
const LEAST_SOL = 0.5;
const GIVEN_SOL = 500;
const AIRDROP_SOL = 1;
const AIRDROP_PATIENCE_MS = 30_000;
/** More than the collateral of all demo agents of one creator, base units. */
const CREATOR_USDC = 1_000_000_000n;

/** Gives SOL to everyone who has less than a start needs. Throws Refusal naming whom a person must fund. */
export async function provideSol(chain: LocalChain, identities: Identities): Promise<void> {
  const { admin, relayAuthority, creators, callers } = identities;
  const everyone = [admin, relayAuthority, creators.a, creators.b, ...callers.map(({ wallet }) => wallet)];
  const addresses = everyone.map(({ publicKey }) => publicKey);
  const poor = await poorOf(chain.connection, addresses);
  if (chain.isSurfpool) {
    await Promise.all(poor.map((address) => fundSol(chain.rpcUrl, address, GIVEN_SOL * LAMPORTS_PER_SOL)));
    return;
  }
  // A faucet that refuses is found out by the balance below, whatever its reason.
  await Promise.allSettled(
    poor.map((address) => chain.connection.requestAirdrop(address, AIRDROP_SOL * LAMPORTS_PER_SOL)),
  );
  const patientUntil = Date.now() + (poor.length ? AIRDROP_PATIENCE_MS : 0);
  let still = await poorOf(chain.connection, poor);
  while (still.length > 0 && Date.now() < patientUntil) {
    await delay(500);
    still = await poorOf(chain.connection, poor);
  }
  if (still.length === 0) return;
  const list = still.map((address) => `  ${address}`).join('\n');
  throw new Refusal(
    `The node's faucet gives no SOL. Send ${AIRDROP_SOL} SOL to each of these addresses, then start again:\n${list}`,
  );
}

/**
 * Opens the creators' and callers' USDC accounts and mints to them, where they do not exist yet. Where the marketplace
 * settles in a mint that is not ours, throws Refusal naming whom a person must fund.
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
  return addresses.filter((_, index) => (accounts[index]?.lamports ?? 0) < LEAST_SOL * LAMPORTS_PER_SOL);
}
