/** Links to Solana Explorer for accounts and transactions, on their cluster. */
import { DEVNET_GENESIS, MAINNET_GENESIS } from '../sdk/program/clusters.ts';

const EXPLORER = 'https://explorer.solana.com';

/** The query for links to the explorer. It reaches any other chain through the public RPC URL. */
export function explorerQuery(genesisHash: string, publicRpcUrl: string): string {
  if (genesisHash === MAINNET_GENESIS) return '';
  if (genesisHash === DEVNET_GENESIS) return '?cluster=devnet';
  return `?cluster=custom&customUrl=${encodeURIComponent(publicRpcUrl)}`;
}

interface ExplorerDeps {
  explorerQuery: string;
}

export function addressUrl(deps: ExplorerDeps, address: string): string {
  return `${EXPLORER}/address/${address}${deps.explorerQuery}`;
}

export function transactionUrl(deps: ExplorerDeps, signature: string): string {
  return `${EXPLORER}/tx/${signature}${deps.explorerQuery}`;
}
