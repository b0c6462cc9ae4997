/** The faults of a plan, as rules for the proxy in front of the node. */
import { type CallRule, changing, changingEach, type RpcProxy } from '../../harness/node/rpcProxy.ts';

const accepted = { json: { jsonrpc: '2.0', id: 1, result: '1'.repeat(64) } };
type Sending = (forward: Parameters<CallRule>[1]) => ReturnType<CallRule>;
/** Decides about sent transactions only. */
const onSend =
  (decide: Sending): CallRule =>
  ({ method }, forward) =>
    method === 'sendTransaction' ? decide(forward) : null;
const lagging = changing('getMultipleAccounts', ({ context, value: [clock, ...rest] }) => ({
  context: { ...context, slot: 1 },
  value: [clock, ...rest.map(() => null)],
}));

/** Faults of the node, one at a time. Each begins with its function, and lasts until `endFault`. */
export const FAULTS = {
  busy: ({ onCall }) => onCall(() => ({ status: 429 })),
  broken: ({ onCall }) => onCall(() => ({ text: '<html>bad gateway</html>' })),
  gone: ({ onCall }) => onCall(() => 'cut'),
  silent: ({ onCall }) => onCall(() => 'silence'),
  'drops what is sent': ({ onCall }) => onCall(onSend(() => accepted)),
  'sends twice': ({ onCall }) =>
    onCall(onSend(async (forward) => ({ json: (await Promise.all([forward(), forward()]))[0] }))),
  'lands and breaks': ({ onCall }) => onCall(onSend((forward) => forward().then(() => 'cut' as const))),
  lags: ({ onCall }) => onCall(lagging),
  'knows no status': ({ onCall }) => onCall(changingEach('getSignatureStatuses', () => null)),
  'notifies nobody': ({ onMessage }) => onMessage(() => undefined),
  'closes its WebSocket': ({ cutSockets }) => cutSockets(true),
} satisfies Record<string, (proxy: RpcProxy) => void>;
export type FaultName = keyof typeof FAULTS;

export function endFault(proxy: RpcProxy): void {
  proxy.onCall(null);
  proxy.onMessage(null);
  proxy.cutSockets(false);
}
