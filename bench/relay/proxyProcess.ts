/**
 * What the relay is compared with: Express and the hops of a paid call, and nothing else. No check, no journal, no
 * signature: the transactions come ready-made in the body. `node proxyProcess.ts RPC_URL WS_URL ENDPOINT`.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Pool } from 'undici';
import { WebSocket } from 'ws';
import type { PreparedCall, PreparedTransaction } from './prepared.ts';

const [rpcUrl, wsUrl, endpoint] = process.argv.slice(2);
const node = new Pool(rpcUrl!, { connections: 64 });
const creator = new Pool(new URL(endpoint!).origin, { connections: 64 });
const socket = new WebSocket(wsUrl!);
await once(socket, 'open');

/** Of requests that wait for their subscription's number, by id, and of subscriptions that wait for their news. */
const confirmed = new Map<number, () => void>();
const asked = new Map<number, () => void>();
let lastId = 0;
socket.on('message', (data) => {
  const message = JSON.parse(String(data));
  if (message.method) {
    confirmed.get(message.params.subscription)?.();
    confirmed.delete(message.params.subscription);
  } else {
    confirmed.set(message.result, asked.get(message.id)!);
    asked.delete(message.id);
  }
});

async function rpc(method: string, params: unknown[]): Promise<unknown> {
  lastId += 1;
  const body = JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params });
  const headers = { 'content-type': 'application/json' };
  const answer = await node.request({ path: '/', method: 'POST', headers, body });
  return ((await answer.body.json()) as { result: unknown }).result;
}

async function send({ base64, signature }: PreparedTransaction): Promise<void> {
  lastId += 1;
  const id = lastId;
  const landed = new Promise<void>((resolve) => asked.set(id, resolve));
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'signatureSubscribe', params: [signature] }));
  void rpc('sendTransaction', [base64, { encoding: 'base64', skipPreflight: true }]);
  await landed;
}

const app = express();
app.use(express.json());
app.post('/call', async (request, response) => {
  const { call, task } = request.body as { call: PreparedCall; task: string };
  await rpc('getMultipleAccounts', [call.payerAccounts, { encoding: 'base64' }]);
  await send(call.open);
  await rpc('getMultipleAccounts', [call.recordAccounts, { encoding: 'base64' }]);
  const answer = await creator.request({
    path: new URL(endpoint!).pathname,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ execution_id: call.open.signature, task, parameters: {}, timeout_seconds: 60 }),
  });
  const result = await answer.body.json();
  await rpc('simulateTransaction', [call.settle.base64, { encoding: 'base64', sigVerify: true }]);
  await send(call.settle);
  await rpc('getMultipleAccounts', [call.recordAccounts, { encoding: 'base64' }]);
  response.json(result);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('disconnect', () => process.exit(0));
