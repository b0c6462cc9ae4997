/**
 * What the relay is compared with: Express and the hops of a paid call, and nothing else. No check, no journal, no
 * signature: the transactions come ready-made in the body. `node proxyProcess.ts RPC_URL WS_URL ENDPOINT`.
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Pool } from 'undici';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { subscribe } from '../../app/solana/subscription.ts';
import type { PreparedCall, PreparedTransaction } from './prepared.ts';

const [rpcUrl, wsUrl, endpoint] = process.argv.slice(2);
const node = new Pool(rpcUrl!, { connections: 64 });
const creator = new Pool(new URL(endpoint!).origin, { connections: 64 });
/** Who waits for a transaction's notification, by signature. */
const waiting = new Map<string, () => void>();
const subscription = subscribe({
  wsUrl: wsUrl!,
  address: PROGRAM_ID.toBase58(),
  // The chain signs what it prepares in one go, and answers nothing meanwhile.
  heartbeatMs: 60_000,
  onLogs: ({ signature }) => waiting.get(signature)?.(),
  onSubscribed: () => listen(),
  onLost: (reason) => {
    throw new Error(`the chain is gone: ${reason}`);
  },
});

let lastId = 0;
async function rpc(method: string, params: unknown[]): Promise<unknown> {
  lastId += 1;
  const body = JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params });
  const headers = { 'content-type': 'application/json' };
  const answer = await node.request({ path: '/', method: 'POST', headers, body });
  return ((await answer.body.json()) as { result: unknown }).result;
}

async function send({ base64, signature }: PreparedTransaction): Promise<void> {
  const landed = new Promise<void>((resolve) => waiting.set(signature, resolve));
  void rpc('sendTransaction', [base64, { encoding: 'base64', skipPreflight: true }]);
  await landed;
  waiting.delete(signature);
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
function listen(): void {
  const server = app.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
}
process.on('disconnect', () => {
  subscription.close();
  process.exit(0);
});
