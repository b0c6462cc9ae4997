/** Event streams: their order, resuming, limits, and the wallets whose events they show. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { Response as Answer } from 'express';
import type { GroupCommit } from '../../../app/database/groupCommit.ts';
import { followChain } from '../../../app/relay/events/chain.ts';
import { createFeed } from '../../../app/relay/events/feed.ts';
import { createStreams, type Streams } from '../../../app/relay/events/streams.ts';
import { type StreamSettings, USUAL_STREAMS } from '../../../app/relay/events/streamWriter.ts';
import { createWarnings } from '../../../app/relay/events/warnings.ts';
import type { ClaimedCall } from '../../../app/relay/execution/deps.ts';
import { dropOldEvents, eventOf } from '../../../app/relay/ledger/events.ts';
import type { ExecutionState } from '../../../app/relay/ledger/tables.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { followExecution, followWallet } from '../../../app/sdk/client/events.ts';
import type { MarketplaceEvent } from '../../../app/sdk/wire/events.ts';
import { MarketplaceEvent as EventSchema } from '../../../app/sdk/wire/events.ts';
import { applyLate } from '../../../indexer/apply/apply.ts';
import { noRows } from '../../../indexer/apply/readings.ts';
import { CONFIG } from '../../harness/edge/accounts.ts';
import { useWorld, type World } from '../../harness/edge/api.ts';
import { newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';

/** Reads a stream to its end, or until it has `count` events. */
async function readStream(world: World, path: string, key: string, options: { after?: string; count?: number } = {}) {
  const leaving = new AbortController();
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (options.after) headers['last-event-id'] = options.after;
  const response = await fetch(world.url + path, { headers, signal: leaving.signal });
  expect(response.status).to.equal(200);
  expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
  expect(response.headers.get('cache-control')).to.equal('no-store');
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    await world.feed.turn();
    if (options.count !== undefined && eventsOf(text).length >= options.count) break;
  }
  leaving.abort();
  return text;
}

function eventsOf(text: string): MarketplaceEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((part) => part.includes('data: '))
    .map((part) => {
      const [id, type, data] = ['id', 'event', 'data'].map((name) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)![1]);
      const event = EventSchema.parse(JSON.parse(data!)) as MarketplaceEvent;
      expect([event.id, event.type]).to.deep.equal([id, type]);
      return event;
    });
}

const typesOf = (text: string) => eventsOf(text).map(({ type }) => type);

