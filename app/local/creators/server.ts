/**
 * One demo creator's HTTP server: honest until its agent is listed, then with its chosen behaviour. The honest part
 * uses only `app/sdk/creator/creator.ts`, as any creator would.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type CallVerifier,
  type CreatorOptions,
  completedAnswer,
  createCreatorServer,
  RequestError,
  readExecutionRequest,
} from '../../sdk/creator/creator.ts';
import { analyseCsv } from './csvAnalyst.ts';
import type { Behaviour, DemoAgent } from './definitions.ts';
import { echo, echoSlowly, type Misbehaviour, misbehaviours } from './sandbox.ts';
import { reportOnText } from './textReport.ts';

const MAX_BODY_BYTES = 8 * 1024 * 1024;

const executors: Partial<Record<Behaviour, CreatorOptions['execute']>> = {
  'csv-analyst': analyseCsv,
  'text-report': reportOnText,
  slow: echoSlowly,
};

export interface DemoServer {
  server: Server;
  /** The agent is listed now: misbehave from now on. Resolves when the change is in force. */
  listed(): Promise<void>;
}

/** A server that does not listen yet; `verify` checks all its calls. */
export function createDemoServer(agent: DemoAgent, signingKey: Uint8Array, verify?: CallVerifier): DemoServer {
  const execute = executors[agent.behaviour] ?? echo;
  const honest = createCreatorServer({
    signingKey,
    execute,
    failBeforeDeadline: agent.behaviour !== 'slow',
    ...(verify && { verify }),
  });
  const misbehaviour = misbehaviours[agent.behaviour];
  let isListed = false;
  const server = createServer((request, response) => {
    const misbehaves = isListed && misbehaviour && request.method === 'POST' && request.url === '/execute';
    if (misbehaves) void misbehave(misbehaviour, signingKey, verify, request, response);
    else honest.emit('request', request, response);
  });
  return {
    server,
    async listed() {
      isListed = true;
      if (agent.behaviour !== 'offline' || !server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function misbehave(
  misbehaviour: Misbehaviour,
  signingKey: Uint8Array,
  verify: CallVerifier | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const execution = await readExecutionRequest(request, MAX_BODY_BYTES, verify);
    const honest = completedAnswer({ signingKey }, execution, echo(execution));
    const { status, body } = misbehaviour(execution, honest, signingKey);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  } catch (error) {
    // Not this agent's chosen behaviour, but a request that no server could answer.
    const { status, message } = error instanceof RequestError ? error : { status: 400, message: 'unreadable request' };
    response.writeHead(status, { 'content-type': 'text/plain' }).end(message);
  }
}
