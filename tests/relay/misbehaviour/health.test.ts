/** An agent whose server keeps failing is shown as degraded. */
import { expect } from 'chai';
import { useWorld } from '../../harness/edge/api.ts';
import { newAddress } from '../../harness/edge/rows.ts';

/** How executions ended: settled after so many milliseconds, or refunded (-1 is reason 0). */
const [FAILED, TIMED_OUT, INVALID, PAYOUT, UNSERVED, EXPIRED] = [-1, -2, -3, -4, -5, -6] as const;
const times = (n: number, outcome: number) => Array<number>(n).fill(outcome);
interface Ended {
  outcomes: number[];
  /** All of one wallet; by default each has its own. */
  isOne?: true;
  timeout_seconds?: bigint;
}
const ofOne = (n: number, outcome: number, timeout_seconds?: bigint): Ended => ({
  outcomes: times(n, outcome),
  isOne: true,
  ...(timeout_seconds && { timeout_seconds }),
});

/** What has ended, one group after the other, and the health then. */
const CASES: Record<string, [ended: Ended[], health: object]> = {
  'is unknown before the first execution, and restricts nothing': [
    [],
    { status: 'ok', success_rate_recent: null, p50_ms: null, p95_ms: null },
  ],
  'reports the success rate and the nearest-rank percentiles of the latency': [
    [{ outcomes: [...Array.from({ length: 20 }, (_, i) => (i + 1) * 10), FAILED, TIMED_OUT, INVALID, PAYOUT] }],
    { status: 'ok', success_rate_recent: 20 / 24, p50_ms: 100, p95_ms: 190 },
  ],
  'counts only the last fifty executions': [
    [{ outcomes: [...times(10, FAILED), ...times(50, 7)] }],
    { status: 'ok', success_rate_recent: 1, p50_ms: 7, p95_ms: 7 },
  ],
  "does not count failures that are not the creator's fault": [
    [{ outcomes: [5, ...times(20, UNSERVED), ...times(20, EXPIRED)] }],
    { status: 'ok', success_rate_recent: 1, p50_ms: 5, p95_ms: 5 },
  ],
  'is not degraded before the fifth execution': [
    [{ outcomes: [1, 1, 1, FAILED] }],
    { status: 'ok', success_rate_recent: 0.75 },
  ],
  'is not degraded at 80 %': [[{ outcomes: [1, 1, 1, 1, FAILED] }], { status: 'ok', success_rate_recent: 0.8 }],
  'is degraded below 80 %': [[{ outcomes: [...times(4, 1), ...times(3, FAILED)] }], { status: 'degraded' }],
  'is not degraded by one wallet alone, however often it fails the agent: each weighs as much': [
    [{ outcomes: times(3, 5) }, ofOne(20, FAILED)],
    { status: 'ok', success_rate_recent: 0.75 },
  ],
  'is not degraded by two wallets': [
    [ofOne(25, TIMED_OUT), ofOne(25, TIMED_OUT)],
    { status: 'ok', success_rate_recent: 0 },
  ],
  'is degraded by three wallets': [
    [ofOne(25, TIMED_OUT), ofOne(25, TIMED_OUT), ofOne(1, TIMED_OUT)],
    { status: 'degraded' },
  ],
  'does not count a timeout of a caller who gave less time than the listing asks for': [
    [{ outcomes: [5] }, ofOne(10, TIMED_OUT, 5n)],
    { success_rate_recent: 1 },
  ],
  'counts other failures of such a caller, and timeouts of callers who gave enough': [
    [{ outcomes: [5] }, ofOne(1, FAILED, 5n), ofOne(1, TIMED_OUT, 60n)],
    { success_rate_recent: 1 / 3 },
  ],
};

describe("an agent's health", () => {
  const world = useWorld();
  let at = 0;

  for (const [name, [ended, expected]] of Object.entries(CASES)) {
    it(name, async () => {
      const listing = await world.addListing();
      for (const { outcomes, isOne, timeout_seconds } of ended) {
        const one = newAddress();
        for (const outcome of outcomes) {
          const how =
            outcome >= 0
              ? { state: 'settled' as const, execution_time_ms: BigInt(outcome) }
              : { state: 'refunded' as const, refund_reason: BigInt(-outcome - 1) };
          at += 1;
          const time = { created_ms: BigInt(1_760_000_000_000 + at), ...(timeout_seconds && { timeout_seconds }) };
          const given = timeout_seconds ? { listing_timeout_seconds: 60n } : {};
          await world.addJournal({ wallet: isOne ? one : newAddress(), listing, ...time, ...given, ...how });
        }
      }
      const { health } = (await world.get(`/v1/agents/${listing}`)).json;
      expect(health).to.include(expected);
      const { agents } = (await world.get('/v1/agents?limit=100')).json;
      expect(agents.find((agent: { agent_id: string }) => agent.agent_id === listing).health).to.deep.equal(health);
    });
  }
});
