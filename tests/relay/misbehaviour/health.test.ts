/** An agent whose server keeps failing is shown as degraded. */
import { expect } from 'chai';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { newAddress } from '../../harness/edge/rows.ts';

describe("an agent's health", () => {
  let world: World;
  let listing: string;
  let at = 0;
  const UNTRIED = { status: 'ok', success_rate_recent: null, p50_ms: null, p95_ms: null };

  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    listing = await world.addListing();
  });

  /**
   * Ends executions in order: a positive number is the duration of a success, a negative one a refund (-1 is reason 0).
   */
  async function end(...outcomes: number[]): Promise<void> {
    for (const outcome of outcomes) await endFor(newAddress(), {}, outcome);
  }

  /** Ends executions of one wallet. */
  async function endFor(
    wallet: string,
    given: { timeout_seconds?: bigint; listing_timeout_seconds?: bigint },
    ...outcomes: number[]
  ): Promise<void> {
    for (const outcome of outcomes) {
      at += 1;
      const created_ms = BigInt(1_760_000_000_000 + at);
      const how =
        outcome >= 0
          ? { state: 'settled' as const, execution_time_ms: BigInt(outcome) }
          : { state: 'refunded' as const, refund_reason: BigInt(-outcome - 1) };
      await world.addJournal({ wallet, listing, created_ms, ...given, ...how });
    }
  }
  const health = async () => (await world.get(`/v1/agents/${listing}`)).json.health;
  const times = (n: number, outcome: number) => Array<number>(n).fill(outcome);
  const [FAILED, TIMED_OUT, INVALID, PAYOUT, UNSERVED, EXPIRED] = [-1, -2, -3, -4, -5, -6] as const;

  it('is unknown before the first execution, and restricts nothing', async () => {
    expect(await health()).to.deep.equal(UNTRIED);
    const page = (await world.get('/v1/agents?limit=100')).json.agents;
    expect(page.find((agent: { agent_id: string }) => agent.agent_id === listing).health).to.deep.equal(UNTRIED);
  });

  it('reports the success rate and the nearest-rank percentiles of the latency', async () => {
    await end(...Array.from({ length: 20 }, (_, i) => (i + 1) * 10), FAILED, TIMED_OUT, INVALID, PAYOUT);
    expect(await health()).to.deep.equal({ status: 'ok', success_rate_recent: 20 / 24, p50_ms: 100, p95_ms: 190 });
  });

  it('counts only the last fifty executions', async () => {
    await end(...times(10, FAILED), ...times(50, 7));
    expect(await health()).to.deep.equal({ status: 'ok', success_rate_recent: 1, p50_ms: 7, p95_ms: 7 });
  });

  it("does not count failures that are not the creator's fault", async () => {
    await end(5, ...times(20, UNSERVED), ...times(20, EXPIRED));
    expect(await health()).to.deep.equal({ status: 'ok', success_rate_recent: 1, p50_ms: 5, p95_ms: 5 });
  });

  it('is degraded below 80 %, from the fifth execution on', async () => {
    await end(1, 1, 1, FAILED);
    expect((await health()).status).to.equal('ok');
    await end(1);
    expect(await health()).to.include({ status: 'ok', success_rate_recent: 0.8 });
    await end(FAILED, FAILED);
    expect((await health()).status).to.equal('degraded');
  });

  describe('one wallet alone', () => {
    it('weighs as much as any other wallet, however often it fails the agent', async () => {
      await end(...times(3, 5));
      await endFor(newAddress(), {}, ...times(20, FAILED));
      expect(await health()).to.include({ status: 'ok', success_rate_recent: 0.75 });
    });

    it('does not degrade an agent, and two wallets do not either', async () => {
      await endFor(newAddress(), {}, ...times(25, TIMED_OUT));
      await endFor(newAddress(), {}, ...times(25, TIMED_OUT));
      expect(await health()).to.include({ status: 'ok', success_rate_recent: 0 });
      await end(TIMED_OUT);
      expect((await health()).status).to.equal('degraded');
    });
  });

  it('does not count a timeout of a caller who gave less time than the listing asks for', async () => {
    const short = { timeout_seconds: 5n, listing_timeout_seconds: 60n };
    await end(5);
    await endFor(newAddress(), short, ...times(10, TIMED_OUT));
    expect(await health()).to.include({ success_rate_recent: 1 });
    await endFor(newAddress(), short, FAILED);
    await endFor(newAddress(), { timeout_seconds: 60n, listing_timeout_seconds: 60n }, TIMED_OUT);
    expect(await health()).to.include({ success_rate_recent: 1 / 3 });
  });
});
