/** A Solana node for one computer: JSON-RPC 2.0 over HTTP, one call or many at once, and WebSocket, over a bank. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Keypair, PublicKey } from '@solana/web3.js';
import { Account } from 'litesvm/dist/internal.js';
import { WebSocketServer } from 'ws';
import { accountMethods } from './accountMethods.ts';
import { Bank, type BankOptions } from './bank.ts';
import { cheatMethods } from './cheatMethods.ts';
import { clusterMethods } from './clusterMethods.ts';
import { Subscriptions } from './subscriptions.ts';
import { transactionMethods } from './transactionMethods.ts';
import { CODES, type Method, RpcError } from './wire.ts';

const HOST = '127.0.0.1';
/** Above the largest part of a program that anybody writes at once. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const MAX_BATCH = 1_000;
/** How often a pair of ports next to each other is looked for. */
const PORT_ATTEMPTS = 20;
/** What airdrops are paid from, lamports: more than anybody needs, and exact in JSON. */
const FAUCET_LAMPORTS = 9_000_000_000_000_000n;
/** Browsers ask before they send JSON to another origin: the explorer, and a dashboard. */
const HEADERS = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
};

export interface RunningNode {
  rpcUrl: string;
  wsUrl: string;
  bank: Bank;
}

/** Serves until the process ends, on two ports of which the WebSocket's is the next, where Solana's clients look for it. */
export async function startNode(options: BankOptions): Promise<RunningNode> {
  const bank = new Bank(options);
  const faucet = Keypair.generate();
  bank.setAccount(
    faucet.publicKey,
    new Account(FAUCET_LAMPORTS, new Uint8Array(), PublicKey.default.toBytes(), false, 0n),
  );
  const methods = {
    ...clusterMethods(bank),
    ...accountMethods(bank),
    ...transactionMethods(bank, faucet),
    ...cheatMethods(bank),
  };
  const subscriptions = new Subscriptions(bank);
  const http = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'OPTIONS' ? 204 : 405, HEADERS).end();
      return;
    }
    const body = await readBody(request).catch(() => null);
    if (body === null) return void response.writeHead(413, HEADERS).end();
    const answer = answerText(methods, body);
    response.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(answer) }).end(answer);
  });
  http.keepAliveTimeout = 60_000;
  const upgrades = createServer();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES });
  upgrades.on('upgrade', (request, stream, head) =>
    sockets.handleUpgrade(request, stream, head, (socket) => sockets.emit('connection', socket)),
  );
  sockets.on('connection', (socket) => {
    const connection = subscriptions.methods((text) => socket.send(text));
    socket.on('message', (data) => socket.send(answerText(connection.methods, String(data))));
    socket.on('close', connection.close);
    socket.on('error', () => socket.terminate());
  });
  const port = await listenNextToEachOther(http, upgrades);
  bank.run(options.slotTimeMs);
  return { rpcUrl: `http://${HOST}:${port}`, wsUrl: `ws://${HOST}:${port + 1}`, bank };
}

/** Returns the port of the first; the second has the next one. */
async function listenNextToEachOther(first: Server, second: Server): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    first.listen(0, HOST);
    await once(first, 'listening');
    const { port } = first.address() as AddressInfo;
    try {
      second.listen(port + 1, HOST);
      await once(second, 'listening');
      return port;
    } catch (error) {
      if (attempt === PORT_ATTEMPTS) throw error;
      first.close();
      await once(first, 'close');
    }
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new RangeError('too large');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The answer to a body: one call, or a batch of them. */
export function answerText(methods: Record<string, Method>, body: string): string {
  let calls: unknown;
  try {
    calls = JSON.parse(body);
  } catch {
    return JSON.stringify(failure(null, CODES.parse, 'Parse error'));
  }
  if (!Array.isArray(calls)) return JSON.stringify(answer(methods, calls));
  if (calls.length === 0 || calls.length > MAX_BATCH) {
    return JSON.stringify(failure(null, CODES.invalidRequest, 'Invalid Request'));
  }
  return JSON.stringify(calls.map((call) => answer(methods, call)));
}

function answer(methods: Record<string, Method>, call: unknown) {
  const { id = null, method, params = [] } = (call ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== 'string') return failure(id, CODES.invalidRequest, 'Invalid Request');
  if (!Object.hasOwn(methods, method)) return failure(id, CODES.methodNotFound, 'Method not found');
  try {
    if (!Array.isArray(params)) throw new RpcError(CODES.invalidParams, 'Invalid params: an array is needed');
    return { jsonrpc: '2.0', id, result: methods[method]!(params) };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error.code, error.message, error.data);
    console.error(`${method} failed:`, error);
    return failure(id, CODES.internal, `Internal error: ${(error as Error).message}`);
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}
