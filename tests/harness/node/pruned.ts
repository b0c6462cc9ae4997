/** Makes a node behind a proxy look as if it kept only recent history, as Agave's validator does. */
import type { ConfirmedSignatureInfo, Connection } from '@solana/web3.js';
import { changing, type Reply, type RpcProxy } from './rpcProxy.ts';

export type PrunedView = ReturnType<typeof prune>;

const SIGNATURE_NOT_FOUND = -32020;
const BLOCK_CLEANED_UP = -32001;

/** Leaves these transactions out of the node's lists. */
export const unlisted = (left: ReadonlySet<string>) =>
  changing('getSignaturesForAddress', (list: ConfirmedSignatureInfo[]) =>
    list.filter(({ signature }) => !left.has(signature)),
  );

/** `saysUnknown`: a list relative to a forgotten transaction is an error. Otherwise it is shorter or empty. */
export function prune(rpc: RpcProxy, connection: Connection, saysUnknown: boolean) {
  let first = 0;
  let next = { slot: 0, fetches: 0 };
  let lists = 0;

  async function isGone(signature: string | undefined): Promise<boolean> {
    if (signature === undefined) return false;
    const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
    return (value[0]?.slot ?? -1) < first;
  }

  function fetch(): void {
    if (next.fetches > 0 && --next.fetches === 0) first = next.slot;
  }

  rpc.onCall(async ({ method, params }, forward): Promise<Reply | null> => {
    if (first === 0 && next.fetches === 0) return null;
    const { result, error, ...head } = await forward();
    const answer = (value: unknown): Reply => ({ json: { ...head, result: value } });
    const refusal = (code: number, message: string): Reply => ({ json: { ...head, error: { code, message } } });
    switch (method) {
      case 'getFirstAvailableBlock':
        return answer(first);
      case 'getSignaturesForAddress': {
        lists += 1;
        const { until, before } = params[1] as { until?: string; before?: string };
        for (const signature of [before, until]) {
          if (saysUnknown && (await isGone(signature))) {
            return refusal(SIGNATURE_NOT_FOUND, `Transaction ${signature} not found`);
          }
        }
        if (await isGone(before)) return answer([]);
        return answer((result as ConfirmedSignatureInfo[]).filter(({ slot }) => slot >= first));
      }
      case 'getSignatureStatuses': {
        const { value, ...rest } = result as { value: ({ slot: number } | null)[] };
        return answer({ ...rest, value: value.map((status) => (status && status.slot >= first ? status : null)) });
      }
      case 'getTransaction':
        fetch();
        return answer(result && (result as { slot: number }).slot >= first ? result : null);
      case 'getBlockTime':
        return (params[0] as number) >= first
          ? null
          : refusal(BLOCK_CLEANED_UP, `Block ${params[0]} cleaned up, does not exist on node`);
      default:
        return error ? { json: { ...head, error } } : answer(result);
    }
  });
  return {
    /** Hides everything below the slot, at once or after `atFetch` more fetched transactions. */
    forgetBelow(slot: number, when?: { atFetch: number }): void {
      lists = 0;
      if (when) next = { slot, fetches: when.atFetch };
      else [first, next] = [slot, { slot: 0, fetches: 0 }];
    },
    /** Number of signature lists requested since then. */
    listed: () => lists,
  };
}
