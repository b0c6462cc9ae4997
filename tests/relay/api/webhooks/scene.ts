import { text } from 'node:stream/consumers';
import { Keypair } from '@solana/web3.js';
import { Webhook } from 'standardwebhooks';
import { chunks } from '../../../../app/process/chunks.ts';
import { createDeliveries, USUAL_DELIVERIES } from '../../../../app/relay/events/deliveries.ts';
import { type EndpointRow, newEndpointId } from '../../../../app/relay/ledger/webhooks.ts';
import { createWebhookCalls } from '../../../../app/relay/outbound/webhook.ts';
import { type Client, createClient } from '../../../../app/sdk/client/client.ts';
import type { MarketplaceEvent } from '../../../../app/sdk/wire/events.ts';
import { useWorld } from '../../../harness/edge/api.ts';
import { serve } from '../../../harness/edge/listen.ts';
import { EPOCH, newAddress } from '../../../harness/edge/rows.ts';
import { sessionsOf } from '../sessions.ts';

export interface Received {
  headers: Record<string, string>;
  body: string;
  event: MarketplaceEvent;
}

/** A receiver of webhooks. `answer` decides the reply to each. */
export async function startReceiver() {
  const received: Received[] = [];
  const receiver = {
    received,
    url: '',
    answer: (_event: MarketplaceEvent): { status: number; body?: string; headers?: Record<string, string> } | null => {
      return { status: 204 };
    },
    typesSeen: () => received.map(({ event }) => event.type),
    stop: () => server.close(),
  };
  const server = await serve(async (request, response) => {
    const body = await text(request);
    const event = JSON.parse(body) as MarketplaceEvent;
    received.push({ headers: request.headers as Record<string, string>, body, event });
    const answer = receiver.answer(event);
    // Null: it never answers.
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  receiver.url = `${server.url}/hook`;
  return receiver;
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export const HOUR_MS = 3_600_000;
export const SECRET = /^whsec_[A-Za-z0-9+/]{32}$/;

export const verified = ({ headers, body }: Received, secret: string) => new Webhook(secret).verify(body, headers);

export function useWebhooks() {
  /** What each test has of its own: a receiver, and a wallet that has paid. */
  const one = {} as { receiver: Receiver; keypair: Keypair; wallet: string };
  let session: { at: number; client: Client | null };
  const calls = createWebhookCalls({ allowPrivate: true });
  const people = sessionsOf(() => world);
  const clientOf = async (person: Keypair) =>
    createClient({ baseUrl: world.url, apiKey: (await people.signIn(person)).token });

  const world = useWorld();
  after(async () => {
    await calls.destroy();
  });
  beforeEach(async () => {
    world.state.nowMs = EPOCH * 1_000;
    one.receiver = await startReceiver();
    one.keypair = Keypair.generate();
    one.wallet = one.keypair.publicKey.toBase58();
    await world.addRecord({ caller: one.wallet, listing: await world.addListing() });
    session = { at: 0, client: null };
  });
  afterEach(async () => {
    one.receiver.stop();
    await world.ledger.deleteFrom('webhook_endpoints').execute();
    await world.ledger.deleteFrom('webhook_deliveries').execute();
  });

  function sender(changes: Partial<typeof USUAL_DELIVERIES> = {}, over: Partial<typeof calls> = {}) {
    const { ledger, log, now } = world.deps;
    const deps = { ledger, log, now, writes: world.tables.writes, calls: { ...calls, ...over } };
    return createDeliveries(deps, { ...USUAL_DELIVERIES, ...changes });
  }
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
    for (let before = -1; before < one.receiver.received.length; ) {
      before = one.receiver.received.length;
      await deliveries.turn();
      await deliveries.idle();
    }
  }
  /** A client with a new session of the wallet, because sessions end when a test moves the clock. */
  async function mine(): Promise<Client> {
    const at = world.state.nowMs;
    if (!session.client || session.at !== at) session = { at, client: await clientOf(one.keypair) };
    return session.client!;
  }
  const create = async (event_types?: MarketplaceEvent['type'][], url = one.receiver.url) =>
    (await mine()).request('createWebhook', { body: { url, ...(event_types && { event_types }) } });
  const log = async (endpoint_id: string) =>
    (await (await mine()).request('listWebhookDeliveries', { endpoint_id, limit: 100, offset: 0 })).deliveries;
  const endpoints = async () => (await (await mine()).request('listWebhooks')).endpoints;
  /** Adds an execution that passes through these states. */
  async function execute(...states: ('dispatched' | 'settled')[]): Promise<string> {
    const id = await world.addJournal({ wallet: one.wallet, listing: newAddress(), state: 'open_confirmed' });
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
      url: one.receiver.url,
      event_types: '',
      secret: 'c2VjcmV0',
      created_ms: 1n,
      ...changes(n),
    }));
    for (const part of chunks(rows as never[], 1_000))
      await world.ledger.insertInto('webhook_endpoints').values(part).execute();
    return rows.map(({ endpoint_id }) => endpoint_id);
  }
  /** Adds deliveries to these endpoints that are due at `due_ms`, of the latest event. */
  async function addDue(endpointIds: string[], due_ms = world.state.nowMs) {
    const events = world.ledger.selectFrom('events').select(({ fn }) => fn.max('position').as('last'));
    const { last } = await events.executeTakeFirstOrThrow();
    const rows = endpointIds.map((endpoint_id) => {
      return { endpoint_id, position: Number(last ?? 1), state: 'pending', due_ms, created_ms: 1 } as never;
    });
    await world.ledger.insertInto('webhook_deliveries').values(rows).execute();
  }
  const actions = { clientOf, sender, holding, send, mine, create, endpoints, log, execute, addEndpoints, addDue };
  return Object.assign(one, { world, people, ...actions });
}
