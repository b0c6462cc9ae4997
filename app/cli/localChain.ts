/**
 * Actions that only the local network allows: creating money, and moving the clock. They need a node with cheat codes
 * and the mint's own key, which no real cluster has.
 */
import { join } from 'node:path';
import { createAssociatedTokenAccountIdempotentInstruction, createMintToInstruction } from '@solana/spl-token';
import { type Connection, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { findTokenAccount } from '../sdk/program/program.ts';
import { connect, readClock, readTokens } from '../sdk/wallet/connection.ts';
import { formatTime } from '../sdk/wallet/format.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { sendTransaction } from '../sdk/wallet/send.ts';
import { keypairSigner } from '../sdk/wallet/signer.ts';
import { originOf } from '../sdk/wire/secrets.ts';
import { formatUsdc } from '../sdk/wire/usdc.ts';
import { localDirectory, readLocalNetwork } from './config.ts';
import { fundSol, isSurfpool, travelToSlot } from './surfpool.ts';
import { readKeypair } from './wallet.ts';

/** The mint authority pays for what it mints. */
const MINTER_LAMPORTS = LAMPORTS_PER_SOL;
/** The usual slot. `travel` measures the real length of this node's slots. */
const SLOT_SECONDS = 0.2;
/** The first step is short, so that a node with longer slots does not go too far. */
const FIRST_STEP = 1 / 8;
const MAX_STEPS = 8;
/** A relay signs with a blockhash for up to three seconds. A move of the clock invalidates all earlier blockhashes. */
const SETTLING_MS = 4_000;

interface RunningChain {
  rpcUrl: string;
  usdcMint: PublicKey;
  connection: Connection;
}

/** The chain of the network that `npm start` runs. Throws Refusal if none runs, or if the node has no cheat codes. */
async function openRunningChain(): Promise<RunningChain> {
  const network = readLocalNetwork();
  if (!network) {
    throw new Refusal(
      `No local network is running in ${localDirectory()}. Start one with \`npm start\`, or set DATA_DIR to its folder.`,
    );
  }
  const rpcUrl = network.rpc_url;
  const isLocal = await isSurfpool(rpcUrl).catch((error: Error) => {
    throw new Refusal(`No Solana node answers at ${originOf(rpcUrl)}.`, { cause: error });
  });
  if (!isLocal) {
    throw new Refusal(
      `The node at ${originOf(rpcUrl)} is not Surfpool. Only Surfpool can create money and move the clock.`,
    );
  }
  return { rpcUrl, usdcMint: new PublicKey(network.usdc_mint), connection: connect(rpcUrl) };
}

/** Adds SOL and mock USDC to a wallet; amounts in lamports and base units. Returns its new balances. */
export async function fund(wallet: PublicKey, { lamports, usdc }: { lamports: number; usdc: bigint }) {
  const chain = await openRunningChain();
  const { connection, rpcUrl, usdcMint } = chain;
  if (usdc > 0n) await mint(chain, wallet, usdc);
  if (lamports > 0) await fundSol(rpcUrl, wallet, (await connection.getBalance(wallet)) + lamports);
  return {
    wallet: wallet.toBase58(),
    sol: (await connection.getBalance(wallet)) / LAMPORTS_PER_SOL,
    usdc: formatUsdc((await readTokens(connection, findTokenAccount(wallet, usdcMint))) ?? 0n),
  };
}

/** Uses the mint's authority: a cheat code would make the mint's supply differ from the accounts. */
async function mint({ connection, rpcUrl, usdcMint }: RunningChain, owner: PublicKey, amount: bigint): Promise<void> {
  const authority = readKeypair(join(localDirectory(), 'demo', 'mint-authority.json'), "the mint authority's keypair");
  const payer = authority.publicKey;
  await fundSol(rpcUrl, payer, MINTER_LAMPORTS);
  const account = findTokenAccount(owner, usdcMint);
  const instructions = [
    createAssociatedTokenAccountIdempotentInstruction(payer, account, owner, usdcMint),
    createMintToInstruction(usdcMint, account, payer, amount),
  ];
  await sendTransaction(connection, instructions, keypairSigner(authority));
}

/** Moves the chain's clock forward by `hours`, in steps that measure the length of this node's slots. */
export async function travel(hours: number) {
  const { connection, rpcUrl } = await openRunningChain();
  const from = await readChainTime(connection);
  const target = from.seconds + hours * 3_600;
  let now = from;
  let slotSeconds = SLOT_SECONDS;
  for (let step = 0; now.seconds < target && step < MAX_STEPS; step += 1) {
    const share = step === 0 ? FIRST_STEP : 1;
    const slots = Math.ceil(((target - now.seconds) / slotSeconds) * share);
    await travelToSlot(rpcUrl, now.slot + slots);
    const reached = await readChainTime(connection);
    if (reached.seconds > now.seconds) slotSeconds = (reached.seconds - now.seconds) / (reached.slot - now.slot);
    now = reached;
  }
  if (now.seconds < target) {
    throw new Refusal(
      `The node moved its clock only to ${shownTime(now)}, expected ${shownTime({ seconds: target })}.`,
    );
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  return { from: shownTime(from), now: shownTime(now), slot: now.slot };
}

interface ChainTime {
  slot: number;
  /** Unix time. */
  seconds: number;
}

/** Uses the node's newest slot: the clock's own slot is wrong for a moment after a step. */
async function readChainTime(connection: Connection): Promise<ChainTime> {
  return { slot: await connection.getSlot('processed'), seconds: Number(await readClock(connection)) };
}

function shownTime({ seconds }: Pick<ChainTime, 'seconds'>): string | null {
  return formatTime(BigInt(Math.round(seconds)));
}
