/** Whose webhooks are sent next: of many endpoints, wallets and slow receivers. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { readDueEndpoints } from '../../../../app/relay/ledger/webhooks.ts';
import { newAddress } from '../../../harness/edge/rows.ts';
import { until } from '../../../harness/edge/until.ts';
import { HOUR_MS, useWebhooks } from './scene.ts';

describe('turns of webhooks', () => {
  const scene = useWebhooks();
  const { world, clientOf, sender, holding, send, mine, create, execute, addEndpoints, addDue } = scene;

  it('sends at most four at a time to one endpoint, whatever else waits', async () => {
    await create();
    const { held, answers } = holding();
    await Promise.all(Array.from({ length: 12 }, () => execute()));
    await world.feed.turn();
    const two = [sender({}, held), sender({}, held)];
    const turn = async () => {
      for (const one of two) await one.turn();
    };
    const count = async (state: 'pending' | 'delivered') => {
      const rows = world.ledger.selectFrom('webhook_deliveries').select('id').where('attempts', '>', 0n);
      return (await rows.where('state', '=', state).execute()).length;
    };
    for (const delivered of [0, 4, 8]) {
      await until('the earlier ones are delivered', async () => (await count('delivered')) === delivered);
      await until('four attempts have begun', async () => {
        await turn();
        return answers.length >= 4;
      });
      await turn();
      expect(await count('pending')).to.equal(4);
      for (const answer of answers.splice(0)) answer();
    }
    await Promise.all(two.map((one) => one.idle()));
    expect(await count('delivered')).to.equal(12);
  });

  it('sends at most eight at a time to all endpoints of one wallet, and to other wallets meanwhile', async () => {
    for (let count = 0; count < 10; count += 1) await create();
    const other = Keypair.generate();
    const otherWallet = other.publicKey.toBase58();
    await world.addRecord({ caller: otherWallet, listing: await world.addListing() });
    await (await clientOf(other)).request('createWebhook', { body: { url: scene.receiver.url } });
    const { held, answers } = holding();
    for (let count = 0; count < 8; count += 1) await execute();
    await world.addJournal({ wallet: otherWallet, listing: newAddress(), state: 'open_confirmed' });
    await world.feed.turn();
    const begun = async (of: string) => {
      const own = world.ledger.selectFrom('webhook_endpoints').select('endpoint_id').where('wallet', '=', of);
      const tried = world.ledger.selectFrom('webhook_deliveries').select('id').where('attempts', '>', 0n);
      return (await tried.where('endpoint_id', 'in', own).execute()).length;
    };
    const deliveries = sender({ total: 10 }, held);
    for (let turn = 0; turn < 5; turn += 1) await deliveries.turn();
    expect([await begun(scene.wallet), await begun(otherWallet)]).to.deep.equal([8, 1]);
    await until('nine attempts have begun', async () => answers.length === 9);
    for (const answer of answers.splice(0)) answer();
    await deliveries.idle();
  });

  it('sends one at a time to an endpoint that was slow, few to all slow ones, and to quick ones meanwhile', async () => {
    const ids = await addEndpoints(20, (n) => ({
      wallet: newAddress(),
      is_known: 1n,
      url: n < 18 ? 'http://slow.example/' : 'http://quick.example/',
    }));
    await (await mine()).request('createWebhook', { body: { url: scene.receiver.url } });
    await execute();
    await world.feed.turn();
    const { held, answers, open } = holding();
    const add = () => addDue(ids, 1);
    await add();
    const first = sender({ slowMs: -1, total: 100 }, { post: async () => ({ status: 200, body: null, error: null }) });
    await first.turn();
    await first.idle();
    const slow = () => world.ledger.selectFrom('webhook_endpoints').select('endpoint_id').where('slow_for', '>', 0n);
    expect((await slow().execute()).length).to.equal(21);
    const quick = world.ledger.updateTable('webhook_endpoints').set({ slow_for: 0n });
    await quick.where('url', '=', 'http://quick.example/').execute();
    for (let n = 0; n < 3; n += 1) await add();
    const deliveries = sender({ slowMs: HOUR_MS }, held);
    for (let turn = 0; turn < 5; turn += 1) await deliveries.turn();
    await until('22 attempts have begun', async () => open.length === 22);
    expect(open.filter((url) => url === 'http://quick.example/').length).to.equal(6);
    for (const answer of answers.splice(0)) answer();
    await deliveries.idle();
  });

  it('counts an endpoint as slow until 20 quick attempts in a row', async () => {
    const { endpoint_id } = (await create()).endpoint;
    const slowFor = async () =>
      (await world.ledger.selectFrom('webhook_endpoints').select('slow_for').executeTakeFirstOrThrow()).slow_for;
    async function attempt(count: number, settings: Parameters<typeof sender>[0]) {
      await addDue(Array(count).fill(endpoint_id));
      await send(sender(settings));
    }
    await execute();
    await world.feed.turn();
    const quick = { slowMs: HOUR_MS };
    await attempt(1, quick);
    expect(await slowFor()).to.equal(0n);
    await attempt(1, { slowMs: -1 });
    expect(await slowFor()).to.equal(20n);
    await attempt(19, quick);
    expect(await slowFor()).to.equal(1n);
    await attempt(1, { slowMs: -1 });
    expect(await slowFor()).to.equal(20n);
    await attempt(21, quick);
    expect(await slowFor()).to.equal(0n);
  });

  it('sends to a slow endpoint although quick ones always have a backlog', async () => {
    const ids = await addEndpoints(9, (n) => ({ wallet: newAddress(), is_known: 1n, slow_for: n < 3 ? 20n : 0n }));
    for (let n = 0; n < 10; n += 1) await addDue(ids);
    const attempted = async () => {
      const tried = world.ledger.selectFrom('webhook_deliveries').select('endpoint_id').where('attempts', '>', 0n);
      const rows = await tried.execute();
      return [rows.length, rows.filter((row) => ids.indexOf(row.endpoint_id) < 3).length];
    };
    const never = { post: () => new Promise<never>(() => undefined) };
    await sender({ total: 8, slowFirst: 2, slowMs: HOUR_MS }, never).turn();
    expect(await attempted()).to.deep.equal([8, 2]);
  });

  it('sends to others although endpoints that were quick fill all places: one that hangs soon leaves its own', async () => {
    const other = Keypair.generate();
    await world.addRecord({ caller: other.publicKey.toBase58(), listing: await world.addListing() });
    await (await clientOf(other)).request('createWebhook', { body: { url: 'http://hangs.example/' } });
    await create();
    const { held, answers, open } = holding();
    const calls = (of: string) => world.addJournal({ wallet: of, listing: newAddress(), state: 'open_confirmed' });
    for (let count = 0; count < 2; count += 1) await calls(other.publicKey.toBase58());
    const deliveries = sender({ total: 2, slowMs: 500 }, held);
    await world.feed.turn();
    await deliveries.turn();
    await until('all places are taken', async () => open.length === 2);
    await execute();
    await world.feed.turn();
    await until('another wallet has one', async () => {
      await deliveries.turn();
      return open.includes(scene.receiver.url);
    });
    for (const answer of answers.splice(0)) answer();
    await deliveries.idle();
  });

  it('finds every endpoint with a due delivery, also if there are more than it takes at once', async () => {
    const ids = await addEndpoints(40, () => ({ is_known: 1n, wallet: newAddress() }));
    const off = await addEndpoints(1, () => ({ is_known: 1n, disabled_ms: 1n, disabled_by: 'wallet' as const }));
    const { nowMs } = world.state;
    await addDue([...ids, ...ids, ...off]);
    await addDue(await addEndpoints(1), nowMs + 1);
    const found = async (most: number) =>
      (await readDueEndpoints(world.ledger, nowMs, most, { fullWallets: [], slow: most, slowFirst: 1 })).map(
        ({ endpoint_id }) => endpoint_id,
      );
    expect((await found(64)).sort()).to.deep.equal([...ids].sort());
    const seen = new Set<string>();
    for (let turn = 0; turn < 5_000 && seen.size < ids.length; turn += 1) for (const id of await found(4)) seen.add(id);
    expect(seen.size).to.equal(ids.length);
  });
});
