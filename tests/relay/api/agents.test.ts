/** GET /v1/agents and GET /v1/agents/{agent_id}: every field, every parameter, and pages without gaps or repeats. */
import { expect } from 'chai';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { encodeMetadata, STANDARD_TAGS, tagMask } from '../../../app/sdk/wire/metadata.ts';
import { EXPLORER_QUERY, useWorld } from '../../harness/edge/api.ts';
import { EPOCH, metadataOf, newAddress } from '../../harness/edge/rows.ts';

interface Expected {
  agent_id: string;
  price: number;
  total: number;
  rate: number;
  created: number;
  verified: boolean;
  tags: string[];
}

/** The health of an agent that this relay has not called. */
const UNTRIED = { status: 'ok', success_rate_recent: null, p50_ms: null, p95_ms: null };

describe('GET /v1/agents', () => {
  const agents: Expected[] = [];
  const world = useWorld();
  before(async () => {
    const verifiedCreator = newAddress();
    const formerCreator = newAddress();
    await world.index
      .insertInto('creators')
      .values([
        { wallet: verifiedCreator, verified: 1n, verified_at: BigInt(EPOCH), slot: 5n },
        { wallet: formerCreator, verified: 0n, verified_at: 0n, slot: 5n },
      ])
      .execute();
    // 23 agents with repeated prices, dates and statistics, so that every sort has ties to break.
    for (let n = 0; n < 23; n += 1) {
      const standard = [STANDARD_TAGS[n % 10]!, STANDARD_TAGS[(n + 3) % 10]!];
      const custom = n % 4 === 0 ? ['sandbox'] : n % 4 === 1 ? ['sandbox', 'fast-2'] : [];
      const listing = await world.addListing(
        {
          price: BigInt(10_000 * (1 + (n % 5))),
          listed_at: BigInt(EPOCH + (n % 6)),
          tag_mask: BigInt(tagMask(standard)),
          creator: n % 3 === 0 ? verifiedCreator : n % 3 === 1 ? formerCreator : newAddress(),
        },
        { name: `agent-${n}`, custom_tags: custom },
      );
      const completed = n % 4;
      const failed = n % 3;
      for (let k = 0; k < completed; k += 1) {
        await world.addRecord({ caller: newAddress(), listing, execution_time_ms: BigInt(100 + k) });
      }
      for (let k = 0; k < failed; k += 1) {
        const refunded = { status: 'refunded' as const, result_hash: null, execution_time_ms: null };
        await world.addRecord({ caller: newAddress(), listing, ...refunded, reason: BigInt(k) });
      }
      // A refund that is not the creator's fault, and an unfinished call: neither counts.
      await world.addRecord({ caller: newAddress(), listing, status: 'refunded', reason: 4n, execution_time_ms: null });
      await world.addRecord({ caller: newAddress(), listing, status: 'open', execution_time_ms: null });
      agents.push({
        agent_id: listing,
        price: (1 + (n % 5)) / 100,
        total: completed + failed,
        rate: completed + failed === 0 ? 0 : completed / (completed + failed),
        created: n % 6,
        verified: n % 3 === 0,
        tags: [...STANDARD_TAGS.filter((tag) => standard.includes(tag)), ...custom],
      });
    }
    await world.addListing({ status: 'paused' });
    await world.addListing({ status: 'delisted' });
    await world.addListing({ metadata_hash: 'ab'.repeat(32) }, null);
  });

  const idsOf = async (query: string) => {
    const { status, json } = await world.get(`/v1/agents?limit=100&${query}`);
    expect(status, query).to.equal(200);
    return json.agents.map((agent: { agent_id: string }) => agent.agent_id);
  };
  const byTotal = () =>
    agents.toSorted((a, b) => b.total - a.total || (a.agent_id < b.agent_id ? -1 : 1)).map(({ agent_id }) => agent_id);

  it('returns summaries with every field and nothing else', async () => {
    const { status, json } = await world.get('/v1/agents?limit=100');
    expect(status).to.equal(200);
    expect(json.total).to.equal(23);
    const shown = new Map(json.agents.map((agent: { agent_id: string }) => [agent.agent_id, agent]));
    for (const [n, agent] of agents.entries()) {
      const completed = n % 4;
      const { creator, ...rest } = shown.get(agent.agent_id) as Record<string, unknown> & { creator: object };
      expect(rest).to.deep.equal({
        agent_id: agent.agent_id,
        name: `agent-${n}`,
        tagline: 'Answers one SQL question about a CSV file.',
        tags: agent.tags,
        price_per_call_usdc: agent.price,
        total_executions: agent.total,
        success_rate: agent.rate,
        // The mean of 100, 101, ... rounded.
        health: UNTRIED,
        open_disputes: 0,
        avg_execution_time_ms: completed === 0 ? 0 : Math.round(100 + (completed - 1) / 2),
        status: 'active',
        picture_path: null,
      });
      expect(creator).to.have.all.keys('pubkey', 'verified', 'display_name');
      expect(creator).to.include({ verified: agent.verified, display_name: 'Ada Analytics' });
    }
  });

  it('returns 20 from offset 0, most executed first, without parameters, and an empty page past the end', async () => {
    const { json } = await world.get('/v1/agents');
    expect(json).to.include({ total: 23, limit: 20, offset: 0 });
    const ids = json.agents.map((agent: { agent_id: string }) => agent.agent_id);
    expect(ids).to.deep.equal(byTotal().slice(0, 20));
    const beyond = await world.get('/v1/agents?offset=9007199254740991');
    expect(beyond.json).to.deep.equal({ agents: [], total: 23, limit: 20, offset: Number.MAX_SAFE_INTEGER });
  });

  it('takes all filters together, and a rate in every form of a number', async () => {
    const good = new Set(agents.filter(({ rate }) => rate >= 0.5).map(({ agent_id }) => agent_id));
    const ids = byTotal().filter((id) => good.has(id));
    for (const rate of ['5e-1', '.5', '0.50000000000000000', '50E-2', '0.5e+0', '05e-1', '0.5E0']) {
      expect(await idsOf(`min_success_rate=${encodeURIComponent(rate)}`), rate).to.deep.equal(ids);
    }
    expect(await idsOf('min_success_rate=-0')).to.have.length(23);
    const [one] = agents.filter(
      ({ verified, tags, total, rate }) => verified && tags.length > 3 && total > 0 && rate > 0,
    );
    const { tags, total, rate, agent_id } = one!;
    const all = `tags=${tags.join(',%20')}&verified_only=true&min_executions=${total}&min_success_rate=${rate}&sort=best`;
    expect(await idsOf(all)).to.include(agent_id);
    expect(await idsOf(all.replace(tags[0]!, 'no-such-tag'))).to.deep.equal([]);
    expect(await idsOf(`tags='%20OR%201=1`)).to.deep.equal([]);
  });

  it('finds agents by words, and by their whole id or the whole address of their creator', async () => {
    const found = async (q: string) => (await world.get(`/v1/agents?q=${encodeURIComponent(q)}`)).json;
    const [{ agent_id, creator }] = (await world.get('/v1/agents?q=AGENT%2017')).json.agents;
    for (const q of [agent_id, 'agent-17', 'question "17" file']) {
      const { agents, total } = await found(q);
      expect([total, agents[0].agent_id], q).to.deep.equal([1, agent_id]);
    }
    expect((await found(creator.pubkey)).agents.map((one: { agent_id: string }) => one.agent_id)).to.include(agent_id);
    for (const q of [creator.pubkey.slice(0, -1), 'agent-17 zebra', "'; DROP TABLE documents; --", '%', '-']) {
      expect((await found(q)).total, q).to.equal(0);
    }
  });

  const REFUSED: [query: string, parameter: string][] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=5&limit=5', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=9007199254740992', 'offset'],
    ['tags=data,', 'tags'],
    ['tags=data&tags=sql', 'tags'],
    ['min_success_rate=1.01', 'min_success_rate'],
    ['min_success_rate=NaN', 'min_success_rate'],
    ['min_success_rate=0x1', 'min_success_rate'],
    ['min_success_rate=50%25', 'min_success_rate'],
    ['min_executions=-5', 'min_executions'],
    ['verified_only=TRUE', 'verified_only'],
    ['q=', 'q'],
    [`q=${'x'.repeat(101)}`, 'q'],
    ['q=a%00b', 'q'],
    ['q=a&q=b', 'q'],
    ['creator=x', 'creator'],
    ['sort=price', 'sort'],
    ['page=2', 'page'],
    ['__proto__=1', '__proto__'],
  ];
  it('rejects: parameters out of their range, and names them', async () => {
    for (const [query, parameter] of REFUSED) {
      const { outcome, json } = await world.get(`/v1/agents?${query}`);
      expect([outcome, json.error.execution_id], query).to.deep.equal(['400 invalid_request', null]);
      expect(json.error.message, query).to.include(`"${parameter}"`);
    }
  });
});

