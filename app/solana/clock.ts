/**
 * Compares the clock of this machine with the nodes'. Each answer of a node has its time in the header Date. The chain's
 * own clock would not do: it differs from real time by seconds, and a node that is behind shows an old one.
 */
import type { RpcFetch } from './rpc.ts';

/** The header counts whole seconds. */
const DATE_STEP_MS = 1_000;

export interface Clock {
  /** Sends with `send` unchanged, and reads the time of each answer. */
  watch(send: RpcFetch): RpcFetch;
  /**
   * Milliseconds by which this machine is certainly ahead (negative: behind) of every node that has answered, by the
   * node that is nearest; 0 while nothing is certain.
   */
  aheadMs(): number;
}

export function createClock(now: () => number): Clock {
  /** By the URL's origin. */
  const byNode = new Map<string, number>();

  return {
    watch: (send) => async (url, init) => {
      const askedMs = now();
      const answer = await send(url, init);
      const nodeMs = Date.parse(answer.date ?? '');
      if (!Number.isNaN(nodeMs)) byNode.set(new URL(url).origin, aheadOf(nodeMs, askedMs, now()));
      return answer;
    },
    aheadMs() {
      const readings = [...byNode.values()];
      const [first = 0] = readings;
      // One node with a wrong clock proves nothing.
      return readings.reduce((nearest, one) => (Math.abs(one) < Math.abs(nearest) ? one : nearest), first);
    },
  };
}

/** How far a clock is from another, which the message names next. */
export function describeSkew(aheadMs: number): string {
  return `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}

/** The node answered at a moment of this second, and between the other two times by our clock. */
function aheadOf(nodeMs: number, askedMs: number, answeredMs: number): number {
  const [ahead, behind] = [askedMs - (nodeMs + DATE_STEP_MS), nodeMs - answeredMs];
  if (ahead > 0) return ahead;
  return behind > 0 ? -behind : 0;
}
