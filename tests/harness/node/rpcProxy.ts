/**
 * A proxy in front of a real Solana node that injects faults. A test can decide about each answer and each WebSocket
 * message. Everything else is forwarded unchanged.
 */
import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { VersionedTransaction } from '@solana/web3.js';
import { WebSocket, WebSocketServer } from 'ws';
import idl from '../../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { NEEDED_FEATURES } from '../../../app/solana/features.ts';
import { serve } from '../edge/listen.ts';

export type Kind = 'open' | 'settle' | 'refund' | 'deposit' | 'openFromDeposit';

export interface RpcCall {
  /** Path and query. */
  url: string;
  id: unknown;
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

export type RpcProxy = Awaited<ReturnType<typeof startRpcProxy>>;

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

/** Changes the node's results of one method. */
export const changing =
  // biome-ignore lint/suspicious/noExplicitAny: of the shape that the method has
    (method: string, change: (result: any, params: unknown[]) => unknown): CallRule =>
    async (call, forward) => {
      if (call.method !== method) return null;
      const answer = await forward();
      return { json: { ...answer, result: change(answer.result, call.params) } };
    };

/** Changes each value in the results of one method, such as each account of `getMultipleAccounts`. */
export const changingEach = (
  method: string,
  // biome-ignore lint/suspicious/noExplicitAny: as above
  change: (value: any, at: number, params: unknown[]) => unknown,
): CallRule =>
  changing(method, ({ context, value }: { context: object; value: unknown[] }, params) => ({
    context,
    value: value.map((one, at) => change(one, at, params)),
  }));

/** Answers as on a cluster where none of the features is active that the program needs. */
export const withoutFeatures = changingEach('getMultipleAccounts', (account, at, [addresses]) =>
  NEEDED_FEATURES.some(({ key }) => key === (addresses as string[])[at]) ? null : account,
);

export async function startRpcProxy(node: { rpcUrl: string; wsUrl: string }) {
  let callRule: CallRule | null = null;
  let messageRule: MessageRule | null = null;
  let refusing = false;
  const upgrades: string[] = [];

  function send(response: ServerResponse, reply: Reply): void {
    if (reply === 'silence') return;
    if (reply === 'cut') return void response.destroy();
    if ('status' in reply) return void response.writeHead(reply.status).end();
    const text = 'text' in reply ? reply.text : JSON.stringify(reply.json);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  }

  const http = await serve(async (request, response) => {
    const body = await buffer(request);
    const { id, method, params = [] } = JSON.parse(body.toString('utf8')) as Pick<RpcCall, 'id' | 'method' | 'params'>;
    const { url = '' } = request;
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
      const reply = await callRule?.({ url, id, method, params, kind }, forward);
      send(response, reply ?? { json: await forward() });
    } catch {
      response.destroy();
    }
  });

  const ws = new WebSocketServer({ server: http.server, verifyClient: () => !refusing });
  ws.on('connection', (client, { url = '' }) => {
    upgrades.push(url);
    const upstream = new WebSocket(node.wsUrl);
    const both = [client, upstream];
    for (const one of both) {
      one.on('error', () => undefined);
      one.on('close', () => {
        for (const each of both) each.terminate();
      });
    }
    client.pause();
    upstream.on('open', () => client.resume());
    // A paused client that closes still delivers what it had sent: then the node's side may not be open.
    client.on('message', (data) => upstream.readyState === upstream.OPEN && upstream.send(String(data)));
    upstream.on('message', (data) => {
      const text = String(data);
      const pass = () => client.readyState === client.OPEN && client.send(text);
      if (messageRule) messageRule(JSON.parse(text), pass);
      else pass();
    });
  });

  const cut = () => {
    for (const client of ws.clients) client.terminate();
  };
  const [rpcUrl, wsUrl] = [http.url, http.url.replace('http:', 'ws:')];
  return {
    rpcUrl,
    wsUrl,
    /** Settings of a relay behind it. */
    environment: { SOLANA_RPC_URL: rpcUrl, SOLANA_WS_URL: wsUrl } as NodeJS.ProcessEnv,
    /** Path and query of every WebSocket so far. */
    upgrades,
    onCall(rule: CallRule | null) {
      callRule = rule;
    },
    onMessage(rule: MessageRule | null) {
      messageRule = rule;
    },
    /** Breaks all WebSocket connections. With `refuse`, new ones are refused until it is called with false. */
    cutSockets(refuse = false) {
      refusing = refuse;
      cut();
    },
    async close() {
      http.close();
      cut();
      ws.close();
    },
  };
}

/** A proxy for the tests of a suite. With `each`, every test has its own. It closes after all other hooks. */
export function useRpcProxy(market: { node: Parameters<typeof startRpcProxy>[0] }, { each = false } = {}): RpcProxy {
  const proxy = {} as RpcProxy;
  const start = async () => void Object.assign(proxy, await startRpcProxy(market.node));
  before(async function () {
    const suite = this.test!.parent!;
    if (each) suite.afterEach(() => proxy.close());
    else {
      await start();
      suite.afterAll(() => proxy.close());
    }
  });
  if (each) beforeEach(start);
  return proxy;
}

/** Holds transactions of one kind before the node, once each: the relay sends them again. */
export function holdSends(proxy: RpcProxy, kind: Kind) {
  let holding: (() => void)[] | null = null;
  const standing = new Map<unknown, Promise<void>>();
  proxy.onCall(async ({ kind: sent, params: [bytes] }) => {
    const held = holding;
    if (sent === kind && held && !standing.has(bytes)) {
      standing.set(bytes, new Promise<void>((resolve) => held.push(resolve)));
    }
    await standing.get(bytes);
    return null;
  });
  return {
    /** Holds those from now on. Returns functions that let them pass, in order of arrival. */
    hold(): (() => void)[] {
      holding = [];
      return holding;
    },
    /** Lets all of them pass. */
    release(): void {
      for (const pass of holding ?? []) pass();
      holding = null;
    },
  };
}
