/** A Solana node for one computer, over a bank: JSON-RPC 2.0 over HTTP (single calls and batches), and WebSocket. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Keypair, PublicKey } from '@solana/web3.js';
import { Account } from 'litesvm/dist/internal.js';
import { WebSocketServer } from 'ws';
import { accountMethods } from './accountMethods.ts';
import { Bank, type BankOptions } from './bank.ts';
import { blockMethods } from './blockMethods.ts';
import { cheatMethods } from './cheatMethods.ts';
import { clusterMethods } from './clusterMethods.ts';
import { Subscriptions } from './subscriptions.ts';
import { tokenMethods } from './tokenMethods.ts';
import { transactionMethods } from './transactionMethods.ts';
import { CODES, type Method, RpcError } from './wire.ts';

const HOST = '127.0.0.1';
/** As for a validator. */
const MAX_BODY_BYTES = 50 * 1024;
/** For cheat codes: above the largest part of a program in one request. */
const MAX_CHEAT_BYTES = 16 * 1024 * 1024;
const CHEAT = '"surfnet_';
/** Attempts to find two free consecutive ports. */
const PORT_ATTEMPTS = 20;
/** Balance for airdrops, lamports: more than anyone needs, and exact in JSON. */
const FAUCET_LAMPORTS = 9_000_000_000_000_000n;
const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const WRONG_METHOD = 'Used HTTP Method is not allowed. POST or OPTIONS is required\n';
const WRONG_TYPE = 'Supplied content type is not allowed. Content-Type: application/json is required\n';
const TOO_LARGE = 'request body size exceeds allowed maximum';
/** An account's default rent epoch is larger than JavaScript's exact integers. */
const FOREVER = /"rentEpoch":18446744073709552000/g;
const FOREVER_EXACT = '"rentEpoch":18446744073709551615';

export interface RunningNode {
  rpcUrl: string;
  wsUrl: string;
  bank: Bank;
}

/** Serves until the process ends, on two ports. The WebSocket uses the next port, where Solana's clients expect it. */
export async function startNode(options: BankOptions): Promise<RunningNode> {
  const bank = new Bank(options);
  const faucet = Keypair.generate();
  bank.setAccount(
    faucet.publicKey,
    new Account(FAUCET_LAMPORTS, new Uint8Array(), PublicKey.default.toBytes(), false, 0n),
  );
  const methods = {
    ...clusterMethods(bank),
    ...blockMethods(bank),
    ...accountMethods(bank),
    ...tokenMethods(bank),
    ...transactionMethods(bank, faucet),
    ...cheatMethods(bank),
  };
  const subscriptions = new Subscriptions(bank);
  const http = createServer(async (request, response) => {
    const say = (status: number, text: string, type?: string) =>
      response.writeHead(status, { ...crossOrigin(request), ...(type && { 'content-type': type }) }).end(text);
    if (request.url === '/health') return void say(200, 'ok');
    if (request.method === 'OPTIONS') return void say(200, '', JSON_TYPE);
    if (request.method !== 'POST') return void say(405, WRONG_METHOD, TEXT);
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return void say(415, WRONG_TYPE, TEXT);
    const body = await readBody(request).catch(() => null);
    if (body === null) return void say(413, TOO_LARGE, TEXT);
    say(200, answerText(methods, body), JSON_TYPE);
  });
  http.keepAliveTimeout = 60_000;
  const upgrades = createServer();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_CHEAT_BYTES });
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

/** Returns the first server's port; the second server has the next one. */
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

/** Browsers send a preflight request before JSON to another origin: for an explorer and a dashboard. */
function crossOrigin({ headers }: IncomingMessage) {
  const { origin, 'access-control-request-headers': asked } = headers;
  return {
    ...(origin && { 'access-control-allow-origin': origin, vary: 'origin' }),
    ...(asked && { 'access-control-allow-headers': asked, 'access-control-max-age': '86400' }),
  };
}

/** Throws if it is too large. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_CHEAT_BYTES) throw new RangeError('too large');
    chunks.push(chunk as Buffer);
  }
  const body = Buffer.concat(chunks);
  if (size > MAX_BODY_BYTES && !body.includes(CHEAT)) throw new RangeError('too large');
  return body.toString('utf8');
}

/** The answer to a body: one call, or a batch. Empty if no call expects an answer. */
export function answerText(methods: Record<string, Method>, body: string): string {
  let calls: unknown;
  try {
    calls = JSON.parse(body);
  } catch {}
  const all = Array.isArray(calls) ? calls : [calls];
  if (!all.every(isCall)) return JSON.stringify(failure(null, CODES.parse, 'Parse error'));
  const answers = all.map((call) => answer(methods, call)).filter((each) => each !== null);
  if (answers.length === 0) return '';
  return JSON.stringify(Array.isArray(calls) ? answers : answers[0]).replace(FOREVER, FOREVER_EXACT);
}

interface Call {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: unknown;
}

/** True for an object whose id is a text, null or a whole number. */
function isCall(call: unknown): call is Call {
  if (typeof call !== 'object' || call === null) return false;
  const { id } = call as Call;
  return id === undefined || id === null || typeof id === 'string' || Number.isSafeInteger(id);
}

/** Null if the call has no id, and so expects no answer. */
function answer(methods: Record<string, Method>, { jsonrpc, id, method, params = [] }: Call) {
  if ((jsonrpc !== undefined && jsonrpc !== '2.0') || typeof method !== 'string') {
    return failure(id ?? null, CODES.invalidRequest, 'Invalid request');
  }
  if (jsonrpc === undefined) {
    const unsupported = 'Unsupported JSON-RPC protocol version';
    return { id, error: { code: CODES.invalidRequest, message: unsupported } };
  }
  const told = run(methods, method, params);
  if (id === undefined) return null;
  return told instanceof RpcError ? failure(id, told.code, told.message, told.data) : { jsonrpc, id, result: told };
}

/** The result, or the error. */
function run(methods: Record<string, Method>, method: string, params: unknown): unknown {
  if (!Object.hasOwn(methods, method)) return new RpcError(CODES.methodNotFound, 'Method not found');
  try {
    if (!Array.isArray(params)) throw new RpcError(CODES.invalidParams, '`params` should be an array');
    return methods[method]!(params);
  } catch (error) {
    if (error instanceof RpcError) return error;
    console.error(`${method} failed:`, error);
    return new RpcError(CODES.internal, `Internal error: ${(error as Error).message}`);
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}
