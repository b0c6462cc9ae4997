/**
 * The marketplace as the tools see it. This file alone knows the client of the SDK, so that another client takes one
 * edit.
 */
import { type MarketplaceClient, MarketplaceError, createClient as newClient } from '../sdk/client/index.ts';
import { createManagementClient } from '../sdk/client/management.ts';
import { type Check, verifyReceipt } from '../sdk/receipt/verify.ts';

export { MarketplaceError };
export type Execution = Awaited<ReturnType<MarketplaceClient['getExecution']>>;
export type Agent = Awaited<ReturnType<MarketplaceClient['getAgent']>>;

export interface Market {
  client: MarketplaceClient;
  /** Checks the receipt of an execution of the key's wallet; `node` is null where none was known. */
  verify(executionId: string): Promise<{ node: string | null; checks: Check[] }>;
  /** Opens a dispute with the configured wallet, with a text as evidence; null without a wallet. */
  dispute: ((executionId: string, evidence: string) => Promise<Disputed>) | null;
}

export interface Disputed {
  /** Signature of the transaction. */
  signature: string;
  evidence_hash: string;
  bond_lamports: number;
}

export interface MarketOptions {
  baseUrl: string;
  apiKey: string;
  /** A Solana node that the user trusts; null: the one that the marketplace names. */
  rpcUrl: string | null;
  /** Opens disputes; null without a wallet. */
  dispute?: Market['dispute'];
  /** Sends requests to the marketplace. */
  fetch?: typeof fetch;
}

export function createMarket({ baseUrl, apiKey, rpcUrl, dispute = null, fetch }: MarketOptions): Market {
  const through = { baseUrl, ...(fetch && { fetch }) };
  const client = newClient({ ...through, apiKey });
  return {
    client,
    dispute,
    async verify(executionId) {
      const receipt = await client.getReceipt(executionId);
      const named = rpcUrl ?? (await createManagementClient(through).call('config.get')).rpc_url;
      const findArchive = (id: string) => client.getExecutionArchive(id);
      return { node: named, checks: await verifyReceipt(receipt, { rpcUrl: named, findArchive }) };
    },
  };
}
