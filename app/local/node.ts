/**
 * The process that holds the embedded Solana node (Surfpool), apart from everything else so that its load and its
 * memory are nobody's but its own. `forkNode` in network.ts starts it and hears one message:
 *
 *     {type: 'ready', rpcUrl, wsUrl, payer: number[]}      payer: 64-byte secret key of an account with 10 SOL
 *     {type: 'failed', message}                            the node could not start; the process ends
 *
 * It ends when its parent does, however that happens, and not by Ctrl-C: the chain is needed while others shut down.
 */
import { createRequire } from 'node:module';

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

/** The part of the native module that is used here; it ships no types. */
interface SurfpoolModule {
  Surfnet: {
    startWithConfig(config: { offline: boolean; blockProductionMode: 'clock'; slotTimeMs: number }): Surfnet;
  };
}

interface Surfnet {
  rpcUrl: string;
  wsUrl: string;
  payerSecretKey: number[];
  drainEvents(): unknown[];
}

/** Without this the node's buffer of internal events fills up and it stalls after some ten seconds of load. */
const DRAIN_INTERVAL_MS = 100;

function startNode(slotTimeMs: number): Surfnet {
  const require = createRequire(import.meta.url);
  const { Surfnet } = require('surfpool-sdk-linux-x64-gnu') as SurfpoolModule;
  // Mode `clock`: in mode `transaction` the status of a transaction is forgotten after about 150 blocks.
  return Surfnet.startWithConfig({ offline: true, blockProductionMode: 'clock', slotTimeMs });
}

function report(message: NodeReady | NodeFailed): void {
  process.send?.(message);
}

process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));

try {
  const node = startNode(Number(process.argv[2]));
  setInterval(() => node.drainEvents(), DRAIN_INTERVAL_MS);
  report({ type: 'ready', rpcUrl: node.rpcUrl, wsUrl: node.wsUrl, payer: [...node.payerSecretKey] });
} catch (error) {
  report({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
  process.disconnect?.();
}
