import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { chunks } from '../../../app/process/chunks.ts';
import { createDeliveries, USUAL_DELIVERIES } from '../../../app/relay/events/deliveries.ts';
import { MAX_OF_STRANGERS } from '../../../app/relay/events/endpoints.ts';
import {
  type EndpointRow,
  newEndpointId,
  readDelivery,
  readDueEndpoints,
  repeatDelivery,
} from '../../../app/relay/ledger/webhooks.ts';
import { createWebhookCalls } from '../../../app/relay/outbound/webhook.ts';
import { AgentMarketplace, NotFoundError } from '../../../app/sdk/client/caller.ts';
import { type Client, createClient } from '../../../app/sdk/client/client.ts';
import type { MarketplaceEvent } from '../../../app/sdk/wire/events.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { listen } from '../../harness/edge/listen.ts';
import { EPOCH, newAddress } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import { refusal, sessionsOf } from './sessions.ts';

interface Received {
  headers: Record<string, string>;
  body: string;
  event: MarketplaceEvent;
}

/** A receiver of webhooks. `answer` decides the reply to each. */
async function startReceiver() {
  const received: Received[] = [];
  const receiver = {
    received,
    url: '',
    answer: (_event: MarketplaceEvent): { status: number; body?: string; headers?: Record<string, string> } | null => {
      return { status: 204 };
    },
    typesSeen: () => received.map(({ event }) => event.type),
    stop: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    const body = await text(request);
    const event = JSON.parse(body) as MarketplaceEvent;
    received.push({ headers: request.headers as Record<string, string>, body, event });
    const answer = receiver.answer(event);
    // Null: it never answers.
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  receiver.url = `${await listen(server)}/hook`;
  return receiver;
}

const HOUR_MS = 3_600_000;
const SECRET = /^whsec_[A-Za-z0-9+/]{32}$/;

describe('webhooks', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let keypair: Keypair;
  let wallet: string;
  /** A client with a new session of the wallet, because sessions end when a test moves the clock. */
  let mine: () => Promise<Client>;
  const calls = createWebhookCalls({ allowPrivate: true });
  const people = sessionsOf(() => world);
  const clientBy = (apiKey?: string) => createClient({ baseUrl: world.url, apiKey });
  const clientOf = async (person: Keypair) => clientBy((await people.signIn(person)).token);

  const world = useWorld();
  after(async () => {
    await calls.destroy();
  });
  beforeEach(async () => {
    world.state.nowMs = EPOCH * 1_000;
    receiver = await startReceiver();
    keypair = Keypair.generate();
    wallet = keypair.publicKey.toBase58();
    await world.addRecord({ caller: wallet, listing: await world.addListing() });
    let session = { at: 0, client: null as Client | null };
    mine = async () => {
      const at = world.state.nowMs;
      if (!session.client || session.at !== at) session = { at, client: await clientOf(keypair) };
      return session.client!;
    };
  });
  afterEach(async () => {
    receiver.stop();
    await world.ledger.deleteFrom('webhook_endpoints').execute();
    await world.ledger.deleteFrom('webhook_deliveries').execute();
  });

  const sender = (changes: Partial<typeof USUAL_DELIVERIES> = {}, over: Partial<typeof calls> = {}) =>
    createDeliveries(
      {
        ledger: world.ledger,
        writes: world.tables.writes,
        calls: { ...calls, ...over },
        now: () => world.state.nowMs,
        log: world.deps.log,
      },
      { ...USUAL_DELIVERIES, ...changes },
    );
  /** Calls that wait until the test answers them. */
  function holding() {
    const open: string[] = [];
    const answers: (() => void)[] = [];
    const held = {
      async post(url: string) {
        open.push(url);
        await new Promise<void>((answer) => answers.push(answer));
        return { status: 200, body: null, error: null };
      },
    };
    return { held, answers, open };
  }
  /** Sends all deliveries that are due, as a relay does. */
  async function send(deliveries = sender()): Promise<void> {
    await world.feed.turn();
    for (let before = -1; before < receiver.received.length; ) {
      before = receiver.received.length;
      await deliveries.turn();
      await deliveries.idle();
    }
  }
  const create = async (event_types?: MarketplaceEvent['type'][], url = receiver.url) =>
    (await mine()).request('createWebhook', { body: { url, ...(event_types && { event_types }) } });
  const log = async (endpoint_id: string) =>
    (await (await mine()).request('listWebhookDeliveries', { endpoint_id, limit: 100, offset: 0 })).deliveries;
  /** Adds an execution that passes through these states. */
  async function execute(...states: ('dispatched' | 'settled')[]): Promise<string> {
    const id = await world.addJournal({ wallet, listing: newAddress(), state: 'open_confirmed' });
    for (const state of states)
      await world.ledger.updateTable('executions').set({ state }).where('execution_id', '=', id).execute();
    return id;
  }
  /** Adds endpoints of wallets that have not paid. */
  async function addEndpoints(count: number, changes: (n: number) => Partial<EndpointRow> = () => ({})) {
    const rows = Array.from({ length: count }, (_, n) => ({
      endpoint_id: newEndpointId(),
      wallet: `a stranger ${n}`,
      network: 'a network',
      is_known: 0n,
      url: receiver.url,
      event_types: '',
      secret: 'c2VjcmV0',
      created_ms: 1n,
      ...changes(n),
    }));
    for (const part of chunks(rows, 1_000))
      await world.ledger
        .insertInto('webhook_endpoints')
        .values(part as never)
        .execute();
    return rows.map(({ endpoint_id }) => endpoint_id);
  }
  const verified = ({ headers, body }: Received, secret: string) => new Webhook(secret).verify(body, headers);

  it('sends each event once, in its order, signed by the Standard Webhooks specification', async () => {
    const { endpoint, secret } = await create();
    expect(secret).to.match(SECRET);
    expect(JSON.stringify(await (await mine()).request('listWebhooks'))).not.to.include(secret.slice(6));
    // The specification's library refuses signatures with an old or future time.
    world.state.nowMs = Date.now();
    const id = await execute('dispatched', 'settled');
    await send();
    expect(receiver.typesSeen()).to.deep.equal(['execution.pending', 'execution.running', 'execution.completed']);
    for (const one of receiver.received) {
      expect(verified(one, secret)).to.deep.equal(one.event);
      expect(one.headers['webhook-id']).to.equal(one.event.id);
      expect(one.headers['content-type']).to.equal('application/json');
    }
    expect(() => verified({ ...receiver.received[0]!, body: '{}' }, secret)).to.throw('No matching signature found');
    expect(receiver.received[2]!.event.data).to.include({ execution_id: id, status: 'completed', cost_usdc: 0.25 });
    const [last] = await log(endpoint.endpoint_id);
    expect(last).to.deep.include({
      event_type: 'execution.completed',
      execution_id: id,
      status: 'delivered',
      attempts: 1,
    });
    expect(last).to.deep.include({ http_status: 204, body: '', error: null, next_attempt_at: null });
    await send();
    expect(receiver.received.length).to.equal(3);
  });

  it('sends only the types that the endpoint wants, and no event of another wallet', async () => {
    await create(['execution.completed', 'dispute.opened']);
    await execute('dispatched', 'settled');
    await world.addJournal({ wallet: newAddress(), listing: newAddress(), state: 'open_confirmed' });
    await send();
    expect(receiver.typesSeen()).to.deep.equal(['execution.completed']);
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
    for (const one of [secret, rotated.secret]) expect(verified(receiver.received[0]!, one)).to.be.an('object');
    world.state.nowMs += 1;
    await execute();
    await send();
    expect(verified(receiver.received[1]!, rotated.secret)).to.be.an('object');
    expect(() => verified(receiver.received[1]!, secret)).to.throw('No matching signature found');
    expect((await (await mine()).request('listWebhooks')).endpoints[0]!.old_secret_until).to.equal(null);
  });

  it('retries a failed delivery with growing pauses for about 24 hours, in the order of the execution', async () => {
    const { endpoint } = await create();
    receiver.answer = () => ({ status: 500, body: 'x'.repeat(2_000) });
    await execute('dispatched');
    const begun = world.state.nowMs;
    const tries: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      await send();
      tries.push(world.state.nowMs - begun);
      expect(receiver.received.length).to.equal(count + 1);
      const pending = (await log(endpoint.endpoint_id)).at(-1)!;
      expect(pending).to.deep.include({
        status: 'pending',
        attempts: count + 1,
        http_status: 500,
        body: 'x'.repeat(1_024),
      });
      expect(pending.error).to.equal('the answer has the status 500');
      world.state.nowMs = Date.parse(pending.next_attempt_at!) - 1;
      await send();
      expect(receiver.received.length).to.equal(count + 1);
      world.state.nowMs += 1;
    }
    expect(tries.map((ms) => Math.floor(ms / 60_000))).to.satisfy((minutes: number[]) => minutes.at(-1)! >= 930);
    receiver.answer = () => ({ status: 200, body: 'ok' });
    await send();
    expect(world.state.nowMs - begun).to.be.within(23 * HOUR_MS, 27 * HOUR_MS);
    expect(receiver.typesSeen().slice(-2)).to.deep.equal(['execution.pending', 'execution.running']);
    expect(new Set(receiver.received.slice(0, 9).map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect((await (await mine()).request('listWebhooks')).endpoints[0]).to.include({
      status: 'active',
      failing_since: null,
    });
  });

  it('gives up after the last attempt, and sends the event again when asked to', async () => {
    const { endpoint } = await create();
    receiver.answer = () => ({ status: 302, headers: { location: receiver.url } });
    const deliveries = sender({ pausesMs: [1_000] });
    await execute();
    await send(deliveries);
    world.state.nowMs += 2_000;
    await send(deliveries);
    const [failed] = await log(endpoint.endpoint_id);
    expect(failed).to.include({ status: 'failed', attempts: 2, http_status: 302, next_attempt_at: null });
    expect(receiver.received.length).to.equal(2);
    receiver.answer = () => ({ status: 200 });
    const again = await (await mine()).request('redeliverWebhook', { delivery_id: failed!.delivery_id });
    expect(again).to.include({ status: 'pending', attempts: 0, event_id: failed!.event_id });
    await send(deliveries);
    expect(receiver.received.map(({ event }) => event.id)).to.deep.equal(Array(3).fill(failed!.event_id));
    expect((await log(endpoint.endpoint_id)).map(({ status }) => status)).to.deep.equal(['delivered', 'failed']);
  });

  it('reports why no answer came: a timeout, no server, or an address that it must not call', async () => {
    const { endpoint } = await create();
    const reason = async (deliveries: ReturnType<typeof sender>) => {
      await execute();
      await send(deliveries);
      return (await log(endpoint.endpoint_id))[0]!.error;
    };
    receiver.answer = () => null;
    expect(await reason(sender({ timeoutMs: 50 }))).to.equal('no answer within 0.05 s');
    const strict = createWebhookCalls({ allowPrivate: false });
    expect(await reason(sender({}, strict))).to.equal(
      'the endpoint cannot be called: its endpoint must be an https URL',
    );
    await strict.destroy();
    receiver.stop();
    expect(await reason(sender())).to.match(/^no connection: (ECONNREFUSED|UND_ERR_SOCKET)$/);
  });

  it('sends a test, also to an endpoint that is switched off', async () => {
    const { endpoint } = await create(['execution.failed', 'execution.pending']);
    const { endpoint_id } = endpoint;
    await execute();
    await world.feed.turn();
    expect(await (await mine()).request('updateWebhook', { endpoint_id, body: { enabled: false } })).to.include({
      status: 'disabled',
      disabled_by: 'wallet',
    });
    expect((await log(endpoint_id)).map(({ status, error }) => [status, error])).to.deep.equal([
      ['failed', 'the endpoint was switched off'],
    ]);
    await execute('dispatched');
    await (await mine()).request('testWebhook', { endpoint_id });
    await send();
    expect(receiver.received.map(({ event }) => [event.type, event.data])).to.deep.equal([
      ['webhook.test', { endpoint_id }],
    ]);
    expect(
      await (await mine()).request('updateWebhook', { endpoint_id, body: { enabled: true, event_types: [] } }),
    ).to.include({
      status: 'active',
      disabled_by: null,
      disabled_at: null,
    });
    await execute();
    await send();
    expect(receiver.typesSeen().slice(1)).to.deep.equal(['execution.pending']);
  });

  it('switches an endpoint off that failed for three days, and reports it to the others once', async () => {
    const { endpoint } = await create(['execution.pending']);
    const other = await startReceiver();
    await create(['webhook.disabled'], other.url);
    receiver.answer = () => ({ status: 503 });
    await execute();
    await send();
    const shown = async () => {
      const { endpoints } = await (await mine()).request('listWebhooks');
      return endpoints.find(({ endpoint_id }) => endpoint_id === endpoint.endpoint_id);
    };
    expect(await shown()).to.include({ status: 'failing' });
    world.state.nowMs += 72 * HOUR_MS;
    await Promise.all([execute(), execute(), execute()]);
    await send();
    await send();
    expect(await shown()).to.include({
      status: 'disabled',
      disabled_by: 'failures',
      disabled_at: new Date(world.state.nowMs).toISOString(),
    });
    expect(other.received.map(({ event }) => [event.type, event.data])).to.deep.equal([
      ['webhook.disabled', { endpoint_id: endpoint.endpoint_id, url: receiver.url }],
    ]);
    const before = receiver.received.length;
    await execute();
    await send();
    expect(receiver.received.length).to.equal(before);
    other.stop();
  });

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
    await (await clientOf(other)).request('createWebhook', { body: { url: receiver.url } });
    const { held, answers } = holding();
    for (let count = 0; count < 8; count += 1) await execute();
    await world.addJournal({ wallet: otherWallet, listing: newAddress(), state: 'open_confirmed' });
    await world.feed.turn();
    const begun = async (of: string) => {
      const rows = world.ledger
        .selectFrom('webhook_deliveries')
        .innerJoin('webhook_endpoints', 'webhook_endpoints.endpoint_id', 'webhook_deliveries.endpoint_id')
        .select('webhook_deliveries.id')
        .where('attempts', '>', 0n);
      return (await rows.where('wallet', '=', of).execute()).length;
    };
    const deliveries = sender({ total: 10 }, held);
    for (let turn = 0; turn < 5; turn += 1) await deliveries.turn();
    expect([await begun(wallet), await begun(otherWallet)]).to.deep.equal([8, 1]);
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
    const due = (position: number) =>
      ids.map((endpoint_id) => ({ endpoint_id, position, state: 'pending', due_ms: 1, created_ms: 1 }));
    const add = (position: number) =>
      world.ledger
        .insertInto('webhook_deliveries')
        .values(due(position) as never)
        .execute();
    await world.feed.turn();
    await (await mine()).request('createWebhook', { body: { url: receiver.url } });
    await execute();
    await world.feed.turn();
    const { position } = await world.ledger
      .selectFrom('events')
      .select('position')
      .where('position', 'is not', null)
      .limit(1)
      .executeTakeFirstOrThrow();
    const { held, answers, open } = holding();
    await add(Number(position));
    const first = sender({ slowMs: -1, total: 100 }, { post: async () => ({ status: 200, body: null, error: null }) });
    await first.turn();
    await first.idle();
    const slow = () => world.ledger.selectFrom('webhook_endpoints').select('endpoint_id').where('slow_for', '>', 0n);
    expect((await slow().execute()).length).to.equal(21);
    await world.ledger
      .updateTable('webhook_endpoints')
      .set({ slow_for: 0n })
      .where('url', '=', 'http://quick.example/')
      .execute();
    for (let n = 0; n < 3; n += 1) await add(Number(position));
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
      const nowMs = BigInt(world.state.nowMs);
      const due = { endpoint_id, position: 1, state: 'pending', due_ms: nowMs, created_ms: nowMs };
      await world.ledger
        .insertInto('webhook_deliveries')
        .values(Array(count).fill(due) as never)
        .execute();
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
    const due = ids.flatMap((endpoint_id) => Array(10).fill({ endpoint_id, position: 1, state: 'pending' }));
    await world.ledger
      .insertInto('webhook_deliveries')
      .values(due.map((one) => ({ ...one, due_ms: 1, created_ms: 1 })) as never)
      .execute();
    const attempted = async () => {
      const rows = await world.ledger
        .selectFrom('webhook_deliveries')
        .select('endpoint_id')
        .where('attempts', '>', 0n)
        .execute();
      return [rows.length, rows.filter((row) => ids.indexOf(row.endpoint_id) < 3).length];
    };
    const deliveries = sender(
      { total: 8, slowFirst: 2, slowMs: HOUR_MS },
      { post: () => new Promise(() => undefined) },
    );
    await deliveries.turn();
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
      return open.includes(receiver.url);
    });
    for (const answer of answers.splice(0)) answer();
    await deliveries.idle();
  });

  it('sends a delivery again if its relay died during the attempt', async () => {
    await create();
    const id = await execute();
    await world.feed.turn();
    const dying = sender({}, { post: () => new Promise(() => undefined) });
    await dying.turn();
    await send();
    expect(receiver.received.length).to.equal(0);
    world.state.nowMs += 15_000;
    await send();
    expect(receiver.received.map(({ event }) => event.data)).to.deep.include.members([
      {
        execution_id: id,
        agent_id: (receiver.received[0]!.event.data as { agent_id: string }).agent_id,
        status: 'pending',
        cost_usdc: 0.25,
        error_code: null,
      },
    ]);
  });

  it('stores and calls a URL in its normal form', async () => {
    const { endpoint } = await create([], 'https://Example.com/\r\nX-Evil: 1');
    expect(endpoint.url).to.equal('https://example.com/X-Evil:%201');
    const { url } = await (await mine()).request('updateWebhook', {
      endpoint_id: endpoint.endpoint_id,
      body: { url: ' http://EXAMPLE.com:80/\ta b\n' },
    });
    expect(url).to.equal('http://example.com/a%20b');
  });

  it('rejects: an endpoint too many, another wallet’s, a bad URL, and too many tests', async () => {
    const codeOf = async (call: Promise<unknown>) => (await refusal(call)).code;
    const { endpoint } = await create();
    const { endpoint_id } = endpoint;
    for (let count = 1; count < 10; count += 1) await create();
    const full = await refusal(create());
    expect([full.status, full.code, full.details]).to.deep.equal([409, 'webhook_limit_reached', { max: 10 }]);
    const stranger = await clientOf(Keypair.generate());
    await stranger.request('createWebhook', { body: { url: receiver.url } });
    expect((await refusal(stranger.request('createWebhook', { body: { url: receiver.url } }))).details).to.deep.equal({
      max: 1,
    });
    const routes = [
      'getWebhook',
      'deleteWebhook',
      'rotateWebhookSecret',
      'testWebhook',
      'listWebhookDeliveries',
    ] as const;
    for (const id of [endpoint_id, 'we_0', 'we_\u0000']) {
      for (const route of routes)
        expect(await codeOf(stranger.request(route, { endpoint_id: id })), route).to.equal('webhook_not_found');
      const update = stranger.request('updateWebhook', { endpoint_id: id, body: { enabled: false } });
      expect(await codeOf(update), 'updateWebhook').to.equal('webhook_not_found');
    }
    await (await mine()).request('testWebhook', { endpoint_id });
    await send();
    const [{ delivery_id } = { delivery_id: '' }] = await log(endpoint_id);
    for (const id of [delivery_id, 'dlv_0', 'dlv_99999999999999999999', 'x'])
      expect(await codeOf(stranger.request('redeliverWebhook', { delivery_id: id })), id).to.equal('webhook_not_found');
    for (const url of ['ftp://a.example/', 'https://user:word@a.example/', 'no url'])
      expect(await codeOf(create([], url)), url).to.equal('invalid_request');
    world.deps.config.allowPrivateEndpoints = false;
    for (const url of ['http://a.example/', 'https://127.0.0.1/', 'https://a.example:80/'])
      expect(await codeOf(create([], url)), url).to.equal('invalid_request');
    world.deps.config.allowPrivateEndpoints = true;
    for (let count = 1; count < 30; count += 1) await (await mine()).request('testWebhook', { endpoint_id });
    const tired = await refusal((await mine()).request('testWebhook', { endpoint_id }));
    expect([tired.status, tired.code]).to.deep.equal([429, 'rate_limited']);
    // Ten minutes from the first test.
    expect(tired.retryAfterSeconds).to.be.within(1, 600);
  });

  it('counts the tests of all wallets that have not paid together, but not those of a paying wallet', async () => {
    const testOf = async (client: Client) => {
      const { endpoint } = await client.request('createWebhook', { body: { url: receiver.url } });
      return () => client.request('testWebhook', { endpoint_id: endpoint.endpoint_id });
    };
    const strangers = await Promise.all([1, 2, 3].map(async () => testOf(await clientOf(Keypair.generate()))));
    for (let count = 0; count < 20; count += 1) for (const test of strangers) await test();
    expect((await refusal(strangers[0]!())).code).to.equal('rate_limited');
    await (await testOf(await mine()))();
  });

  it('repeats no delivery of an endpoint that is deleted meanwhile', async () => {
    const { endpoint } = await create();
    await (await mine()).request('testWebhook', { endpoint_id: endpoint.endpoint_id });
    await send();
    const [delivery] = await log(endpoint.endpoint_id);
    const id = BigInt(delivery!.delivery_id.slice('dlv_'.length));
    const row = (await readDelivery(world.ledger, wallet, id))!;
    await (await mine()).request('deleteWebhook', { endpoint_id: endpoint.endpoint_id });
    expect(await repeatDelivery(world.ledger, row, world.state.nowMs)).to.equal(null);
    expect(await world.ledger.selectFrom('webhook_deliveries').selectAll().execute()).to.deep.equal([]);
  });

  it('finds every endpoint with a due delivery, also if there are more than it takes at once', async () => {
    const ids = await addEndpoints(40, () => ({ is_known: 1n, wallet: newAddress() }));
    const off = await addEndpoints(1, () => ({ is_known: 1n, disabled_ms: 1n, disabled_by: 'wallet' as const }));
    const { nowMs } = world.state;
    const deliveries = [...ids, ...ids, ...off].map((endpoint_id) => ({ endpoint_id, due_ms: BigInt(nowMs) }));
    const later = (await addEndpoints(1)).map((endpoint_id) => ({ endpoint_id, due_ms: BigInt(nowMs + 1) }));
    await world.ledger
      .insertInto('webhook_deliveries')
      .values(
        [...deliveries, ...later].map((one) => ({ ...one, position: 1n, state: 'pending', created_ms: 1n }) as never),
      )
      .execute();
    const found = async (most: number) =>
      (await readDueEndpoints(world.ledger, nowMs, most, { fullWallets: [], slow: most, slowFirst: 1 })).map(
        ({ endpoint_id }) => endpoint_id,
      );
    expect((await found(64)).sort()).to.deep.equal([...ids].sort());
    const seen = new Set<string>();
    for (let turn = 0; turn < 5_000 && seen.size < ids.length; turn += 1) for (const id of await found(4)) seen.add(id);
    expect(seen.size).to.equal(ids.length);
  });

  it('drops the oldest endpoint of the network with the most, if wallets that never paid have too many', async () => {
    const [first, paidSince, second] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
    const addresses = [first, paidSince, second].map(({ publicKey }) => publicKey.toBase58());
    const ids = await addEndpoints(MAX_OF_STRANGERS - 10, (n) => ({
      created_ms: BigInt(n),
      ...(n < 3 && { wallet: addresses[n]! }),
    }));
    const small = await addEndpoints(10, () => ({ network: 'a small network', created_ms: 0n }));
    await world.addRecord({ caller: paidSince.publicKey.toBase58(), listing: await world.addListing() });
    const mineToo = (await create()).endpoint.endpoint_id;
    const left = async () =>
      new Set(
        (await world.ledger.selectFrom('webhook_endpoints').select('endpoint_id').execute()).map(
          (row) => row.endpoint_id,
        ),
      );
    expect((await left()).size).to.equal(MAX_OF_STRANGERS + 1);
    const added: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const stranger = await clientOf(Keypair.generate());
      added.push((await stranger.request('createWebhook', { body: { url: receiver.url } })).endpoint.endpoint_id);
    }
    const now = await left();
    expect(ids.filter((id) => !now.has(id))).to.deep.equal([ids[0], ids[2]]);
    expect([...small, ...added, mineToo].filter((id) => !now.has(id))).to.deep.equal([]);
  });

  describe('of an API key', () => {
    type Sent = Record<string, unknown>;
    const ask = (key: string, method: string, path: string, body?: Sent) => {
      const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return world.call(`/v1/webhooks${path}`, { method, key, ...sent });
    };
    const addKey = () => world.addKey({ wallet, expiresAt: Math.floor(Date.now() / 1_000) + 3_600 });

    it('are created, tested, rotated, changed, sent again and deleted with the scope alone, which neither pays nor reads', async () => {
      // The specification's library refuses signatures with an old or future time.
      world.state.nowMs = Date.now();
      const { apiKey, keyId } = await addKey();
      await (await people.signIn(keypair)).call('keys.update', { key_id: keyId, scopes: ['webhooks'] });
      const { webhooks } = new AgentMarketplace({ baseUrl: world.url, apiKey });
      const { endpoint, secret } = await webhooks.create({ url: receiver.url, event_types: ['execution.completed'] });
      expect(endpoint).to.deep.include({ url: receiver.url, event_types: ['execution.completed'], status: 'active' });
      const one = endpoint.endpoint_id;
      expect(await webhooks.retrieve(one)).to.deep.equal(endpoint);
      expect(await webhooks.list()).to.deep.equal([endpoint]);

      await webhooks.test(one);
      const id = await execute('dispatched', 'settled');
      await send();
      // Events of different executions, and test events, have no order among each other.
      expect(receiver.typesSeen()).to.have.members(['webhook.test', 'execution.completed']);
      for (const got of receiver.received) expect(verified(got, secret)).to.deep.equal(got.event);

      const rotated = await webhooks.rotateSecret(one);
      expect(rotated.secret).to.match(SECRET).and.not.to.equal(secret);
      const pages = [];
      for await (const page of webhooks.deliveries(one, { limit: 1 }).pages()) pages.push(page);
      expect(pages.map(({ items, ...page }) => [items[0]!.event_type, page])).to.deep.equal([
        ['execution.completed', { total: 2, limit: 1, offset: 0 }],
        ['webhook.test', { total: 2, limit: 1, offset: 1 }],
      ]);
      const sent = pages[0]!.items[0]!;
      expect(sent).to.include({ execution_id: id, status: 'delivered', http_status: 204 });
      const again = await webhooks.redeliver(sent.delivery_id);
      expect(again).to.include({ event_id: sent.event_id, status: 'pending', attempts: 0 });
      await send();
      const last = receiver.received[2]!;
      expect(last.event).to.deep.equal(
        receiver.received.find(({ event }) => event.type === 'execution.completed')!.event,
      );
      for (const either of [secret, rotated.secret]) expect(verified(last, either)).to.deep.equal(last.event);

      expect(await webhooks.update(one, { url: `${receiver.url}/2`, event_types: [] })).to.deep.include({
        url: `${receiver.url}/2`,
        event_types: [],
        status: 'active',
      });
      expect(await webhooks.update(one, { enabled: false })).to.include({ status: 'disabled', disabled_by: 'wallet' });
      const unread = await world.get('/v1/executions', apiKey);
      const unpaid = await world.post(`/v1/agents/${newAddress()}/execute`, { task: 'x' }, { key: apiKey });
      for (const { status, json } of [unread, unpaid])
        expect([status, json.error.code]).to.deep.equal([403, 'insufficient_scope']);
      await webhooks.delete(one);
      expect(await webhooks.retrieve(one).catch((error: unknown) => error)).to.be.instanceOf(NotFoundError);
    });

    it('rejects: bodies and queries that do not fit, and names what is wrong', async () => {
      const { apiKey, keyId } = await addKey();
      await (await people.signIn(keypair)).call('keys.update', { key_id: keyId, scopes: ['webhooks'] });
      const { endpoint } = await create();
      const one = `/${endpoint.endpoint_id}`;
      const wrong: [string, string, Sent | undefined, string][] = [
        ['POST', '', {}, 'The field "url" is missing'],
        ['POST', '', { url: receiver.url, secret: 'mine' }, 'Unknown field "secret"'],
        ['POST', '', { url: receiver.url, event_types: 'all' }, 'The field "event_types"'],
        ['PATCH', one, { enabled: 'yes' }, 'The field "enabled"'],
        ['PATCH', one, { endpoint_id: 'x' }, 'Unknown field "endpoint_id"'],
        ['GET', `${one}/deliveries?limit=0`, undefined, 'must be an integer from 1 to 100'],
        ['POST', `${one}/test?now=1`, undefined, 'no query parameter "now"'],
      ];
      for (const [method, path, body, message] of wrong) {
        const { status, json } = await ask(apiKey, method, path, body);
        expect([status, json.error.code], `${method} ${path}`).to.deep.equal([400, 'invalid_request']);
        expect(json.error.message).to.include(message);
      }
      expect((await (await mine()).request('listWebhooks')).endpoints).to.deep.equal([endpoint]);
    });
  });

  it('are read and changed by the cookie of our own page, and changed from no other', async () => {
    const { endpoint } = await create();
    const { cookie } = await people.signInByCookie(keypair);
    const ask = (method: string, headers: Record<string, string>) =>
      world.call(`/v1/webhooks/${endpoint.endpoint_id}`, { method, headers: { cookie, ...headers } });
    // A browser sends no Origin with a GET to its own origin.
    expect((await ask('GET', {})).json).to.deep.equal(endpoint);
    for (const headers of [{}, { origin: 'https://evil.example' }] as Record<string, string>[]) {
      const { status, json } = await ask('DELETE', headers);
      expect([status, json.error.code]).to.deep.equal([403, 'foreign_origin']);
    }
    expect((await ask('DELETE', { origin: world.url })).status).to.equal(200);
  });

  it('deletes an endpoint with its log', async () => {
    const { endpoint } = await create();
    const { endpoint_id } = endpoint;
    await execute();
    await send();
    expect(await (await mine()).request('deleteWebhook', { endpoint_id })).to.deep.equal({ endpoint_id });
    await execute();
    await send();
    expect(receiver.received.length).to.equal(1);
    expect(await world.ledger.selectFrom('webhook_deliveries').select('id').execute()).to.deep.equal([]);
  });
});
