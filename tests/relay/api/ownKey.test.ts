/** GET /v1/key: the amount that each limit leaves, ended periods, and whether the gas balance suffices. */
import { expect } from 'chai';
import { grantAccount } from '../../harness/edge/accounts.ts';
import { useWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH } from '../../harness/edge/rows.ts';

describe('GET /v1/key', () => {
  const world = useWorld();

  async function ask(changes: Parameters<typeof grantAccount>[1], money: Partial<World['state']['money']> = {}) {
    const key = await world.addKey();
    world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key, changes));
    const before = world.state.money;
    world.state.money = { ...before, ...money };
    const answer = await world.get('/v1/key', key.apiKey);
    world.state.money = before;
    return answer;
  }

  it('names the smallest of all limits as the most that a call can cost', async () => {
    const payable = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).json.payable_usdc;
    expect(await payable({})).to.equal(10);
    expect(await payable({ perExecutionMax: 1n })).to.equal(0.000001);
    expect(await payable({ periodSpent: 9_999_999n })).to.equal(0.000001);
    expect(await payable({ totalSpent: 99_000_000n })).to.equal(1);
    expect(await payable({}, { balance: 3_000_000n })).to.equal(3);
    expect(await payable({}, { allowance: 0n })).to.equal(0);
    // The limit was lowered below the amount already spent.
    expect(await payable({ totalMax: 1n, totalSpent: 2n })).to.equal(0);
  });

  it('says if the allowance ends before the total limit, to the base unit', async () => {
    const covers = async (allowance: bigint) =>
      (await ask({ totalMax: 100_000_000n, totalSpent: 60_000_000n }, { allowance })).json.allowance_covers_total;
    expect(await covers(40_000_000n)).to.equal(true);
    expect(await covers(39_999_999n)).to.equal(false);
  });

  it('counts nothing as spent once a new period has begun, and names the next one', async () => {
    const ended = { periodStart: BigInt(EPOCH - 200), periodSeconds: 150, periodSpent: 9_000_000n };
    const { json } = await ask(ended);
    expect(json).to.include({ period_spent_usdc: 0, period_remaining_usdc: 10 });
    expect(json.renews_at).to.equal(new Date((EPOCH + 100) * 1000).toISOString());
  });

  it('reports whether the gas balance pays for a call, down to the lamport', async () => {
    const gas = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).json.gas;
    const whole = 11_950n + 1_488_440n;
    const least = 890_880n + whole;
    expect(await gas({}, { gasBalance: least })).to.include({ next_call_lamports: 11_950, pays_next_call: true });
    expect(await gas({}, { gasBalance: least - 1n })).to.include({ pays_next_call: false });
    expect(await gas({}, { gasBalance: whole })).to.include({ pays_next_call: true });
    expect(await gas({ maxGasLamports: 11_950 }, { gasBalance: least })).to.include({ pays_next_call: true });
    expect(await gas({ maxGasLamports: 11_949 }, { gasBalance: least })).to.include({ pays_next_call: false });
  });

  it('reports whether the service pays the gas of a call where the gas balance does not', async () => {
    expect((await ask({}, { gasBalance: 0n })).json.gas).to.include({ pays_next_call: false, is_sponsored: false });
    const { config } = world.deps;
    world.deps.config = { ...config, sponsorsAll: true };
    const { gas } = (await ask({}, { gasBalance: 0n })).json;
    world.deps.config = config;
    expect(gas).to.include({ pays_next_call: false, is_sponsored: true });
  });

  it('answers a key that may only execute, and refuses one whose grant ended on-chain before the index knew', async () => {
    const key = await world.addKey();
    await world.ledger.updateTable('api_keys').set({ scopes: 'execute' }).where('key_hash', '=', key.keyHash).execute();
    expect((await world.get('/v1/key', key.apiKey)).json).to.deep.include({ scopes: ['execute'], name: 'laptop' });
    expect((await ask({ revoked: true })).outcome).to.equal('401 unauthorized');
  });
});
