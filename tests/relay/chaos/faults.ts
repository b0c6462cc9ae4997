/** The faults of a plan, as rules for the proxy in front of the node. */
import { changing, changingEach, type RpcCall, type RpcProxy } from '../../harness/node/rpcProxy.ts';
import type { FaultName } from './plan.ts';

const accepted = { json: { jsonrpc: '2.0', id: 1, result: '1'.repeat(64) } };
const isSend = ({ method }: RpcCall) => method === 'sendTransaction';

/** Begins a fault, which lasts until `endFault`. */
export function beginFault(proxy: RpcProxy, name: FaultName): void {
  const { onCall, onMessage, cutSockets } = proxy;
  switch (name) {
    case 'busy':
      onCall(() => ({ status: 429 }));
      break;
    case 'broken':
      onCall(() => ({ text: '<html>bad gateway</html>' }));
      break;
    case 'gone':
      onCall(() => 'cut');
      break;
    case 'silent':
      onCall(() => 'silence');
      break;
    case 'drops what is sent':
      onCall((call) => (isSend(call) ? accepted : null));
      break;
    case 'sends twice':
      onCall(async (call, forward) => (isSend(call) ? { json: (await Promise.all([forward(), forward()]))[0] } : null));
      break;
    case 'lands and breaks':
      onCall(async (call, forward) => (isSend(call) ? forward().then(() => 'cut' as const) : null));
      break;
    case 'lags':
      onCall(
        changing('getMultipleAccounts', ({ context, value: [clock, ...rest] }) => ({
          context: { ...context, slot: 1 },
          value: [clock, ...rest.map(() => null)],
        })),
      );
      break;
    case 'knows no status':
      onCall(changingEach('getSignatureStatuses', () => null));
      break;
    case 'notifies nobody':
      onMessage(() => undefined);
      break;
    case 'closes its WebSocket':
      cutSockets(true);
  }
}

export function endFault(proxy: RpcProxy): void {
  proxy.onCall(null);
  proxy.onMessage(null);
  proxy.cutSockets(false);
}
