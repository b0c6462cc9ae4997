/**
 * A chain of known latency: the part of a Solana node's JSON-RPC and WebSocket interface that the relay uses, with the
 * real program behind it in a VM. A transaction runs `latencyMs` after it came, and whoever subscribed hears at once; all
 * else is answered as fast as this process can.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RawAccount } from '../../tests/harness/vm/backend.ts';
import type { RawFailure } from '../../tests/harness/vm/outcome.ts';
import type { Vm } from '../../tests/harness/vm/vm.ts';

const SLOT_MS = 400;
/** How long a blockhash is good for, blocks. */
const BLOCKHASH_BLOCKS = 150;

type TransactionError = string | { InstructionError: [number, string | { Custom: number }] };

interface Status {
  slot: number;
  err: TransactionError | null;
}

/** Who hears of all transactions in which a key appears. */
interface Subscriber {
  key: Buffer;
  subscription: number;
  socket: WebSocket;
}

interface Call {
  id: number | string;
  method: string;
  params?: unknown[];
}

/** Serves until the process ends. */
export async function serveChain(vm: Vm, latencyMs: number): Promise<{ rpcUrl: string; wsUrl: string }> {
  const begun = performance.now();
  const slot = (): number => 1_000 + Math.floor((performance.now() - begun) / SLOT_MS);
  const statuses = new Map<string, Status>();
  const subscribers = new Set<Subscriber>();
  const inContext = (value: unknown) => ({ context: { slot: slot() }, value });

  async function run(bytes: Buffer, signature: string): Promise<void> {
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    if (statuses.has(signature)) return;
    const { failure, logs } = await vm.process(bytes);
    const status = { slot: slot(), err: toError(failure) };
    statuses.set(signature, status);
    for (const { key, subscription, socket } of subscribers) {
      if (!bytes.includes(key)) continue;
      const result = { context: { slot: status.slot }, value: { signature, err: status.err, logs } };
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'logsNotification', params: { result, subscription } }));
    }
  }

  const methods: Record<string, (params: never[]) => unknown> = {
    getGenesisHash: () => bs58.encode(new Uint8Array(32).fill(1)),
    getSlot: slot,
    getBlockHeight: slot,
    getEpochInfo: () => ({
      absoluteSlot: slot(),
      blockHeight: slot(),
      epoch: 0,
      slotIndex: slot(),
      slotsInEpoch: 432_000,
    }),
    getLatestBlockhash: async () =>
      inContext({ blockhash: await vm.blockhash(), lastValidBlockHeight: slot() + BLOCKHASH_BLOCKS }),
    getBalance: async ([key]: string[]) => inContext(Number(await vm.lamports(new PublicKey(key!)))),
    getRecentPrioritizationFees: () => [],
    // An open record of an earlier process would be found here, and there was none.
    getProgramAccounts: () => [],
    getAccountInfo: async ([key]: string[]) => inContext(toJson(await vm.getAccount(new PublicKey(key!)))),
    getMultipleAccounts: async ([keys]: string[][]) =>
      inContext(await Promise.all(keys!.map(async (key) => toJson(await vm.getAccount(new PublicKey(key)))))),
    getSignatureStatuses: ([signatures]: string[][]) =>
      inContext(
        signatures!.map((signature) => {
          const status = statuses.get(signature);
          return status ? { ...status, confirmations: null, confirmationStatus: 'finalized' } : null;
        }),
      ),
    simulateTransaction: async ([base64]: string[]) => {
      const { failure, logs, computeUnits } = await vm.simulate(Buffer.from(base64!, 'base64'));
      return inContext({ err: toError(failure), logs, accounts: null, unitsConsumed: computeUnits, returnData: null });
    },
    sendTransaction: ([base64]: string[]) => {
      const bytes = Buffer.from(base64!, 'base64');
      const signature = bs58.encode(bytes.subarray(1, 65));
      void run(bytes, signature);
      return signature;
    },
  };

  async function answer({ id, method, params }: Call): Promise<string> {
    const handler = methods[method];
    if (!handler) return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: `no ${method} here` } });
    return JSON.stringify({ jsonrpc: '2.0', id, result: await handler((params ?? []) as never[]) });
  }

  const http = createServer(async (request, response) => {
    const body = await answer(JSON.parse(await readBody(request)));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
  http.keepAliveTimeout = 60_000;
  http.listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await Promise.all([once(http, 'listening'), once(sockets, 'listening')]);

  sockets.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { id, method, params } = JSON.parse(String(data)) as Call;
      if (method !== 'logsSubscribe') return socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 'ok' }));
      const [{ mentions }] = params as [{ mentions: [string] }];
      const subscriber = { key: Buffer.from(bs58.decode(mentions[0])), subscription: subscribers.size, socket };
      subscribers.add(subscriber);
      socket.on('close', () => subscribers.delete(subscriber));
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: subscriber.subscription }));
    });
  });
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  return { rpcUrl: `http://127.0.0.1:${portOf(http)}`, wsUrl: `ws://127.0.0.1:${portOf(sockets)}` };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function toJson(account: RawAccount | null) {
  if (!account) return null;
  const { lamports, owner, data, executable } = account;
  return {
    lamports: Number(lamports),
    owner: owner.toBase58(),
    data: [Buffer.from(data).toString('base64'), 'base64'],
    executable: executable ?? false,
    rentEpoch: 0,
    space: data.length,
  };
}

function toError(failure: RawFailure | null): TransactionError | null {
  if (!failure) return null;
  const { instruction, code, name } = failure;
  if (instruction === null) return name;
  return { InstructionError: [instruction, code === null ? name : { Custom: code }] };
}
