/** Asks the person at the host to approve a payment, by elicitation. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';

export type Approval =
  | { kind: 'approved' | 'declined' | 'impossible' }
  | { kind: 'ask'; question: InputRequiredResult };

/**
 * `id` identifies the action to approve: if it changes before the answer arrives, the person is asked again. The
 * handler runs again with the answer.
 */
export function approvalOf(server: McpServer, ctx: ServerContext, id: string, message: string): Approval {
  const answer = inputResponse(ctx.mcpReq.inputResponses, id);
  if (answer.kind === 'elicit') {
    const isApproved = answer.action === 'accept' && answer.content?.approve === true;
    return { kind: isApproved ? 'approved' : 'declined' };
  }
  if (!canElicit(server, ctx)) return { kind: 'impossible' };
  const question = inputRequired({
    inputRequests: {
      [id]: inputRequired.elicit({
        message,
        requestedSchema: {
          type: 'object',
          properties: { approve: { type: 'boolean', title: 'Approve' } },
          required: ['approve'],
        },
      }),
    },
  });
  return { kind: 'ask', question };
}

/** A client states its capabilities in each request, or once when it connects. Older clients state no mode: a form. */
function canElicit(server: McpServer, ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Record<string, { elicitation?: object } | undefined> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities();
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
}
