/**
 * An agent whose server keeps failing: shown as degraded, refused before any payment after enough failures in a row,
 * and open again after a successful probe.
 */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createAgentHealth } from '../../../app/relay/agents/agentHealth.ts';
import { createParameterCheck } from '../../../app/relay/agents/parameters.ts';
import { probeListing } from '../../../app/relay/agents/prober.ts';
import { sampleParameters } from '../../../app/relay/agents/schemas/sample.ts';
import { ApiError } from '../../../app/relay/errors.ts';
import { failedAnswer, generateSigningKey, signingKeyAddress } from '../../../app/sdk/creator/creator.ts';
import { createKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { newAddress } from '../../harness/edge/rows.ts';
import { afterPaying, goodAnswer, request, useMarketplace } from '../../harness/node/marketplace.ts';

describe("an agent's health", () => {
  let listing: string;
  let at = 0;
  const UNTRIED = { status: 'ok', success_rate_recent: null, p50_ms: null, p95_ms: null };

  const world = useWorld();
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

  /** The error that the listing is refused with; null while it is served. */
  const refusal = (own: ReturnType<typeof createAgentHealth>): Promise<Error | null> =>
    own.requireServing(listing).then(
      () => null,
      (error: Error) => error,
    );

  describe('one wallet alone', () => {
    it('weighs as much as any other wallet, however often it fails the agent', async () => {
      await end(...times(3, 5));
      await endFor(newAddress(), {}, ...times(20, FAILED));
      expect(await health()).to.include({ status: 'ok', success_rate_recent: 0.75 });
    });

    it('does not degrade or close an agent, and two wallets do not either', async () => {
      const own = createAgentHealth(world.tables.ledger, 10, 30);
      await endFor(newAddress(), {}, ...times(25, TIMED_OUT));
      await endFor(newAddress(), {}, ...times(25, TIMED_OUT));
      await own.requireServing(listing);
      expect(await health()).to.include({ status: 'ok', success_rate_recent: 0 });
      await end(TIMED_OUT);
      expect(await refusal(own)).to.be.an.instanceOf(ApiError);
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

  describe('refusal', () => {
    // With the settings of the test's relay.
    const reader = () => createAgentHealth(world.tables.ledger, 10, 30);

    it('starts with the tenth consecutive failure of any kind, and not with the ninth', async () => {
      const own = reader();
      await end(1, ...times(3, FAILED), ...times(3, TIMED_OUT), ...times(3, INVALID));
      await own.requireServing(listing);
      expect(await own.refused()).to.deep.equal([]);
      await end(PAYOUT);
      const error = await refusal(own);
      expect(error).to.include({ code: 'service_unavailable', retryAfterSeconds: 30 });
      expect(error?.message).to.match(/failed its last 10 executions.*Nothing was charged/);
      expect(await own.refused()).to.deep.equal([listing]);
      expect((await health()).status).to.equal('degraded');
    });

    it('ends with a success', async () => {
      const own = reader();
      await end(...times(20, TIMED_OUT), 1);
      await own.requireServing(listing);
    });

    it('never starts when it is switched off', async () => {
      await end(...times(50, TIMED_OUT));
      await createAgentHealth(world.tables.ledger, 0, 30).requireServing(listing);
    });
  });

  describe('a probe', () => {
    const signingKey = generateSigningKey();
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 3 }, text: { type: 'string' } },
      required: ['n'],
    };

    beforeEach(async () => {
      listing = await world.addListing({ signing_key: signingKeyAddress(signingKey) }, { input_schema: schema });
      await end(...times(10, TIMED_OUT));
      world.state.nowMs = 1_760_000_000_000 + at + 1;
    });

    type Asked = Parameters<typeof world.deps.callCreator>[0];
    async function probe(answer: (asked: Asked) => unknown): Promise<{ passed: boolean; asked: Asked }> {
      let asked: Asked | undefined;
      const callCreator: typeof world.deps.callCreator = async (call) => {
        asked = call;
        const json = answer(call);
        return json === undefined
          ? { kind: 'timeout', message: 'x' }
          : { kind: 'body', body: [Buffer.from(JSON.stringify(json))] };
      };
      const passed = await probeListing({ ...world.deps, callCreator }, listing);
      return { passed, asked: asked! };
    }
    const isServing = async () => (await refusal(createAgentHealth(world.tables.ledger, 10, 30))) === null;

    it('opens the agent when it gets a signed result, and ten more failures close it again', async () => {
      expect(await isServing()).to.equal(false);
      const { passed, asked } = await probe(({ request: { execution_id } }) =>
        goodAnswer(signingKey, execution_id, 'x'),
      );
      expect(passed).to.equal(true);
      expect(asked.request).to.deep.include({ parameters: '{"n":3}', timeout_seconds: 30 });
      expect(await isServing()).to.equal(true);
      at += 10;
      await end(...times(9, TIMED_OUT));
      expect(await isServing()).to.equal(true);
      await end(TIMED_OUT);
      expect(await isServing()).to.equal(false);
    });

    it('opens the agent when it gets a well-formed failure, because the server answers', async () => {
      const { passed } = await probe(({ request: { execution_id } }) => failedAnswer(execution_id, 'no such text'));
      expect(passed).to.equal(true);
      expect(await isServing()).to.equal(true);
    });

    const answers: [string, (asked: Asked) => unknown][] = [
      ['not at all', () => undefined],
      ['with something else', () => 'hello'],
      ['for another execution', () => goodAnswer(signingKey, '00000000-0000-8000-8000-000000000000', 'x')],
      [
        'with the signature of another key',
        ({ request: { execution_id } }) => goodAnswer(generateSigningKey(), execution_id, 'x'),
      ],
    ];
    for (const [how, answer] of answers) {
      it(`leaves the agent closed when it is answered ${how}`, async () => {
        expect((await probe(answer)).passed).to.equal(false);
        expect(await isServing()).to.equal(false);
      });
    }

    it('does not undo an earlier successful probe when it fails', async () => {
      await probe(({ request: { execution_id } }) => goodAnswer(signingKey, execution_id, 'x'));
      await probe(() => undefined);
      expect(await isServing()).to.equal(true);
    });
  });

  describe('the parameters of a probe', () => {
    const number = (bounds: object) => ({ type: 'number', ...bounds });
    const schemas: [string, Record<string, unknown>, unknown][] = [
      ['nothing required', { n: { type: 'number' } }, {}],
      ['text', { text: { type: 'string', minLength: 3 } }, { text: 'xxx' }],
      ['a choice', { mode: { type: 'string', enum: ['fast', 'slow'] } }, { mode: 'fast' }],
      ['a default', { mode: { type: 'string', default: 'slow' } }, { mode: 'slow' }],
      [
        'numbers',
        { a: number({ minimum: 2.5 }), b: number({ maximum: -2 }), c: number({}), d: number({ exclusiveMinimum: 0 }) },
        { a: 3, b: -2, c: 0, d: 1 },
      ],
      [
        'a date and a place',
        { day: { type: 'string', format: 'date' }, at: { type: 'string', format: 'uri' } },
        { day: '2026-01-01', at: 'https://example.com/' },
      ],
      ['a list', { rows: { type: 'array', minItems: 2, items: { type: 'boolean' } } }, { rows: [false, false] }],
      ['an object', { point: { type: 'object', properties: { x: number({}) }, required: ['x'] } }, { point: { x: 0 } }],
      ['several types', { any: { type: ['null', 'string'] } }, { any: null }],
    ];
    for (const [what, properties, expected] of schemas) {
      it(what, async () => {
        const required = what === 'nothing required' ? [] : Object.keys(properties);
        const schema = { type: 'object', properties, required };
        expect(await sampleParameters(schema, createParameterCheck(schema))).to.deep.equal({
          parameters: expected,
          fits: true,
        });
      });
    }
  });
});

describe('an agent that keeps failing', () => {
  const REFUSE_AFTER = 3;
  let isWell = true;
  let probes = 0;
  let keys: string[];

  const market = useMarketplace({ environment: { REFUSE_AFTER: String(REFUSE_AFTER), PROBE_SECONDS: '1' } });
  before(async () => {
    market.setBehaviour((body, response, reply) => {
      if (body.task.startsWith('Availability check')) probes += 1;
      if (isWell) reply(goodAnswer(market.signingKey, body.execution_id, 'well'));
      else response.writeHead(500).end();
    });
    const third = Keypair.generate();
    await market.node.fundSol(third.publicKey, 1e9);
    await market.mintTo(third.publicKey, 10_000_000n);
    const key = { wallet: keypairSigner(third), name: 'third', limits: market.limits };
    keys = [...market.callers.map(({ apiKey }) => apiKey), (await createKey(market.marketplace, key)).api_key];
  });

  const execute = (apiKey = keys[0]!) =>
    request(market.relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey, body: { task: 'x' } });
  const health = async () => (await request(market.relay.url, `/v1/agents/${market.agentId}`)).body.health;
  const until = async (holds: () => boolean | Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
  };

  it('is refused with 503 before any payment, probed, and open again after a successful probe', async () => {
    expect((await execute()).status).to.equal(200);
    isWell = false;
    // One wallet can fail any number of times without closing the agent.
    for (let i = 0; i <= REFUSE_AFTER; i += 1) expect((await execute()).status).to.equal(500);
    for (const apiKey of keys.slice(1)) expect((await execute(apiKey)).status).to.equal(500);

    const before = await market.balances();
    const sol = await market.node.connection.getBalance(market.authority.publicKey);
    const calls = market.calls.size;
    const refused = await execute();
    expect(refused.status).to.equal(503);
    expect(refused.body.error).to.include({ code: 'service_unavailable', execution_id: null });
    expect(refused.body.error.message).to.include('failed its last 3 executions');
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(await market.balances()).to.deep.equal(before);
    expect(await market.node.connection.getBalance(market.authority.publicKey)).to.equal(sol);
    expect((await health()).status).to.equal('degraded');

    await until(() => probes >= 2);
    expect((await execute()).status).to.equal(503);
    // Since then only probes have called the creator.
    expect(market.calls.size - calls).to.equal(probes);

    isWell = true;
    await until(async () => (await execute()).status === 200);
    expect(await market.balances()).to.deep.equal(afterPaying(before));
    const asked = probes;
    expect((await execute()).status).to.equal(200);
    expect(probes).to.equal(asked);
  });
});
