/** Which chain the local network runs on: the node that the environment names, or one embedded for this run. */
import { Connection } from '@solana/web3.js';
import { isSurfpool } from '../cli/surfpool.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import type { LocalConfig } from './config.ts';
import { forkNode } from './network.ts';
import type { Shutdown } from './shutdown.ts';

/** A node that runs, with a marketplace or without. */
export interface LocalChain {
  rpcUrl: string;
  wsUrl: string;
  connection: Connection;
  /** Has cheat codes: programs and SOL can be put there. */
  isSurfpool: boolean;
}

/** As on today's mainnet. */
const SLOT_TIME_MS = 400;
const OWN_NODE_ADVICE =
  'Start a node yourself, such as `solana-test-validator`, then:\n' +
  '  SOLANA_RPC_URL=http://127.0.0.1:8899 SOLANA_WS_URL=ws://127.0.0.1:8900 npm start';

/** Opens it. An embedded node that ends by itself ends everything. */
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
      connection: new Connection(node.rpcUrl, 'confirmed'),
      isSurfpool: true,
    };
  }
  const { rpcUrl, wsUrl } = config.node;
  try {
    return { rpcUrl, wsUrl, connection: new Connection(rpcUrl, 'confirmed'), isSurfpool: await isSurfpool(rpcUrl) };
  } catch (error) {
    throw new Refusal(`No Solana node answers at SOLANA_RPC_URL=${rpcUrl}: ${(error as Error).message}`);
  }
}