describe('GET /v1/agents/{agent_id}', () => {
  const world = useWorld();

  it('returns the full listing: every field and nothing else', async () => {
    const creator = newAddress();
    const input_schema = { type: 'object', properties: { csv: { type: 'string' } }, required: ['csv'] };
    const listing = await world.addListing(
      { creator, slashed: 500_000n },
      { custom_tags: ['csv', 'fast'], input_schema },
    );
    const record = { caller: newAddress(), listing };
    await world.addRecord({ ...record, execution_time_ms: 101n });
    const ended = [
      { outcome: 'open', status: 'disputed' },
      { outcome: 'upheld', status: 'dispute_upheld' },
      { outcome: 'rejected', status: 'completed' },
      { outcome: 'lapsed', status: 'completed' },
    ] as const;
    for (const [at, { outcome, status }] of ended.entries()) {
      const time = BigInt(100 * (at + 1));
      const execution_id = await world.addRecord({ ...record, execution_time_ms: time, status, dispute_count: 1n });
      await world.addDispute({ ...record, execution_id, outcome });
    }
    await world.addRecord({ ...record, execution_time_ms: null, status: 'refunded', reason: 1n });
    await world.addRecord({ ...record, execution_time_ms: null, status: 'refunded', reason: 5n });
    const { status, json } = await world.get(`/v1/agents/${listing}`);
    expect(status).to.equal(200);
    expect(json).to.deep.equal({
      agent_id: listing,
      name: 'csv-analyst',
      tagline: 'Answers one SQL question about a CSV file.',
      tags: ['data', 'csv', 'fast'],
      price_per_call_usdc: 0.25,
      total_executions: 6,
      success_rate: 4 / 6,
      avg_execution_time_ms: 220,
      health: UNTRIED,
      creator: { pubkey: creator, verified: false, display_name: 'Ada Analytics' },
      picture_path: null,
      status: 'active',
      description: 'Reads a file and answers a question.',
      input_schema,
      output_schema: { type: 'string' },
      timeout_seconds: 60,
      min_timeout_seconds: 1,
      successful_executions: 4,
      max_result_bytes: 1_638_400,
      dispute_count: 4,
      open_disputes: 1,
      upheld_disputes: 1,
      rejected_disputes: 1,
      collateral_usdc: 4.5,
      slashed_usdc: 0.5,
      on_chain_listing: `https://explorer.solana.com/address/${listing}${EXPLORER_QUERY}`,
      created_at: '2025-10-09T08:53:20.000Z',
    });
    const { agents } = (await world.get('/v1/agents')).json;
    expect(agents).to.have.length(1);
    expect(agents[0]).to.include({ agent_id: listing, open_disputes: 1 });
  });

  it('returns new metadata and a new price as soon as the listing has them', async () => {
    const listing = await world.addListing({}, { name: 'before' });
    expect((await world.get(`/v1/agents/${listing}`)).json.name).to.equal('before');
    const bytes = encodeMetadata(metadataOf({ name: 'after' }));
    await world.addDocument(bytes);
    const changed = { metadata_hash: hashMetadata(bytes), price: 1_234_567n };
    await world.index.updateTable('listings').set(changed).where('listing', '=', listing).execute();
    const { json } = await world.get(`/v1/agents/${listing}`);
    expect(json).to.include({ name: 'after', price_per_call_usdc: 1.234567 });
  });

  it('returns 503 metadata_missing while the document of a listing is unknown', async () => {
    const listing = await world.addListing({ metadata_hash: 'cd'.repeat(32) }, null);
    const { outcome, headers } = await world.get(`/v1/agents/${listing}`);
    expect([outcome, headers.get('retry-after')]).to.deep.equal(['503 metadata_missing', '30']);
  });

  it('rejects: unknown, delisted and malformed ids with 404 agent_not_found', async () => {
    const delisted = await world.addListing({ status: 'delisted' });
    const garbage = ['x', '0'.repeat(44), '%00', '%ZZ', '%FF%FE', '..%2f..', 'a'.repeat(5000), "'--", '%20'];
    for (const id of [delisted, newAddress(), ...garbage])
      expect((await world.get(`/v1/agents/${id}`)).outcome, id).to.equal('404 agent_not_found');
  });
});
