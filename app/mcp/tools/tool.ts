/** What every tool is given. */
import type { McpServer, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server';
import { explain, type ToolAnswer } from '../answers.ts';
import type { Market } from '../market.ts';
import type { Session } from '../session.ts';

export interface Tools {
  server: McpServer;
  market: Market;
  session: Session;
  /** How the user raises the price above which a call needs approval. */
  raiseApproval: string;
  /** Calls are paid by x402, because the host has no API key. */
  isKeyless: boolean;
}

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
