import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { listen } from '../edge/listen.ts';
import type { TestNode } from './node.ts';

export interface RpcCall {
  /** Path and query. */
  url: string;
  method: string;
  params: unknown[];
}

/** By method: a recorded `result`, or a function that makes one. An Error becomes an error answer. */
export type Recorded = Record<string, (call: RpcCall) => unknown>;

export async function startHeliusFront(recorded: Recorded, node?: TestNode) {
  const calls: RpcCall[] = [];
  const upgrades: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { id, method, params } = JSON.parse(body.toString()) as RpcCall & { id: unknown };
    const call = { url: request.url ?? '', method, params };
    calls.push(call);
    response.setHeader('content-type', 'application/json');
    const record = recorded[method];
    if (record) {
      const result = record(call);
      const outcome = result instanceof Error ? { error: { code: -32_603, message: result.message } } : { result };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
      return;
    }
    if (!node) {
      response.writeHead(404).end();
      return;
    }
    const answer = await fetch(node.rpcUrl, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  });
  server.on('upgrade', (request: IncomingMessage, client, head) => {
    upgrades.push(request.url ?? '');
    const target = new URL(node!.wsUrl);
    const upstream = connect(Number(target.port), target.hostname, () => {
      const headers = request.rawHeaders.reduce((text, part, at) => text + part + (at % 2 === 0 ? ': ' : '\r\n'), '');
      upstream.write(`GET / HTTP/1.1\r\n${headers}\r\n`);
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  const url = await listen(server);
  return {
    baseUrl: `${url}/`,
    /** Every JSON-RPC call so far. */
    calls,
    /** Path and query of every WebSocket so far. */
    upgrades,
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
