/** The base of every marketplace on a test node: mock USDC, the usual settings, and funded wallets. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import { type Connection, Keypair, type PublicKey, type Signer } from '@solana/web3.js';
import { createMockUsdc, initializeMarketplace, sendAndConfirm } from '../../../app/local/network.ts';
import type { TestNode } from './node.ts';

/** Initial funds of each wallet: 100 SOL and 1,000 USDC. */
const LAMPORTS = 100e9;
const FUNDS = 1_000_000_000n;

export interface Ground {
  usdcMint: PublicKey;
  /** Mints base units of USDC to a wallet's token account, creates it if missing, and returns it. */
  mintTo(owner: PublicKey, amount: bigint): Promise<PublicKey>;
}

/**
 * Creates the marketplace on a node that has the program. The node's payer is the admin. The relay authority gets SOL,
 * the people SOL and USDC.
 */
export async function layGround(node: TestNode, relay: Keypair, people: Keypair[]): Promise<Ground> {
  const { connection, payer } = node;
  await Promise.all([relay, ...people].map(({ publicKey }) => node.fundSol(publicKey, LAMPORTS)));
  const mint = Keypair.generate();
  const usdcMint = await createMockUsdc(connection, { payer, mint, mintAuthority: payer.publicKey });
  await initializeMarketplace(connection, {
    upgradeAuthority: payer,
    payer,
    admin: payer.publicKey,
    relayAuthorities: [relay.publicKey],
    exposureMultiple: 0,
    usdcMint,
  });
  const mintTo = (owner: PublicKey, amount: bigint) =>
    mintMockUsdc(connection, { payer, mintAuthority: payer, mint: usdcMint, owner, amount });
  await Promise.all(people.map(({ publicKey }) => mintTo(publicKey, FUNDS)));
  return { usdcMint, mintTo };
}

/** Mints base units of mock USDC to a wallet's associated token account, created if missing; returns it. */
export async function mintMockUsdc(
  connection: Connection,
  options: { payer: Signer; mintAuthority: Signer; mint: PublicKey; owner: PublicKey; amount: bigint },
): Promise<PublicKey> {
  const { payer, mint, owner, mintAuthority } = options;
  const account = getAssociatedTokenAddressSync(mint, owner, true);
  const instructions = [createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, account, owner, mint)];
  instructions.push(createMintToInstruction(mint, account, mintAuthority.publicKey, options.amount));
  await sendAndConfirm(connection, instructions, [payer, mintAuthority]);
  return account;
}
