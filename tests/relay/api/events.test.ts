/** Event streams: their order, resuming, and the wallets whose events they show. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { eventOf } from '../../../app/relay/ledger/events.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { followExecution, followWallet } from '../../../app/sdk/client/events.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { newAddress } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import { addCaller, eventsOf, move, readStream, typesOf } from './events/streams.ts';

describe('event streams', () => {
  const world = useWorld();
  let wallet: string;
  let key: string;
  let listing: string;
  beforeEach(async () => {
    ({ wallet, key, listing } = await addCaller(world));
  });
  const begin = () => world.addJournal({ wallet, listing, state: 'accepted', opened_at: null });
  const streamsOpen = async (count: number) => {
    while (world.openStreams() !== count) await setTimeout(5);
  };

  it('streams an execution from its first event to its end, and then ends', async () => {
    const id = await begin();
    await move(world, id, 'open_signed', 'open_confirmed');
    const reading = readStream(world, `/v1/executions/${id}/events`, key);
    await move(world, id, 'dispatched', 'verified');
    await world.feed.turn();
    await move(world, id, 'settled');
    const text = await reading;
    expect(typesOf(text)).to.deep.equal(['execution.pending', 'execution.running', 'execution.completed']);
    const [, , end] = eventsOf(text);
    const paid = { status: 'completed', cost_usdc: 0.25, error_code: null };
    expect(end!.data).to.deep.equal({ execution_id: id, agent_id: listing, ...paid });
    expect(text).to.match(/^retry: 1000\nid: evt_0\n\n/);
  });

  it('sends a sign of life every 15 seconds, here every 50 ms', async () => {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await fetch(`${world.url}/v1/events`, { headers, signal: leaving.signal });
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes(': alive\n\n: alive\n\n')) break;
    }
    leaving.abort();
    expect(text).to.match(/^retry: 1000\nid: evt_\d+\n\n: alive/);
  });

  it('resumes after the event that the reader names, and answers 204 to a reader that has all events', async () => {
    const id = await begin();
    await move(world, id, 'open_signed', 'open_confirmed', 'dispatched', 'settled');
    await world.feed.turn();
    const path = `/v1/executions/${id}/events`;
    const [first, second, last] = eventsOf(await readStream(world, path, key));
    expect(typesOf(await readStream(world, path, key, { after: first!.id }))).to.deep.equal([second!.type, last!.type]);
    const done = await world.call(path, { key, headers: { 'last-event-id': last!.id } });
    expect([done.status, done.text]).to.deep.equal([204, '']);
  });

  it('sends the later dispute to a reader that resumes an ended execution, and then ends', async () => {
    const id = await begin();
    await move(world, id, 'open_signed', 'open_confirmed', 'dispatched', 'settled');
    const path = `/v1/executions/${id}/events`;
    const [, , end] = eventsOf(await readStream(world, path, key));
    const none = { amount_to_caller_usdc: 0, amount_slashed_usdc: 0 };
    const data = { execution_id: id, agent_id: listing, outcome: 'open', ...none };
    const dispute = (type: string, role: string) =>
      eventOf(world.ledger, { wallet, type, execution_id: id, data: JSON.stringify({ ...data, role }) }, 1);
    await world.ledger.executeQuery(dispute('dispute.opened', 'caller'));
    await world.feed.turn();
    // This event has no position yet when the reader connects.
    await world.ledger.executeQuery(dispute('dispute.resolved', 'caller'));
    const late = eventsOf(await readStream(world, path, key, { after: end!.id }));
    expect(late.map(({ type }) => type)).to.deep.equal(['dispute.opened', 'dispute.resolved']);
    const again = await readStream(world, path, key, { after: late[0]!.id });
    expect(typesOf(again)).to.deep.equal(['dispute.resolved']);
    const done = await world.call(path, { key, headers: { 'last-event-id': late[1]!.id } });
    expect(done.status).to.equal(204);
  });

  it('waits for the end of an execution that has ended only in the index so far', async () => {
    const id = await begin();
    await move(world, id, 'open_signed', 'open_confirmed', 'dispatched');
    await world.feed.turn();
    const path = `/v1/executions/${id}/events`;
    const [, running] = eventsOf(await readStream(world, path, key, { count: 2 }));
    await world.addRecord({ caller: wallet, listing, execution_id: id });
    const resumed = { key, method: 'HEAD', headers: { 'last-event-id': running!.id } };
    expect((await world.call(path, resumed)).status).to.equal(200);
    await streamsOpen(0);
    const reading = readStream(world, path, key, { after: running!.id });
    await streamsOpen(1);
    await move(world, id, 'settled');
    expect(typesOf(await reading)).to.deep.equal(['execution.completed']);
  });

  it("reports a refund once, also while it waits for the caller's account, and a call that was never paid", async () => {
    const id = await begin();
    await move(world, id, 'open_signed', 'open_confirmed', 'dispatched');
    for (const step of [
      { state: 'refunding', refund_state: 'pending' },
      { state: 'refunding', refund_state: 'waiting', error_code: 'execution_failed' },
      { state: 'refunded', refund_state: 'done' },
    ] as const)
      await world.ledger.updateTable('executions').set(step).where('execution_id', '=', id).execute();
    const text = await readStream(world, `/v1/executions/${id}/events`, key);
    expect(typesOf(text)).to.deep.equal(['execution.pending', 'execution.running', 'execution.failed']);
    const events = eventsOf(text);
    expect(events[2]!.data).to.include({ status: 'failed', cost_usdc: 0, error_code: 'execution_failed' });
    const unpaid = await begin();
    await move(world, unpaid, 'open_signed', 'void');
    expect(typesOf(await readStream(world, `/v1/executions/${unpaid}/events`, key))).to.deep.equal([
      'execution.failed',
    ]);
  });

  it('streams the events of the wallet from now on, and of no other wallet', async () => {
    const before = await begin();
    await move(world, before, 'open_signed', 'open_confirmed');
    await world.feed.turn();
    await streamsOpen(0);
    const reading = readStream(world, '/v1/events', key, { count: 2 });
    await streamsOpen(1);
    const foreign = await world.addJournal({ wallet: newAddress(), listing, state: 'open_signed' });
    const own = await begin();
    await move(world, foreign, 'open_confirmed', 'dispatched');
    await move(world, own, 'open_signed', 'open_confirmed', 'dispatched');
    const events = eventsOf(await reading);
    expect(events.map(({ data }) => (data as { execution_id: string }).execution_id)).to.deep.equal([own, own]);
    const refused = await world.get(`/v1/executions/${foreign}/events`, key);
    expect(refused.outcome).to.equal('404 execution_not_found');
  });

  it('is followed by the client over ended connections, without a gap and without a repeat', async () => {
    const client = createClient({ baseUrl: world.url, apiKey: key });
    const ids = [await begin(), await begin()];
    const turning = setInterval(() => void world.feed.turn(), 20);
    const leaving = new AbortController();
    const all: string[] = [];
    const following = (async () => {
      for await (const { type } of followWallet(client, { signal: leaving.signal })) if (all.push(type) === 6) return;
    })();
    await streamsOpen(1);
    // One interruption before the first event, and one between two events.
    world.endStreams();
    await move(world, ids[0]!, 'open_signed', 'open_confirmed', 'dispatched');
    while (all.length < 2) await setTimeout(5);
    world.endStreams();
    await move(world, ids[1]!, 'open_signed', 'open_confirmed', 'dispatched', 'settled');
    await move(world, ids[0]!, 'settled');
    await following;
    const whole = ['execution.pending', 'execution.running', 'execution.completed'];
    expect(all).to.deep.equal([...whole.slice(0, 2), ...whole, 'execution.completed']);
    const own: string[] = [];
    for await (const { type } of followExecution(client, ids[1]!)) own.push(type);
    expect(own).to.deep.equal(whole);
    for await (const { id } of followExecution(client, ids[1]!, { after: 'evt_9999999999999999' })) own.push(id);
    expect(own.length).to.equal(3);
    clearInterval(turning);
  });

  it('refuses a Last-Event-ID that is not an event id, and answers HEAD without a stream', async () => {
    const { outcome, json } = await world.call('/v1/events', { key, headers: { 'last-event-id': '42' } });
    expect(outcome).to.equal('400 invalid_request');
    expect(json.error.details.issues[0]).to.include({ in: 'header', path: 'Last-Event-ID', got: '"42"' });
    const { status, headers, text } = await world.call('/v1/events', { key, method: 'HEAD' });
    expect([status, headers.get('content-type'), text]).to.deep.equal([200, 'text/event-stream; charset=utf-8', '']);
  });

  it('disconnects a reader that reads nothing; the reader then resumes', async () => {
    const socket = connect(world.port, '127.0.0.1');
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).to.match(/^HTTP\/1.1 200/);
    socket.pause();
    const gone = once(socket, 'close');
    const data = JSON.stringify({ endpoint_id: 'we_1', url: 'x'.repeat(500_000) });
    const row = { wallet, type: 'webhook.disabled', data, created_ms: 1n } as never;
    // More than both ends of a connection hold.
    for (let sent = 0; sent < 40; sent += 1) {
      await world.ledger.insertInto('events').values(row).execute();
      await world.feed.turn();
    }
    await until('the stream is closed', () => world.openStreams() === 0);
    socket.resume();
    await gone;
    const texts = await readStream(world, '/v1/events', key, { after: 'evt_1', count: 40 });
    const seen = eventsOf(texts).map(({ id }) => Number(id.slice(4)));
    expect(seen.length).to.equal(40);
    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
  });
});
