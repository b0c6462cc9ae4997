/**
 * The process of the embedded Solana node, separate so that its load and memory do not affect others. `forkNode` in
 * network.ts starts it as `node.ts BANK_OPTIONS` (JSON) and receives one message:
 *
 *     {type: 'ready', rpcUrl, wsUrl, payer: number[]}      payer: 64-byte secret key of an account with 10 SOL
 *     {type: 'failed', message}                            the node could not start; the process ends
 *
 * It ends when its parent ends for any reason, and ignores Ctrl-C: others need the chain while they shut down.
 */
import { Keypair, PublicKey } from '@solana/web3.js';
import type { BankOptions } from './node/bank.ts';

export interface NodeReady {
  type: 'ready';
  rpcUrl: string;
  wsUrl: string;
  payer: number[];
}

export interface NodeFailed {
  type: 'failed';
  message: string;
}

const PAYER_LAMPORTS = 10_000_000_000n;

function report(message: NodeReady | NodeFailed): void {
  process.send?.(message);
}

async function start(options: BankOptions): Promise<NodeReady> {
  // Imported dynamically, because a failed static import could not be reported to the parent.
  const { Account } = await import('litesvm/dist/internal.js').catch((cause) => {
    const platform = `${process.platform} ${process.arch}`;
    throw new Error(`it supports Linux and macOS on x64 and arm64, not ${platform}`, { cause });
  });
  const { startNode } = await import('./node/server.ts');
  const { rpcUrl, wsUrl, bank } = await startNode(options);
  const payer = Keypair.generate();
  const wallet = new Account(PAYER_LAMPORTS, new Uint8Array(), PublicKey.default.toBytes(), false, 0n);
  bank.setAccount(payer.publicKey, wallet);
  return { type: 'ready', rpcUrl, wsUrl, payer: [...payer.secretKey] };
}

process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));

try {
  report(await start(JSON.parse(process.argv[2]!)));
} catch (error) {
  report({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
  process.disconnect?.();
}
