/** Makes the HTTP request of a webhook, and returns what came back. */
import { Agent, request } from 'undici';
import { describeConnectionFault } from '../../sdk/creator/connectionFault.ts';
import { readBeginning } from './answerBody.ts';
import { createConnector, ForbiddenEndpoint, type Resolve } from './egress.ts';

/** Bytes of an answer that are kept for the log of deliveries. */
const BODY_BYTES = 1_024;
/** Connections to one server. */
const CONNECTIONS = 8;

export interface WebhookAnswer {
  /** Null if no answer came; `error` says why. */
  status: number | null;
  body: Buffer | null;
  error: string | null;
}

export type WebhookCalls = ReturnType<typeof createWebhookCalls>;

/** `allowPrivate`, for a local network, allows http and every address. Redirects are not followed. */
export function createWebhookCalls(options: { allowPrivate: boolean; resolve?: Resolve }) {
  const agent = new Agent({
    connect: createConnector(options),
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16 * 1024,
  });
  return {
    async post(url: string, headers: Record<string, string>, body: string, timeoutMs: number): Promise<WebhookAnswer> {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal });
        answer.body.on('error', () => undefined);
        const { body: beginning } = await readBeginning(answer.body, BODY_BYTES);
        return { status: answer.statusCode, body: beginning, error: null };
      } catch (error) {
        return { status: null, body: null, error: describe(error, timeoutMs, signal.aborted) };
      }
    },
    destroy: () => agent.destroy(),
  };
}

function describe(error: unknown, timeoutMs: number, isLate: boolean): string {
  if (isLate) return `no answer within ${timeoutMs / 1_000} s`;
  if (error instanceof ForbiddenEndpoint) return `the endpoint cannot be called: ${error.message}`;
  return `no answer: ${describeConnectionFault(error)}`;
}
