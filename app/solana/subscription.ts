/**
 * Listens for the transactions of one address over WebSocket. Notifications are only hints and may be lost, so users
 * also poll the node. Reconnects forever. A connection counts as dead if nothing arrives although a request was sent,
 * because a half-open socket reports no error.
 *
 * web3.js's `onLogs` and `onSignature` are not used: they neither notice a half-open socket nor report a reconnect. If
 * their subscription changes while the socket closes, they repeat it forever and block the event loop.
 */
import type { Commitment, TransactionError } from '@solana/web3.js';
import { WebSocket } from 'undici';

export interface LogNotification {
  signature: string;
  slot: bigint;
  /** Null if it succeeded. */
  error: TransactionError | null;
  logs: string[];
}

interface SubscriptionOptions {
  wsUrl: string;
  /** Base58. */
  address: string;
  /** `finalized` by default. */
  commitment?: Commitment;
  /** Called for each transaction that mentions the address, once it has this commitment. */
  onLogs(notification: LogNotification): void;
  /** The node accepted the subscription, at first and after each reconnect. Earlier transactions were not reported. */
  onSubscribed?(): void;
  /** The connection was lost, with the reason. */
  onLost?(reason: string): void;
  /** Interval of heartbeat requests, ms. Without an answer for twice as long, the connection counts as dead. */
  heartbeatMs?: number;
}

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

/** Subscribes until `close` is called. */
export function subscribe(options: SubscriptionOptions): { close(): void } {
  let closed = false;
  let retryMs = RETRY_MIN_MS;
  let current: { socket: WebSocket; heartbeat: NodeJS.Timeout } | null = null;
  let retry: NodeJS.Timeout | undefined;

  const connect = () => {
    const socket = new WebSocket(options.wsUrl);
    const heartbeatMs = options.heartbeatMs ?? 5_000;
    let arrivedAt = Date.now();
    let requestId = 1;
    const request = (method: string, params: unknown[]) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: requestId, method, params }));
      requestId += 1;
    };
    const lose = (reason: string) => {
      if (current?.socket !== socket) return;
      clearInterval(current.heartbeat);
      current = null;
      socket.close();
      if (closed) return;
      options.onLost?.(reason);
      retry = setTimeout(connect, retryMs);
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
    };
    const heartbeat = setInterval(() => {
      if (Date.now() - arrivedAt > 2 * heartbeatMs) lose('silence');
      // Any answer shows that the node lives, even the refusal of a method that it lacks over WebSocket.
      else request('getHealth', []);
    }, heartbeatMs);
    current = { socket, heartbeat };
    const { address, commitment = 'finalized' } = options;
    socket.onopen = () => request('logsSubscribe', [{ mentions: [address] }, { commitment }]);
    socket.onerror = (event) => lose(event.message || 'error');
    socket.onclose = () => lose('closed by the node');
    socket.onmessage = (event) => {
      arrivedAt = Date.now();
      const message = JSON.parse(String(event.data)) as WireMessage;
      if (message.method === 'logsNotification') {
        const { context, value } = message.params.result;
        const { signature, err, logs } = value;
        options.onLogs({ signature, slot: BigInt(context.slot), error: err, logs: logs ?? [] });
      } else if (message.id === 1) {
        // The first request is the subscription.
        if (message.result === undefined) return lose(`refused: ${message.error?.message}`);
        retryMs = RETRY_MIN_MS;
        options.onSubscribed?.();
      }
    };
  };

  connect();
  return {
    close() {
      closed = true;
      clearTimeout(retry);
      if (!current) return;
      clearInterval(current.heartbeat);
      current.socket.close();
    },
  };
}

type WireMessage =
  | { method?: undefined; id: number; result?: number; error?: { message: string } }
  | {
      method: 'logsNotification';
      id?: undefined;
      params: {
        result: {
          context: { slot: number };
          value: { signature: string; err: TransactionError | null; logs: string[] | null };
        };
      };
    };
