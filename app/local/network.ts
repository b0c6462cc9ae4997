/**
 * A chain to run on: starts the embedded node in a process of its own, and puts on any node with cheat codes what the
 * marketplace needs there, over plain JSON-RPC: the program and a mock USDC mint. Used by `npm start` and by tests.
 */

import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  type Connection,
  Keypair,
  type PublicKey,
  type Signer,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { ensureMarketplace, type MarketplaceInput } from '../../migrations/deploy.ts';
import { callRpc } from '../cli/surfpool.ts';
import { TYPESCRIPT_ARGS } from '../process/typescript.ts';
import type { Config } from '../sdk/program/program.ts';
import type { NodeFailed, NodeReady } from './node.ts';

/** The program as committed, built by `npm run build:program`. */
export const PROGRAM_ARTIFACT = join(
  import.meta.dirname,
  '..',
  '..',
  'programs',
  'marketplace',
  'artifact',
  'marketplace.so',
);

/** Time in which the node's process must be ready; it takes half a second on an idle machine. */
const START_TIMEOUT_MS = 30_000;
/** Bytes of program sent in one call, well below the node's limit on a request. */
const DEPLOY_CHUNK = 256 * 1024;
const USDC_DECIMALS = 6;

export interface LocalNode {
  rpcUrl: string;
  wsUrl: string;
  /** An account with 10 SOL. */
  payer: Keypair;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
  /** Resolves when the process is gone, stopped or not, with what its end looked like. */
  exited: Promise<string>;
}

/**
 * Starts an embedded node with an empty chain on free ports of this computer. It dies with this process. Throws where
 * there is no embedded node for this platform.
 */
export async function forkNode(options: { slotTimeMs: number }): Promise<LocalNode> {
  const child = fork(join(import.meta.dirname, 'node.ts'), [String(options.slotTimeMs)], {
    execArgv: TYPESCRIPT_ARGS,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // A group of its own, so that a terminal's Ctrl-C does not reach it: the chain is needed while others shut down.
    detached: true,
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  const stop = async () => {
    child.ref();
    child.kill('SIGKILL');
    await exited;
  };
  const ready = await new Promise<NodeReady>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the local Solana node did not start in time')), START_TIMEOUT_MS);
    child.once('message', (message: NodeReady | NodeFailed) => {
      clearTimeout(timer);
      if (message.type === 'ready') resolve(message);
      else reject(new Error(`the local Solana node cannot start on this computer: ${message.message}`));
    });
    child.once('error', reject);
    exited.then((end) => reject(new Error(`the local Solana node ended before it was ready (${end})`)));
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  // An idle node must not keep a finished process alive.
  child.unref();
  child.channel?.unref();
  const payer = Keypair.fromSecretKey(Uint8Array.from(ready.payer));
  return { rpcUrl: ready.rpcUrl, wsUrl: ready.wsUrl, payer, stop, exited };
}

/** Puts a program on a node by its cheat codes and names who may upgrade it. */
export async function deployProgram(
  rpcUrl: string,
  program: { programId: PublicKey; upgradeAuthority: PublicKey; soPath?: string },
): Promise<void> {
  const bytes = readFileSync(program.soPath ?? PROGRAM_ARTIFACT);
  const programId = program.programId.toBase58();
  for (let offset = 0; offset < bytes.length; offset += DEPLOY_CHUNK) {
    const chunk = bytes.subarray(offset, offset + DEPLOY_CHUNK).toString('hex');
    await callRpc(rpcUrl, 'surfnet_writeProgram', [programId, chunk, offset]);
  }
  await callRpc(rpcUrl, 'surfnet_setProgramAuthority', [programId, program.upgradeAuthority.toBase58()]);
}

/** Creates a mint with USDC's six decimals, or returns the one that is there. */
export async function createMockUsdc(
  connection: Connection,
  options: { payer: Signer; mint: Signer; mintAuthority: PublicKey },
): Promise<PublicKey> {
  const mint = options.mint.publicKey;
  if (await connection.getAccountInfo(mint, 'confirmed')) return mint;
  const lamports = await connection.getMinimumBalanceForRentExemption(MINT_SIZE);
  const create = SystemProgram.createAccount({
    fromPubkey: options.payer.publicKey,
    newAccountPubkey: mint,
    lamports,
    space: MINT_SIZE,
    programId: TOKEN_PROGRAM_ID,
  });
  const initialize = createInitializeMint2Instruction(mint, USDC_DECIMALS, options.mintAuthority, null);
  await sendAndConfirm(connection, [create, initialize], [options.payer, options.mint]);
  return mint;
}

/** Mints base units of mock USDC to a wallet's associated token account, which is created if missing; returns it. */
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

/** Creates the marketplace where there is none yet, and returns its config. Settings not given are the usual ones. */
export async function initializeMarketplace(
  connection: Connection,
  options: Omit<MarketplaceInput, 'authority' | 'payer'> & { upgradeAuthority: Signer; payer: Signer },
): Promise<Config> {
  const { upgradeAuthority, payer, ...settings } = options;
  const input = { ...settings, authority: upgradeAuthority.publicKey, payer: payer.publicKey };
  return ensureMarketplace(connection, input, (instruction) =>
    sendAndConfirm(connection, [instruction], [payer, upgradeAuthority]),
  );
}

/**
 * Sends one transaction, the first signer paying, and waits until it is confirmed; returns its signature. Throws with
 * the program's logs if it fails, or when its blockhash expires first.
 */
export async function sendAndConfirm(
  connection: Connection,
  instructions: TransactionInstruction[],
  signers: Signer[],
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed');
  const transaction = new Transaction({ feePayer: signers[0]!.publicKey, blockhash, lastValidBlockHeight });
  transaction.add(...instructions).sign(...signers);
  const signature = bs58.encode(transaction.signature!);
  await connection.sendRawTransaction(transaction.serialize(), { preflightCommitment: 'confirmed' });
  for (;;) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`transaction ${signature} failed: ${JSON.stringify(value.err)}`);
    if (value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized') return signature;
    if ((await connection.getBlockHeight('confirmed')) > lastValidBlockHeight) {
      throw new Error(`transaction ${signature} did not land before its blockhash expired`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
