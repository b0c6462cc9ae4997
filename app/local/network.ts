/**
 * A chain to run on: starts the embedded node in a separate process. On any node with cheat codes, it installs the
 * marketplace's program and a mock USDC mint over JSON-RPC. Used by `npm start` and by tests.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInitializeMint2Instruction, MINT_SIZE, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  type Connection,
  Keypair,
  type PublicKey,
  type Signer,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { ensureMarketplace, type MarketplaceInput, type SendingWallet, sendAndPoll } from '../../migrations/deploy.ts';
import { callRpc } from '../cli/surfpool.ts';
import { forkSource } from '../process/typescript.ts';
import type { Config } from '../sdk/program/program.ts';
import type { BankOptions } from './node/bank.ts';
import type { NodeFailed, NodeReady } from './node.ts';

/** The committed program, built by `npm run build:program`. */
export const PROGRAM_ARTIFACT = join(
  import.meta.dirname,
  '..',
  '..',
  'programs',
  'marketplace',
  'artifact',
  'marketplace.so',
);

/** Timeout for the start of the node's process; it takes half a second on an idle machine. */
const START_TIMEOUT_MS = 240_000;
/** Bytes of a program per request, well below the node's limit. */
const DEPLOY_CHUNK = 256 * 1024;
/** A node on this computer answers at once, and its slots are short. */
const POLL_MS = 20;
const USDC_DECIMALS = 6;

export interface LocalNode {
  rpcUrl: string;
  wsUrl: string;
  /** An account with 10 SOL. */
  payer: Keypair;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
  /** Resolves when the process has ended for any reason, with a description of its end. */
  exited: Promise<string>;
}

/**
 * Starts an embedded node with an empty chain on free ports of this computer. It ends with this process. Throws if
 * there is no embedded node for this platform.
 */
export async function forkNode(options: BankOptions): Promise<LocalNode> {
  const child = forkSource(join(import.meta.dirname, 'node.ts'), [JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // In its own process group, so that a terminal's Ctrl-C does not reach it: others need the chain while they shut
    // down.
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
  const payer = Keypair.fromSecretKey(Uint8Array.from(ready.payer), { skipValidation: true });
  return { rpcUrl: ready.rpcUrl, wsUrl: ready.wsUrl, payer, stop, exited };
}

/** Installs a program with the node's cheat codes, and sets its upgrade authority. */
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

/** Creates a mint with USDC's six decimals, or returns the existing one. */
export async function createMockUsdc(
  connection: Connection,
  options: { payer: Signer; mint: Signer; mintAuthority: PublicKey },
): Promise<PublicKey> {
  const mint = options.mint.publicKey;
  if (await connection.getAccountInfo(mint, 'finalized')) return mint;
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

/**
 * Creates the marketplace if there is none, and returns its config. Settings that are not given have the usual values.
 */
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
 * Sends one transaction, paid by the first signer, and waits until it is final. Returns its signature. Throws if it
 * fails.
 */
export async function sendAndConfirm(
  connection: Connection,
  instructions: TransactionInstruction[],
  [payer, ...others]: Signer[],
): Promise<string> {
  const wallet: SendingWallet = {
    publicKey: payer!.publicKey,
    async signTransaction(transaction) {
      transaction.partialSign(payer!);
      return transaction;
    },
  };
  return (await sendAndPoll(connection, wallet, instructions, others, POLL_MS)).signature;
}
