/** Webhooks: what is sent, signed, retried and given up. */
import { expect } from 'chai';
import { createWebhookCalls } from '../../../app/relay/outbound/webhook.ts';
import { newAddress } from '../../harness/edge/rows.ts';
import { refusal } from './sessions.ts';
import { HOUR_MS, SECRET, startReceiver, useWebhooks, verified } from './webhooks/scene.ts';

describe('webhooks', () => {
  const scene = useWebhooks();
  const { world, sender, send, mine, create, endpoints, log, execute } = scene;

  it('sends each event once, in its order, signed by the Standard Webhooks specification', async () => {
    const { endpoint, secret } = await create();
    expect(secret).to.match(SECRET);
    expect(JSON.stringify(await (await mine()).request('listWebhooks'))).not.to.include(secret.slice(6));
    // The specification's library refuses signatures with an old or future time.
    world.state.nowMs = Date.now();
    const id = await execute('dispatched', 'settled');
    await send();
    expect(scene.receiver.typesSeen()).to.deep.equal(['execution.pending', 'execution.running', 'execution.completed']);
    for (const one of scene.receiver.received) {
      expect(verified(one, secret)).to.deep.equal(one.event);
      expect(one.headers['webhook-id']).to.equal(one.event.id);
      expect(one.headers['content-type']).to.equal('application/json');
    }
    const forged = { ...scene.receiver.received[0]!, body: '{}' };
    expect(() => verified(forged, secret)).to.throw('No matching signature found');
    const end = { execution_id: id, status: 'completed', cost_usdc: 0.25 };
    expect(scene.receiver.received[2]!.event.data).to.include(end);
    const [last] = await log(endpoint.endpoint_id);
    const delivered = { status: 'delivered', attempts: 1, http_status: 204, body: '', error: null };
    const of = { event_type: 'execution.completed', execution_id: id, next_attempt_at: null };
    expect(last).to.deep.include({ ...of, ...delivered });
    await send();
    expect(scene.receiver.received.length).to.equal(3);
  });

  it('sends only the types that the endpoint wants, and no event of another wallet', async () => {
    await create(['execution.completed', 'dispute.opened']);
    await execute('dispatched', 'settled');
    await world.addJournal({ wallet: newAddress(), listing: newAddress(), state: 'open_confirmed' });
    await send();
    expect(scene.receiver.typesSeen()).to.deep.equal(['execution.completed']);
    expect((await refusal(create(['execution.over' as never]))).code).to.equal('invalid_request');
  });

  it('signs with both secrets for 24 hours after a rotation, and then with the new one alone', async () => {
    world.state.nowMs = Date.now() - 24 * HOUR_MS;
    const { endpoint, secret } = await create();
    const rotated = await (await mine()).request('rotateWebhookSecret', { endpoint_id: endpoint.endpoint_id });
    expect(rotated.secret).to.match(SECRET).and.not.to.equal(secret);
    expect(rotated.endpoint.old_secret_until).to.equal(new Date(world.state.nowMs + 24 * HOUR_MS).toISOString());
    await execute();
    world.state.nowMs = Number(Date.parse(rotated.endpoint.old_secret_until!)) - 1;
    await send();
    for (const one of [secret, rotated.secret]) expect(verified(scene.receiver.received[0]!, one)).to.be.an('object');
    world.state.nowMs += 1;
    await execute();
    await send();
    expect(verified(scene.receiver.received[1]!, rotated.secret)).to.be.an('object');
    expect(() => verified(scene.receiver.received[1]!, secret)).to.throw('No matching signature found');
    expect((await endpoints())[0]!.old_secret_until).to.equal(null);
  });

  it('retries a failed delivery with growing pauses for about 24 hours, in the order of the execution', async () => {
    const { endpoint } = await create();
    scene.receiver.answer = () => ({ status: 500, body: 'x'.repeat(2_000) });
    await execute('dispatched');
    const begun = world.state.nowMs;
    const tries: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      await send();
      tries.push(world.state.nowMs - begun);
      expect(scene.receiver.received.length).to.equal(count + 1);
      const pending = (await log(endpoint.endpoint_id)).at(-1)!;
      const failed = { http_status: 500, body: 'x'.repeat(1_024), error: 'the answer has the status 500' };
      expect(pending).to.deep.include({ status: 'pending', attempts: count + 1, ...failed });
      world.state.nowMs = Date.parse(pending.next_attempt_at!) - 1;
      await send();
      expect(scene.receiver.received.length).to.equal(count + 1);
      world.state.nowMs += 1;
    }
    expect(tries.map((ms) => Math.floor(ms / 60_000))).to.satisfy((minutes: number[]) => minutes.at(-1)! >= 930);
    scene.receiver.answer = () => ({ status: 200, body: 'ok' });
    await send();
    expect(world.state.nowMs - begun).to.be.within(23 * HOUR_MS, 27 * HOUR_MS);
    expect(scene.receiver.typesSeen().slice(-2)).to.deep.equal(['execution.pending', 'execution.running']);
    expect(new Set(scene.receiver.received.slice(0, 9).map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect((await endpoints())[0]).to.include({ status: 'active', failing_since: null });
  });

  it('gives up after the last attempt, and sends the event again when asked to', async () => {
    const { endpoint } = await create();
    scene.receiver.answer = () => ({ status: 302, headers: { location: scene.receiver.url } });
    const deliveries = sender({ pausesMs: [1_000] });
    await execute();
    await send(deliveries);
    world.state.nowMs += 2_000;
    await send(deliveries);
    const [failed] = await log(endpoint.endpoint_id);
    expect(failed).to.include({ status: 'failed', attempts: 2, http_status: 302, next_attempt_at: null });
    expect(scene.receiver.received.length).to.equal(2);
    scene.receiver.answer = () => ({ status: 200 });
    const again = await (await mine()).request('redeliverWebhook', { delivery_id: failed!.delivery_id });
    expect(again).to.include({ status: 'pending', attempts: 0, event_id: failed!.event_id });
    await send(deliveries);
    expect(scene.receiver.received.map(({ event }) => event.id)).to.deep.equal(Array(3).fill(failed!.event_id));
    expect((await log(endpoint.endpoint_id)).map(({ status }) => status)).to.deep.equal(['delivered', 'failed']);
  });

  it('reports why no answer came: a timeout, no server, or an address that it must not call', async () => {
    const { endpoint } = await create();
    const reason = async (deliveries: ReturnType<typeof sender>) => {
      await execute();
      await send(deliveries);
      return (await log(endpoint.endpoint_id))[0]!.error;
    };
    scene.receiver.answer = () => null;
    expect(await reason(sender({ timeoutMs: 50 }))).to.equal('no answer within 0.05 s');
    const strict = createWebhookCalls({ allowPrivate: false });
    const refused = await reason(sender({}, strict));
    expect(refused).to.equal('the endpoint cannot be called: its endpoint must be an https URL');
    await strict.destroy();
    scene.receiver.stop();
    expect(await reason(sender())).to.match(/^no answer: .+ \((ECONNREFUSED|UND_ERR_SOCKET)\)$/);
  });

  it('sends a test, also to an endpoint that is switched off', async () => {
    const { endpoint } = await create(['execution.failed', 'execution.pending']);
    const { endpoint_id } = endpoint;
    await execute();
    await world.feed.turn();
    const update = async (body: object) => (await mine()).request('updateWebhook', { endpoint_id, body });
    expect(await update({ enabled: false })).to.include({ status: 'disabled', disabled_by: 'wallet' });
    const [dropped, ...others] = await log(endpoint_id);
    expect([dropped!.status, dropped!.error]).to.deep.equal(['failed', 'the endpoint was switched off']);
    expect(others).to.deep.equal([]);
    await execute('dispatched');
    await (await mine()).request('testWebhook', { endpoint_id });
    await send();
    expect(scene.receiver.received.map(({ event }) => [event.type, event.data])).to.deep.equal([
      ['webhook.test', { endpoint_id }],
    ]);
    const active = { status: 'active', disabled_by: null, disabled_at: null };
    expect(await update({ enabled: true, event_types: [] })).to.include(active);
    await execute();
    await send();
    expect(scene.receiver.typesSeen().slice(1)).to.deep.equal(['execution.pending']);
  });

  it('switches an endpoint off that failed for three days, and reports it to the others once', async () => {
    const { endpoint } = await create(['execution.pending']);
    const other = await startReceiver();
    await create(['webhook.disabled'], other.url);
    scene.receiver.answer = () => ({ status: 503 });
    await execute();
    await send();
    const shown = async () => (await endpoints()).find(({ endpoint_id }) => endpoint_id === endpoint.endpoint_id);
    expect(await shown()).to.include({ status: 'failing' });
    world.state.nowMs += 72 * HOUR_MS;
    await Promise.all([execute(), execute(), execute()]);
    await send();
    await send();
    const disabled_at = new Date(world.state.nowMs).toISOString();
    expect(await shown()).to.include({ status: 'disabled', disabled_by: 'failures', disabled_at });
    expect(other.received.map(({ event }) => [event.type, event.data])).to.deep.equal([
      ['webhook.disabled', { endpoint_id: endpoint.endpoint_id, url: scene.receiver.url }],
    ]);
    const before = scene.receiver.received.length;
    await execute();
    await send();
    expect(scene.receiver.received.length).to.equal(before);
    other.stop();
  });

  it('sends a delivery again if its relay died during the attempt', async () => {
    await create();
    const id = await execute();
    await world.feed.turn();
    const dying = sender({}, { post: () => new Promise(() => undefined) });
    await dying.turn();
    await send();
    expect(scene.receiver.received.length).to.equal(0);
    world.state.nowMs += 15_000;
    await send();
    const [first] = scene.receiver.received;
    expect(first!.event.data).to.include({ execution_id: id, status: 'pending', cost_usdc: 0.25, error_code: null });
  });
});
