/**
 * A proxy in front of a real Solana node that injects faults. A test can decide about each answer and each WebSocket
 * message. Everything else is forwarded unchanged.
 */
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { VersionedTransaction } from '@solana/web3.js';
import idl from '../../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { NEEDED_FEATURES } from '../../../app/solana/features.ts';

export type Kind = 'open' | 'settle' | 'refund' | 'deposit' | 'openFromDeposit';

export interface RpcCall {
  method: string;
  params: unknown[];
  /** Purpose of a sent transaction; null for other calls. */
  kind: Kind | null;
}

/** The node's answer to a call, as JSON. */
export type Forward = () => Promise<Record<string, unknown>>;

/** The reply: JSON, another status, any text, a broken connection, or no answer at all. */
export type Reply = { json: unknown } | { status: number } | { text: string } | 'cut' | 'silence';

/** Decides about a call. Null forwards it. */
export type CallRule = (call: RpcCall, forward: Forward) => Promise<Reply | null> | Reply | null;
/** Decides about a message from the node: it may call `pass` never, once or several times, now or later. */
export type MessageRule = (message: { method?: string }, pass: () => void) => void;

export interface RpcProxy {
  rpcUrl: string;
  wsUrl: string;
  onCall(rule: CallRule | null): void;
  onMessage(rule: MessageRule | null): void;
  /** Breaks all WebSocket connections. With `refuse`, new ones are refused until it is called with false. */
  cutSockets(refuse?: boolean): void;
  close(): Promise<void>;
}

const KINDS: Record<string, Kind> = {
  open_execution_with_grant: 'open',
  settle_execution: 'settle',
  refund_execution: 'refund',
  prepare_deposit: 'deposit',
  open_execution_from_deposit: 'openFromDeposit',
};
const KIND_BY_DISCRIMINATOR = new Map(
  idl.instructions
    .filter(({ name }) => name in KINDS)
    .map(({ name, discriminator }) => [Buffer.from(discriminator).toString('hex'), KINDS[name]!]),
);

/** The purpose of a transaction, by its last instruction. */
export function kindOf(base64: string): Kind | null {
  const { message } = VersionedTransaction.deserialize(Buffer.from(base64, 'base64'));
  const last = message.compiledInstructions.at(-1);
  return KIND_BY_DISCRIMINATOR.get(Buffer.from(last!.data.subarray(0, 8)).toString('hex')) ?? null;
}

/** Answers as on a cluster where none of the features is active that the program needs. */
export const withoutFeatures: CallRule = async ({ method, params }, forward) => {
  if (method !== 'getMultipleAccounts') return null;
  const isNeeded = (params[0] as string[]).map((address) => NEEDED_FEATURES.some(({ key }) => key === address));
  if (!isNeeded.includes(true)) return null;
  const answer = await forward();
  const { context, value } = answer.result as { context: object; value: unknown[] };
  return {
    json: { ...answer, result: { context, value: value.map((account, at) => (isNeeded[at] ? null : account)) } },
  };
};

/** Parses one direction of a WebSocket with unmasked text frames, as servers send. */
function* takeFrames(state: { rest: Buffer }): Generator<{ raw: Buffer; text: string | null }> {
  for (;;) {
    const { rest } = state;
    if (rest.length < 2) return;
    const short = rest[1]! & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (rest.length < head) return;
    const length = short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
    if (rest.length < head + length) return;
    const raw = rest.subarray(0, head + length);
    state.rest = rest.subarray(head + length);
    const isText = (raw[0]! & 0x0f) === 1;
    yield { raw, text: isText ? raw.subarray(head).toString('utf8') : null };
  }
}

export async function startRpcProxy(node: { rpcUrl: string; wsUrl: string }): Promise<RpcProxy> {
  let callRule: CallRule | null = null;
  let messageRule: MessageRule | null = null;
  let refusing = false;
  const sockets = new Set<Socket>();

  function send(response: ServerResponse, reply: Reply): void {
    if (reply === 'silence') return;
    if (reply === 'cut') return void response.destroy();
    if ('status' in reply) return void response.writeHead(reply.status).end();
    const text = 'text' in reply ? reply.text : JSON.stringify(reply.json);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  }

  const http = createHttpServer(async (request, response) => {
    const body = await buffer(request);
    const { method, params = [] } = JSON.parse(body.toString('utf8')) as { method: string; params?: unknown[] };
    const kind = method === 'sendTransaction' && params.length > 0 ? kindOf(params[0] as string) : null;
    const forward: Forward = async () => {
      const answer = await fetch(node.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Uint8Array(body),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    try {
      const reply = await callRule?.({ method, params, kind }, forward);
      send(response, reply ?? { json: await forward() });
    } catch {
      response.destroy();
    }
  });
  // Only the client closes idle connections. If both closed one at once, a request would fail.
  http.keepAliveTimeout = 0;

  const target = new URL(node.wsUrl);
  const ws = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy()).on('close', () => sockets.delete(client));
    if (refusing) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream);
    let isOpen = false;
    const state = { rest: Buffer.alloc(0) };
    upstream.on('data', (chunk: Buffer) => {
      state.rest = Buffer.concat([state.rest, chunk]);
      if (!isOpen) {
        const end = state.rest.indexOf('\r\n\r\n');
        if (end < 0) return;
        isOpen = true;
        client.write(state.rest.subarray(0, end + 4));
        state.rest = state.rest.subarray(end + 4);
      }
      for (const { raw, text } of takeFrames(state)) {
        const pass = () => void (client.writable && client.write(raw));
        if (messageRule && text !== null) messageRule(JSON.parse(text), pass);
        else pass();
      }
    });
  });

  for (const server of [http, ws]) server.listen(0, '127.0.0.1');
  await Promise.all([once(http, 'listening'), once(ws, 'listening')]);
  const portOf = (server: typeof ws) => (server.address() as AddressInfo).port;
  return {
    rpcUrl: `http://127.0.0.1:${portOf(http)}`,
    wsUrl: `ws://127.0.0.1:${portOf(ws)}`,
    onCall(rule) {
      callRule = rule;
    },
    onMessage(rule) {
      messageRule = rule;
    },
    cutSockets(refuse = false) {
      refusing = refuse;
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      http.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      for (const server of [http, ws]) server.close();
    },
  };
}
