/** The context that every tool gets. */
import type { McpServer, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Payment } from '../../sdk/client/client.ts';
import { explain, type ToolAnswer } from '../answers.ts';
import type { Market } from '../market.ts';
import type { Session } from '../session.ts';

export interface Tools {
  server: McpServer;
  market: Market;
  session: Session;
  /** How the user raises the price above which a call needs approval. */
  raiseApproval: string;
  /** The payer of calls: an API key, the host by x402, or this server's wallet by x402. */
  payment: 'key' | 'host' | Wallet;
  /** The wallet of a host that pays, base58; null if it is not known. */
  payer: string | null;
}

/** The wallet of this server. */
export interface Wallet extends Payment {
  /** Base units of USDC. Throws if its Solana node does not answer. */
  readBalance(): Promise<bigint>;
}

/** The names of the tools that pay begin with it. */
export const RUN = 'run_';

/** Longest time of one tool call, seconds. Hosts give up after 60 s, some earlier. */
export const MOST_WAIT_SECONDS = 25;

/** Tools that only read the marketplace. Their results contain strangers' data. */
export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};
/** Tools that spend money. A repeat with the same idempotency key changes nothing more. */
export const PAYS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** Turns errors of the marketplace into results that a model can read. */
export function safely<Input>(run: (input: Input, ctx: ServerContext) => Promise<ToolAnswer>) {
  return (input: Input, ctx: ServerContext): Promise<ToolAnswer> => run(input, ctx).catch(explain);
}
