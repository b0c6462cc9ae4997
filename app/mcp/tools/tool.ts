/** What every tool is given. */
import type { McpServer, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Payment } from '../../sdk/client/service.ts';
import { explain, type ToolAnswer } from '../answers.ts';
import type { Market } from '../market.ts';
import type { Session } from '../session.ts';

export interface Tools {
  server: McpServer;
  market: Market;
  session: Session;
  /** How the user raises the price above which a call needs approval. */
  raiseApproval: string;
  /** Who pays for calls: an API key, the host by x402, or this server's wallet by x402. */
  payment: 'key' | 'host' | Wallet;
  /** The wallet by which the host pays, base58; null if it is not known. */
  payer: string | null;
}

/** The wallet of this server. */
export interface Wallet extends Payment {
  /** Base units of USDC. Throws if its Solana node does not answer. */
  readBalance(): Promise<bigint>;
}

/** Time of one call of a tool: hosts give up after 60 s, some earlier. */
export const MOST_WAIT_SECONDS = 25;

/** Reads of the marketplace: strangers' data, no change. */
export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};
/** Spends money; with an idempotency key a repeat changes nothing more. */
export const PAYS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** Answers errors of the marketplace as results that a model can read. */
export function safely<Input>(run: (input: Input, ctx: ServerContext) => Promise<ToolAnswer>) {
  return (input: Input, ctx: ServerContext): Promise<ToolAnswer> => run(input, ctx).catch(explain);
}
