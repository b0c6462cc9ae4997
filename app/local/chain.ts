/** Selects the local network's chain: the node of the environment, or one embedded for this run. */
import { Connection } from '@solana/web3.js';
import { isSurfpool } from '../cli/surfpool.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { originOf } from '../sdk/wire/secrets.ts';
import type { LocalConfig } from './config.ts';
import { forkNode } from './network.ts';
import type { Shutdown } from './shutdown.ts';

/** A running node, with or without a marketplace. */
export interface LocalChain {
  rpcUrl: string;
  wsUrl: string;
  connection: Connection;
  /** True if the node has cheat codes, which write programs and SOL. */
  isSurfpool: boolean;
}

/** As on today's mainnet. */
const SLOT_TIME_MS = 200;
const OWN_NODE_ADVICE =
  'Run `npm run validator`, which needs `solana-test-validator` on the PATH, and in another terminal:\n' +
  '  SOLANA_RPC_URL=http://127.0.0.1:8899 npm start';

/** Opens the chain. If an embedded node ends unexpectedly, everything ends. */
export async function openLocalChain(config: LocalConfig, shutdown: Shutdown): Promise<LocalChain> {
  if (!config.node) {
    const node = await forkNode({ slotTimeMs: SLOT_TIME_MS }).catch((error: Error) => {
      throw new Refusal(`${error.message}. ${OWN_NODE_ADVICE}`);
    });
    shutdown.onStop(() => node.stop());
    node.exited.then((end) => shutdown.stop(`The local Solana node has ended (${end}); stopping ...`, 1));
    return {
      rpcUrl: node.rpcUrl,
      wsUrl: node.wsUrl,
      connection: new Connection(node.rpcUrl, 'finalized'),
      isSurfpool: true,
    };
  }
  const { rpcUrl, wsUrl } = config.node;
  try {
    return { rpcUrl, wsUrl, connection: new Connection(rpcUrl, 'finalized'), isSurfpool: await isSurfpool(rpcUrl) };
  } catch (error) {
    throw new Refusal(`No Solana node answers at SOLANA_RPC_URL=${originOf(rpcUrl)}: ${(error as Error).message}`);
  }
}