describe('event streams', () => {
  let wallet: string;
  let key: string;
  let listing: string;

  const world = useWorld();
  beforeEach(async () => {
    wallet = newAddress();
    key = (await world.addKey({ wallet })).apiKey;
    listing = await world.addListing();
  });

  /** Node ends the stream of a response that nothing refers to. */
  let opened: Response[] = [];
  beforeEach(() => {
    opened = [];
  });
  /** Opens the stream of the wallet of a key. */
  async function open(apiKey: string, { signal }: AbortController, headers = {}): Promise<Response> {
    const init = { headers: { authorization: `Bearer ${apiKey}`, ...headers }, signal };
    const response = await fetch(`${world.url}/v1/events`, init);
    opened.push(response);
    return response;
  }
  const openAs = async (caller: string, leaving: AbortController, headers = {}) =>
    open((await world.addKey({ wallet: caller })).apiKey, leaving, headers);
  const openCount = () => opened.filter(({ status }) => status === 200).length;

  const begin = () => world.addJournal({ wallet, listing, state: 'accepted', opened_at: null });
  async function move(id: string, ...states: ExecutionState[]) {
    for (const state of states)
      await world.ledger.updateTable('executions').set({ state }).where('execution_id', '=', id).execute();
  }

  it('streams an execution from its first event to its end, and then ends', async () => {
    const id = await begin();
    await move(id, 'open_signed', 'open_confirmed');
    const reading = readStream(world, `/v1/executions/${id}/events`, key);
    await move(id, 'dispatched', 'verified');
    await world.feed.turn();
    await move(id, 'settled');
    const text = await reading;
    expect(typesOf(text)).to.deep.equal(['execution.pending', 'execution.running', 'execution.completed']);
    const [, , end] = eventsOf(text);
    expect(end!.data).to.deep.equal({
      execution_id: id,
      agent_id: listing,
      status: 'completed',
      cost_usdc: 0.25,
      error_code: null,
    });
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
    await move(id, 'open_signed', 'open_confirmed', 'dispatched', 'settled');
    await world.feed.turn();
    const path = `/v1/executions/${id}/events`;
    const [first, second, last] = eventsOf(await readStream(world, path, key));
    expect(typesOf(await readStream(world, path, key, { after: first!.id }))).to.deep.equal([second!.type, last!.type]);
    const done = await world.call(path, { key, headers: { 'last-event-id': last!.id } });
    expect([done.status, done.text]).to.deep.equal([204, '']);
  });

  it('sends the later dispute to a reader that resumes an ended execution, and then ends', async () => {
    const id = await begin();
    await move(id, 'open_signed', 'open_confirmed', 'dispatched', 'settled');
    const path = `/v1/executions/${id}/events`;
    const [, , end] = eventsOf(await readStream(world, path, key));
    const data = { execution_id: id, agent_id: listing, outcome: 'open', amount_to_caller_usdc: 0 };
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
    await move(id, 'open_signed', 'open_confirmed', 'dispatched');
    await world.feed.turn();
    const path = `/v1/executions/${id}/events`;
    const [, running] = eventsOf(await readStream(world, path, key, { count: 2 }));
    await world.addRecord({ caller: wallet, listing, execution_id: id });
    const resumed = { key, method: 'HEAD', headers: { 'last-event-id': running!.id } };
    expect((await world.call(path, resumed)).status).to.equal(200);
    const openStreams = async (count: number) => {
      while (world.openStreams() !== count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await openStreams(0);
    const reading = readStream(world, path, key, { after: running!.id });
    await openStreams(1);
    await move(id, 'settled');
    expect(typesOf(await reading)).to.deep.equal(['execution.completed']);
  });

  it("reports a refund once, with its reason and no cost, also while it waits for the caller's account", async () => {
    const id = await begin();
    await move(id, 'open_signed', 'open_confirmed', 'dispatched');
    const waits = {
      state: 'refunding',
      refund_state: 'waiting',
      error_code: 'execution_failed',
    } as const;
    await world.ledger
      .updateTable('executions')
      .set({ state: 'refunding', refund_state: 'pending' })
      .where('execution_id', '=', id)
      .execute();
    await world.ledger.updateTable('executions').set(waits).where('execution_id', '=', id).execute();
    await world.ledger
      .updateTable('executions')
      .set({ state: 'refunded', refund_state: 'done' })
      .where('execution_id', '=', id)
      .execute();
    const events = eventsOf(await readStream(world, `/v1/executions/${id}/events`, key));
    expect(events.map(({ type }) => type)).to.deep.equal([
      'execution.pending',
      'execution.running',
      'execution.failed',
    ]);
    expect(events[2]!.data).to.include({ status: 'failed', cost_usdc: 0, error_code: 'execution_failed' });
  });

  it('reports a call that was never paid as failed, and nothing before', async () => {
    const id = await begin();
    await move(id, 'open_signed', 'void');
    expect(typesOf(await readStream(world, `/v1/executions/${id}/events`, key))).to.deep.equal(['execution.failed']);
  });

  it('streams the events of the wallet from now on, and of no other wallet', async () => {
    const before = await begin();
    await move(before, 'open_signed', 'open_confirmed');
    await world.feed.turn();
    const reading = readStream(world, '/v1/events', key, { count: 2 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    const foreign = await world.addJournal({ wallet: newAddress(), listing, state: 'open_signed' });
    const own = await begin();
    await move(foreign, 'open_confirmed', 'dispatched');
    await move(own, 'open_signed', 'open_confirmed', 'dispatched');
    const events = eventsOf(await reading);
    expect(events.map(({ data }) => (data as { execution_id: string }).execution_id)).to.deep.equal([own, own]);
    const refused = await world.get(`/v1/executions/${foreign}/events`, key);
    expect([refused.status, refused.json.error.code]).to.deep.equal([404, 'execution_not_found']);
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
    while (world.openStreams() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    // One interruption before the first event, and one between two events.
    world.endStreams();
    await move(ids[0]!, 'open_signed', 'open_confirmed', 'dispatched');
    while (all.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    world.endStreams();
    await move(ids[1]!, 'open_signed', 'open_confirmed', 'dispatched', 'settled');
    await move(ids[0]!, 'settled');
    await following;
    const whole = ['execution.pending', 'execution.running', 'execution.completed'];
    expect(all).to.deep.equal([...whole.slice(0, 2), ...whole, 'execution.completed']);
    const own: string[] = [];
    for await (const { type } of followExecution(client, ids[1]!)) own.push(type);
    expect(own).to.deep.equal(whole);
    for await (const { id } of followExecution(client, ids[1]!, { after: 'evt_999999' })) own.push(id);
    expect(own.length).to.equal(3);
    clearInterval(turning);
  });

  it('refuses a Last-Event-ID that is not an event id', async () => {
    const { status, json } = await world.call('/v1/events', { key, headers: { 'last-event-id': '42' } });
    expect([status, json.error.code]).to.deep.equal([400, 'invalid_request']);
    expect(json.error.details.issues[0]).to.include({ in: 'header', path: 'Last-Event-ID', got: '"42"' });
  });

  it('answers HEAD without a stream', async () => {
    const { status, headers, text } = await world.call('/v1/events', { key, method: 'HEAD' });
    expect([status, headers.get('content-type'), text]).to.deep.equal([200, 'text/event-stream; charset=utf-8', '']);
  });

  it('refuses a stream beyond the limit of the key or of the wallet, until one is closed', async () => {
    const { apiKey: second } = await world.addKey({ wallet });
    const leaving = [1, 2, 3].map(() => new AbortController());
    const refusal = async (apiKey: string) => {
      const refused = await open(apiKey, new AbortController());
      const { error } = (await refused.json()) as { error: { code: string; message: string } };
      expect([refused.status, refused.headers.get('retry-after'), error.code]).to.deep.equal([
        429,
        '30',
        'rate_limited',
      ]);
      return error.message;
    };
    for (const one of leaving.slice(0, 2)) expect((await open(key, one)).status).to.equal(200);
    expect(await refusal(key)).to.equal(
      'This API key has 2 open event streams, the maximum. Close one. Retry in 30 s.',
    );
    expect((await open(second, leaving[2]!)).status).to.equal(200);
    expect(await refusal(second)).to.equal(
      'This wallet has 3 open event streams, the maximum. Close one. Retry in 30 s.',
    );
    leaving[0]!.abort();
    for (let status = 429; status !== 200; ) {
      const again = new AbortController();
      ({ status } = await open(key, again));
      again.abort();
    }
    expect(openCount()).to.equal(4);
    for (const one of leaving) one.abort();
  });

  it('refuses a stranger when strangers use all of their streams, but not a wallet that has paid', async () => {
    const leaving = new AbortController();
    for (const stranger of [1, 2, 3, 4].map(() => newAddress()))
      expect((await openAs(stranger, leaving)).status).to.equal(200);
    const refused = await openAs(wallet, leaving);
    expect(refused.status).to.equal(429);
    const { error } = (await refused.json()) as { error: { message: string } };
    expect(error.message).to.equal(
      'This service has too many open event streams of wallets that have not paid for a call yet. Retry in 30 s.',
    );
    await world.addRecord({ caller: wallet, listing });
    expect((await openAs(wallet, leaving)).status).to.equal(200);
    expect(openCount()).to.equal(5);
    leaving.abort();
  });

  it('takes a stream from the wallet with the most when none is left, until all have equally many', async () => {
    const leaving = new AbortController();
    const openOf = (caller?: string) => openAs(caller!, leaving);
    const [most, two, three, four, five] = [1, 2, 3, 4, 5].map(() => newAddress());
    const held = [await openOf(most), await openOf(most), await openOf(most)];
    const others = [await openOf(two), await openOf(two)];
    await held[0]!.text();
    others.push(await openOf(three));
    await held[1]!.text();
    others.push(await openOf(four));
    await others[0]!.text();
    expect(opened.map(({ status }) => status)).to.deep.equal(Array.from({ length: 7 }, () => 200));
    // Each has one.
    expect((await openOf(five)).status).to.equal(429);
    leaving.abort();
  });

  it('takes a stream of strangers from the network with the most, until all have equally many', async () => {
    const { config } = world.deps;
    world.deps.config = { ...config, trustProxy: 1 };
    const leaving = new AbortController();
    const openFrom = (network: string) => openAs(newAddress(), leaving, { 'x-forwarded-for': network });
    try {
      const held = [];
      for (let wallet = 0; wallet < 4; wallet += 1) held.push(await openFrom('203.0.113.7'));
      expect((await openFrom('203.0.113.7')).status).to.equal(429);
      for (let wallet = 0; wallet < 2; wallet += 1) {
        expect((await openFrom('198.51.100.9')).status).to.equal(200);
        await held[wallet]!.text();
      }
      for (const network of ['203.0.113.7', '198.51.100.9']) expect((await openFrom(network)).status).to.equal(429);
      expect(openCount()).to.equal(6);
    } finally {
      world.deps.config = config;
      leaving.abort();
    }
  });

  const ENDS: [when: string, settings: Partial<StreamSettings>, end: (streams: Streams) => unknown][] = [
    ['its relay stops', {}, (streams) => streams.end()],
    ['it has lasted its time', { longestMs: 1 }, () => undefined],
    [
      'another wallet needs its place',
      { ofStrangers: 2 },
      (streams) => streams.ofWallet({ wallet: newAddress(), network: 'a network' }, ''),
    ],
  ];
  for (const [when, settings, end] of ENDS) {
    it(`closes the connection of a reader that takes nothing when ${when}, and writes nothing more`, async () => {
      const { ledger, views, payers } = world.deps;
      const streams = createStreams(
        { ledger, views, payers, feed: world.feed },
        { ...USUAL_STREAMS, untakenBytes: 2 ** 30, heartbeatMs: 5, takeMs: 100, ...settings },
      );
      const responses: ServerResponse[] = [];
      const server = createServer(async (_request, response) => {
        const stream = await streams.ofWallet({ wallet, network: 'a network' }, 'evt_0');
        // More than a connection holds unread.
        response.write(Buffer.alloc(16 * 1024 * 1024));
        stream.write(response as Answer);
        responses.push(response);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const sockets = [1, 2].map(() => connect((server.address() as AddressInfo).port, '127.0.0.1'));
      for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
      await until('both streams are open', async () => responses.length === 2);
      const [first] = responses;
      const closed = once(first!, 'close');
      await end(streams);
      await closed;
      expect(first!.writableEnded).to.equal(true);
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
  }

  it('disconnects a reader that reads nothing; the reader then resumes', async () => {
    const socket = connect(world.port, '127.0.0.1');
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).to.match(/^HTTP\/1.1 200/);
    socket.pause();
    let isGone = false;
    socket.once('close', () => {
      isGone = true;
    });
    const data = JSON.stringify({ endpoint_id: 'we_1', url: 'x'.repeat(500_000) });
    for (let sent = 0; sent < 40 && !isGone; sent += 1) {
      await world.ledger
        .insertInto('events')
        .values({ wallet, type: 'webhook.disabled', data, created_ms: 1n } as never)
        .execute();
      await world.feed.turn();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.resume();
    if (!isGone) await once(socket, 'close');
    const texts = await readStream(world, '/v1/events', key, { after: 'evt_1', count: 40 });
    const seen = eventsOf(texts).map(({ id }) => Number(id.slice(4)));
    expect(seen.length).to.be.greaterThan(10);
    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
  });

  it('gives each event one position, in the order of each execution, however many relays number them', async () => {
    const { db, writes, close } = world.tables.openAgain();
    const other = createFeed({ ledger: db, writes, now: () => world.state.nowMs });
    const ids = await Promise.all(Array.from({ length: 12 }, begin));
    const moving = ids.map((id) => move(id, 'open_signed', 'open_confirmed', 'dispatched', 'settled'));
    let isMoved = false;
    const moved = Promise.all(moving).then(() => {
      isMoved = true;
    });
    while (!isMoved) {
      await Promise.all([world.feed.turn(), other.turn()]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await moved;
    await Promise.all([world.feed.turn(), other.turn()]);
    const rows = await world.ledger
      .selectFrom('events')
      .select(['execution_id', 'type', 'position'])
      .where('wallet', '=', wallet)
      .orderBy('position')
      .execute();
    expect(rows.length).to.equal(36);
    expect(new Set(rows.map(({ position }) => position)).size).to.equal(36);
    for (const id of ids) {
      const types = rows.filter(({ execution_id }) => execution_id === id).map(({ type }) => type);
      expect(types).to.deep.equal(['execution.pending', 'execution.running', 'execution.completed']);
    }
    await close();
  });

  /** Adds chain events of a listing, and lets the relay follow them. */
  function chainOf(own: string) {
    const { views, writes } = world.tables;
    const limits = () => ({ ...CONFIG, exposureMultiple: 4 });
    const deps = { ledger: world.ledger, views: views.db, writes, limits, now: () => world.state.nowMs };
    const settle = (slot: bigint) =>
      world.index
        .insertInto('progress')
        .values({ id: 1n, slot, checked_at: 0n })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ slot }))
        .execute();
    const happen = (slot: bigint, name: string, data: object) =>
      world.index
        .insertInto('events')
        .values({
          signature: newAddress(),
          event_index: 0n,
          slot,
          name,
          data: JSON.stringify({ listing: own, ...data }),
        })
        .execute();
    return { settle, happen, follow: () => followChain(deps) };
  }
  const told = async (to: string) =>
    (
      await world.ledger.selectFrom('events').select(['type', 'data']).where('wallet', '=', to).orderBy('id').execute()
    ).map(({ type, data }) => ({ type, ...JSON.parse(data!) }));

  it('informs both parties of a dispute, and a creator about its listings, once the chain is final', async () => {
    const creator = newAddress();
    const own = await world.addListing({ creator });
    const execution_id = newExecutionId();
    await world.addRecord({ caller: wallet, listing: own, execution_id });
    const executionId = execution_id.replaceAll('-', '');
    const { settle, happen, follow } = chainOf(own);
    await happen(90n, 'ListingStatusChanged', { status: 1 });
    await settle(100n);
    await follow();
    await happen(101n, 'DisputeOpened', { executionId });
    await happen(102n, 'SigningKeyRotated', { signingKey: listing });
    await happen(103n, 'DisputeResolved', {
      executionId,
      upheld: true,
      amountToCaller: '250000',
      deposited: '5000000',
      slashed: '3000000',
      listingStatus: 1,
    });
    await happen(104n, 'ListingStatusChanged', { status: 0 });
    await settle(102n);
    expect(await follow()).to.equal(false);
    const dispute = { type: 'dispute.opened', execution_id, agent_id: own, outcome: 'open', amount_to_caller_usdc: 0 };
    expect(await told(wallet)).to.deep.equal([{ ...dispute, role: 'caller' }]);
    await settle(110n);
    await Promise.all([follow(), follow()]);
    const end = { ...dispute, type: 'dispute.resolved', outcome: 'upheld', amount_to_caller_usdc: 0.25 };
    expect(await told(wallet)).to.deep.equal([
      { ...dispute, role: 'caller' },
      { ...end, role: 'caller' },
    ]);
    expect(await told(creator)).to.deep.equal([
      { ...dispute, role: 'creator' },
      { type: 'agent.signing_key_changed', agent_id: own, signing_key: listing },
      { ...end, role: 'creator' },
      { type: 'agent.collateral_low', agent_id: own, collateral_usdc: 2 },
      { type: 'agent.paused', agent_id: own },
    ]);
    await world.feed.turn();
    const seen = eventsOf(await readStream(world, '/v1/events', key, { after: 'evt_0', count: 2 }));
    expect(seen.map(({ type }) => type)).to.deep.equal(['dispute.opened', 'dispute.resolved']);
  });

  it('warns a creator of collateral too low for price or open executions, before it stops the agent', async () => {
    const creator = newAddress();
    // Its price needs 5 USDC. At most four times its collateral can be open in a dispute window.
    const own = await world.addListing({ creator, price: 1_000_000n, deposited: 5_000_000n });
    const { settle, happen, follow } = chainOf(own);
    await settle(200n);
    await follow();
    for (const [slot, exposure] of [15, 16, 17, 18, 1].entries())
      await happen(201n + BigInt(slot), 'ExecutionOpened', {
        executionId: newExecutionId().replaceAll('-', ''),
        price: '1000000',
        exposureOpened: `${exposure}000000`,
      });
    const upheld = { executionId: '0'.repeat(32), upheld: true, amountToCaller: '1', listingStatus: 0 };
    await happen(210n, 'DisputeResolved', { ...upheld, deposited: '7000000', slashed: '750000' });
    await happen(211n, 'DisputeResolved', { ...upheld, deposited: '7000000', slashed: '750001' });
    await happen(212n, 'DisputeResolved', { ...upheld, deposited: '7000000', slashed: '750001', listingStatus: 2 });
    await settle(220n);
    await follow();
    const low = { type: 'agent.collateral_low', agent_id: own };
    expect((await told(creator)).filter(({ type }) => type !== 'dispute.resolved')).to.deep.equal([
      { ...low, collateral_usdc: 5 },
      { ...low, collateral_usdc: 6.249999 },
    ]);
  });

  it('reports an event that the indexer applied late, once, behind or ahead of the relay', async () => {
    const creator = newAddress();
    const own = await world.addListing({ creator });
    const { settle, happen, follow } = chainOf(own);
    const pauseLate = (slot: bigint) =>
      applyLate(world.index, {
        signature: newAddress(),
        slot,
        content: {
          kind: 'events',
          events: [{ name: 'ListingStatusChanged', data: { listing: new PublicKey(own), status: 1 } }],
          snapshot: noRows(),
        },
      });
    await settle(230n);
    await follow();
    await pauseLate(225n);
    await happen(231n, 'SigningKeyRotated', { signingKey: listing });
    expect(await follow()).to.equal(false);
    expect(await told(creator)).to.deep.equal([]);
    await settle(231n);
    await Promise.all([follow(), follow()]);
    const rotated = { type: 'agent.signing_key_changed', agent_id: own, signing_key: listing };
    const paused = { type: 'agent.paused', agent_id: own };
    expect(await told(creator)).to.deep.equal([rotated, paused]);
    await settle(235n);
    await pauseLate(233n);
    await follow();
    await settle(240n);
    await follow();
    expect(await told(creator)).to.deep.equal([rotated, paused, paused]);
  });

  it('reports every event of a slot that has more than one step takes', async () => {
    const creator = newAddress();
    const own = await world.addListing({ creator });
    const { settle, happen, follow } = chainOf(own);
    await settle(250n);
    await follow();
    for (let pause = 0; pause < 600; pause += 1) await happen(251n, 'ListingStatusChanged', { status: 1 });
    await happen(252n, 'SigningKeyRotated', { signingKey: listing });
    await settle(260n);
    expect(await follow()).to.equal(true);
    expect(await follow()).to.equal(false);
    expect((await told(creator)).map(({ type }) => type)).to.deep.equal([
      ...new Array(600).fill('agent.paused'),
      'agent.signing_key_changed',
    ]);
  });

  it('warns once for each crossing of a cap or of the gas balance, whichever relay notices it', async () => {
    const written: Promise<unknown>[] = [];
    const underLocks: GroupCommit['underLocks'] = (...write) => {
      const rows = world.tables.writes.underLocks(...write);
      written.push(rows);
      return rows;
    };
    const deps = { ledger: world.ledger, writes: { underLocks }, now: () => 1, log: world.deps.log };
    const relays = [createWarnings(deps), createWarnings(deps)];
    const grant = {
      periodStart: 0n,
      periodSeconds: 100,
      periodMax: 1_000_000n,
      totalMax: 2n ** 64n - 1n,
      periodSpent: 0n,
      totalSpent: 0n,
    };
    /** Notices a call in both relays, twice, and waits until `raised` warnings are stored. */
    const call = async (raised: number, spent: bigint, gasBalance: bigint, now = 10n) => {
      const claimed = {
        wallet,
        keyId: 'k',
        price: 100_000n,
        grant: { ...grant, periodSpent: spent },
        now,
        gas: 10_000n,
        gasBalance,
      };
      for (const notice of relays) notice(claimed as unknown as ClaimedCall);
      for (const notice of relays) notice(claimed as unknown as ClaimedCall);
      const marks = () => world.ledger.selectFrom('warnings').select('type').where('wallet', '=', wallet).execute();
      await until(`${raised} warnings are stored`, async () => (await marks()).length === raised);
      await Promise.all(written);
      return told(wallet);
    };
    expect(await call(0, 600_000n, 100_000n)).to.deep.equal([]);
    const near = { type: 'key.cap_near', key_id: 'k', limit: 'period', spent_usdc: 0.8, max_usdc: 1 };
    expect(await call(1, 700_000n, 100_000n)).to.deep.equal([near]);
    const low = { type: 'gas.low', gas_lamports: 99_999, calls_left: 9 };
    expect(await call(2, 800_000n, 99_999n)).to.deep.equal([near, low]);
    // A new period and more gas reset both warnings.
    expect(await call(0, 900_000n, 200_000n, 100n)).to.deep.equal([near, low]);
    // Both are raised at once, by both relays: their order is open.
    expect(await call(2, 900_000n, 0n, 10n)).to.have.deep.members([
      near,
      low,
      { ...near, spent_usdc: 1 },
      { type: 'gas.low', gas_lamports: 0, calls_left: 0 },
    ]);
  });

  it('deletes events after their retention time, and never reuses a position', async () => {
    const id = await begin();
    await move(id, 'open_signed', 'open_confirmed');
    await world.feed.turn();
    const { position: before } = await world.ledger
      .selectFrom('event_feed')
      .select('position')
      .executeTakeFirstOrThrow();
    await dropOldEvents(world.ledger, Date.now() + 1_000);
    expect(await world.ledger.selectFrom('events').select('id').execute()).to.deep.equal([]);
    await move(id, 'dispatched');
    await world.feed.turn();
    const [event] = await world.ledger.selectFrom('events').select('position').execute();
    expect(event!.position).to.equal(before + 1n);
  });
});
