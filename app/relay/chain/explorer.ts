/** Links to Solana Explorer for what the API shows: accounts and transactions, on the cluster that they are on. */

const EXPLORER = 'https://explorer.solana.com';
/** Genesis hashes of the public clusters, which name a chain whatever URL it is reached by. */
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

/** What follows a path of the explorer; any other chain is reached through the public RPC URL. */
export function explorerQuery(genesisHash: string, publicRpcUrl: string): string {
  if (genesisHash === MAINNET) return '';
  if (genesisHash === DEVNET) return '?cluster=devnet';
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
