/** GET /v1/statements/daily and /spend: their sums equal those of the executions, to the base unit. */
import { expect } from 'chai';
import { chunks } from '../../../app/process/chunks.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { parseUsdc, toUsdc } from '../../../app/sdk/wire/usdc.ts';
import type { DailyStatement, SpendStatement } from '../../../app/sdk/wire/wire.ts';
import type { ExecutionRow } from '../../../indexer/queries/tables.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, type TestKey } from '../../harness/edge/rows.ts';

const DAY = 86_400;
/** Midnight before EPOCH. */
const FIRST = Math.floor(EPOCH / DAY) * DAY;
const dayOf = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(0, 10);
/** More than a batch, spread over three days, with one more before and one after. */
const ENDS = 2_500;
const SPREAD = 3 * DAY;
/** The service fee of every 7th execution, which an x402 client paid. Base units. */
const feeOf = (number: number) => (number % 7 === 0 ? BigInt(5_000 + number) : 0n);

describe('GET /v1/statements/daily', () => {
  let caller: TestKey;
  let creator: TestKey;
  const rows: ExecutionRow[] = [];
  const range = `from=${dayOf(FIRST)}&to=${dayOf(FIRST + 2 * DAY)}`;

  const world = useWorld();
  before(async () => {
    world.state.nowMs = (FIRST + 2 * DAY) * 1_000;
    const expiresAt = EPOCH + 100 * DAY;
    [caller, creator] = [await world.addKey({ expiresAt }), await world.addKey({ expiresAt })];
    const agents = [0, 1].map(() => world.addListing({ creator: creator.wallet }));
    const listings = await Promise.all(agents);
    const id = await world.addRecord({ caller: caller.wallet, listing: listings[0]! });
    const all = world.index.selectFrom('executions').selectAll();
    const model = await all.where('execution_id', '=', id).executeTakeFirstOrThrow();
    await world.index.deleteFrom('executions').execute();
    for (let number = 0; number < ENDS; number += 1) {
      const status = (['completed', 'completed', 'refunded', 'disputed', 'open'] as const)[number % 5]!;
      const price = BigInt(10_001 + number);
      const fee = status === 'refunded' || status === 'open' ? 0n : price / 97n;
      rows.push({
        ...model,
        execution_id: `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`,
        record: `record ${number}`,
        listing: listings[number % 2]!,
        key_id: [null, caller.keyId, 'elsewhere'][number % 3]!,
        status,
        price,
        platform_amount: fee,
        creator_amount: fee === 0n ? 0n : price - fee,
        dispute_count: status === 'disputed' ? 1n : 0n,
        deposit: feeOf(number) > 0n ? `deposit ${number}` : null,
        // Many end in the same second, and some exactly at midnight.
        settled_at: status === 'open' ? null : BigInt(FIRST + Math.floor((number * SPREAD) / (ENDS - 5) / 600) * 600),
      });
    }
    for (const at of [FIRST - 1, FIRST + SPREAD]) {
      const outside = { record: `at ${at}`, execution_id: `00000000-0000-8000-8001-${String(at).padStart(12, '0')}` };
      rows.push({ ...model, ...outside, settled_at: BigInt(at) });
    }
    await world.index.transaction().execute(async (index) => {
      for (const part of chunks(rows, 100)) await index.insertInto('executions').values(part).execute();
      const deposits = rows.flatMap(({ deposit, price }, number) =>
        deposit === null
          ? []
          : [
              {
                ...{ deposit, caller: caller.wallet, rent_sponsor: 'relay', price: `${price}`, slot: 20n },
                ...{ service_fee: feeOf(number), prepared_at: BigInt(FIRST), expires_at: BigInt(FIRST + 600) },
                ...{ status: 'opened' as const, ended_at: BigInt(FIRST), end_signature: 'open', closed: 1n as const },
              },
            ],
      );
      for (const part of chunks(deposits, 100)) await index.insertInto('deposits').values(part).execute();
    });
    const amounts = { amount_to_caller: 300_001n, amount_slashed: 50_000n };
    const dispute = { caller: caller.wallet, listing: listings[1]!, outcome: 'upheld' as const, ...amounts };
    for (const [number, at] of [
      [3, FIRST + DAY + 5],
      [8, FIRST + SPREAD],
    ] as const)
      await world.addDispute({ ...dispute, execution_id: rows[number]!.execution_id, resolved_at: BigInt(at) });
  });

  /** Rows that ended on these days. */
  const endedFrom = (first: number, days: number) =>
    rows.filter(({ status, settled_at }) => {
      const at = Number(settled_at ?? 0n);
      return status !== 'open' && at >= first && at < first + days * DAY;
    });

  /** Figures of ended rows, summed row by row. */
  function figuresOf(ended: ExecutionRow[]) {
    const settled = ended.filter(({ status }) => status !== 'refunded');
    const refunded = ended.filter(({ status }) => status === 'refunded');
    const sum = (some: ExecutionRow[], name: 'price' | 'creator_amount' | 'platform_amount') =>
      toUsdc(some.reduce((total, row) => total + row[name], 0n));
    return {
      executions: ended.length,
      completed: settled.length,
      refunded: refunded.length,
      disputed: ended.filter(({ dispute_count }) => dispute_count > 0n).length,
      paid_usdc: sum(settled, 'price'),
      earned_usdc: sum(settled, 'creator_amount'),
      fee_usdc: sum(settled, 'platform_amount'),
      refunded_usdc: sum(refunded, 'price'),
      service_fee_usdc: toUsdc(ended.reduce((total, row) => total + (row.deposit ? feeOf(rows.indexOf(row)) : 0n), 0n)),
    };
  }

  function expected(first: number, days: number) {
    const { service_fee_usdc, ...figures } = figuresOf(endedFrom(first, days));
    const isDecided = first <= FIRST + DAY && first + days * DAY > FIRST + DAY;
    const awards = { returned_usdc: isDecided ? 0.300001 : 0, slashed_usdc: isDecided ? 0.05 : 0 };
    return { ...figures, ...awards, service_fee_usdc };
  }

  for (const role of ['caller', 'creator'] as const) {
    it(`returns the exact amounts of a ${role}, for each day and in total`, async () => {
      const key = role === 'caller' ? caller : creator;
      const { status, json } = await world.get(`/v1/statements/daily?role=${role}&${range}`, key.apiKey);
      expect(status, JSON.stringify(json)).to.equal(200);
      const days = [0, 1, 2].map((number) => FIRST + number * DAY);
      expect(json).to.deep.equal({
        wallet: key.wallet,
        role,
        from: dayOf(FIRST),
        to: dayOf(FIRST + 2 * DAY),
        days: days.map((first) => ({ day: dayOf(first), ...expected(first, 1) })),
        total: expected(FIRST, 3),
      });
      const { days: shown, total } = json as DailyStatement;
      for (const name of ['paid_usdc', 'earned_usdc', 'fee_usdc', 'refunded_usdc', 'service_fee_usdc'] as const)
        expect(shown.reduce((sum, day) => sum + parseUsdc(day[name]), 0n)).to.equal(parseUsdc(total[name]));
      expect(parseUsdc(total.earned_usdc) + parseUsdc(total.fee_usdc)).to.equal(parseUsdc(total.paid_usdc));
      const client = createClient({ baseUrl: world.url, apiKey: key.apiKey });
      expect(await client.request('getDailyStatement', { role, from: json.from, to: json.to })).to.deep.equal(json);
    });
  }

  it('is CSV on request, and shows 30 days up to today unless asked otherwise', async () => {
    const { headers, text } = await world.get(`/v1/statements/daily?format=csv&${range}`, caller.apiKey);
    expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8');
    const [head, ...lines] = text.trimEnd().split('\n');
    const figures = expected(FIRST, 1);
    expect(head).to.equal(['day', ...Object.keys(figures)].join());
    expect(lines[0]).to.equal([dayOf(FIRST), ...Object.values(figures)].join());
    expect(lines).to.have.length(3);
    const { json } = await world.get('/v1/statements/daily', caller.apiKey);
    expect([json.days.length, json.from, json.to]).to.deep.equal([30, dayOf(FIRST - 27 * DAY), dayOf(FIRST + 2 * DAY)]);
  });

  it('ends with the day of the chain, whose clock the records follow, as do the statistics of an agent', async () => {
    const { accounts } = world.deps;
    const { clock } = accounts;
    accounts.clock = () => BigInt(FIRST + 9 * DAY);
    const { json: daily } = await world.get('/v1/statements/daily', caller.apiKey);
    const { json: spend } = await world.get('/v1/statements/spend', caller.apiKey);
    const { json: statistics } = await world.get(`/v1/agents/${rows[0]!.listing}/statistics`);
    accounts.clock = clock;
    for (const { from, to } of [daily, spend, statistics])
      expect([from, to]).to.deep.equal([dayOf(FIRST - 20 * DAY), dayOf(FIRST + 9 * DAY)]);
  });

  it('shows zeros for a wallet without executions, and nothing of another wallet', async () => {
    const { json } = await world.get(`/v1/statements/daily?role=creator&${range}`, caller.apiKey);
    expect(new Set(Object.values(json.total))).to.deep.equal(new Set([0]));
  });

  it('has the sums that each key paid to each agent, equal to those of the days', async () => {
    const { status, json } = await world.get(`/v1/statements/spend?${range}`, caller.apiKey);
    expect(status, JSON.stringify(json)).to.equal(200);
    const { rows: shown } = json as SpendStatement;
    const ended = endedFrom(FIRST, 3);
    expect(shown).to.have.length(3 * 3 * 2);
    expect(shown.reduce((sum, { executions }) => sum + executions, 0)).to.equal(ended.length);
    for (const row of shown) {
      const { executions, paid_usdc, refunded_usdc, service_fee_usdc } = figuresOf(
        ended.filter(
          ({ settled_at, key_id, listing }) =>
            dayOf(Number(settled_at)) === row.day && key_id === row.key_id && listing === row.agent_id,
        ),
      );
      expect(row).to.include({ executions, paid_usdc, refunded_usdc, service_fee_usdc });
    }
    expect(shown.map(({ day }) => day)).to.deep.equal(shown.map(({ day }) => day).sort());
    const returned = shown.filter(({ returned_usdc }) => returned_usdc > 0);
    const { key_id, listing } = rows[3]!;
    expect(returned.map((row) => [row.day, row.key_id, row.agent_id, row.returned_usdc])).to.deep.equal([
      [dayOf(FIRST + DAY), key_id, listing, 0.300001],
    ]);
    const names = Object.fromEntries(shown.map((row) => [row.key_id, row.key_name]));
    expect(names).to.deep.equal({ null: null, [caller.keyId]: 'laptop', elsewhere: null });
    expect(new Set(shown.map(({ agent_name }) => agent_name))).to.deep.equal(new Set(['csv-analyst']));
    const client = createClient({ baseUrl: world.url, apiKey: caller.apiKey });
    expect(await client.request('getSpend', { from: json.from, to: json.to })).to.deep.equal(json);
    expect((await world.get(`/v1/statements/spend?${range}`, creator.apiKey)).json.rows).to.deep.equal([]);
    expect((await world.get('/v1/statements/spend?from=2026-01-01&to=2026-04-03', caller.apiKey)).status).to.equal(400);
  });

  it('is also CSV by key and agent, in which a name is never a formula', async () => {
    const named = { name: '=1+"1", x' };
    await world.ledger.updateTable('api_keys').set(named).where('key_id', '=', caller.keyId).execute();
    const { headers, text } = await world.get(`/v1/statements/spend?format=csv&${range}`, caller.apiKey);
    expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8');
    const [head, ...lines] = text.trimEnd().split('\n');
    expect(head).to.match(/^day,key_id,key_name,agent_id,agent_name,executions,/);
    expect(lines).to.have.length(3 * 3 * 2);
    const ofKey = lines.filter((line) => line.includes(caller.keyId));
    expect(ofKey.every((line) => line.includes(`,"'=1+""1"", x",`))).to.equal(true);
    expect(lines.filter((line) => line.startsWith(`${dayOf(FIRST)},,,`))).to.have.length(2);
  });

  it('rejects: more than 92 days, an end before the beginning, and invalid dates', async () => {
    const ask = async (query: string) => (await world.get(`/v1/statements/daily?${query}`, caller.apiKey)).status;
    expect(await ask('from=2026-01-01&to=2026-04-02')).to.equal(200);
    for (const query of ['from=2026-01-01&to=2026-04-03', 'from=2026-01-02&to=2026-01-01', 'from=2026-02-30', 'role=x'])
      expect(await ask(query), query).to.equal(400);
    const early = await world.get('/v1/statements/spend?from=1969-12-30&to=1969-12-31', caller.apiKey);
    expect([early.status, early.json.error.message]).to.deep.equal([
      400,
      'The range of a statement must be at most 92 days from 1970-01-01 on, with "from" not after "to"; got 1969-12-30 to 1969-12-31',
    ]);
  });
});
