/** A wallet's operations on its webhooks. All functions throw ApiError; an endpoint of another wallet is not found. */
import { randomBytes } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { EventType } from '../../sdk/wire/events.ts';
import { toTimeOfMs } from '../../sdk/wire/time.ts';
import type { CreateWebhookBody, UpdateWebhookBody, WebhookDelivery, WebhookEndpoint } from '../../sdk/wire/wire.ts';
import { ApiError, tooOften } from '../errors.ts';
import { eventOf } from '../ledger/events.ts';
import type { Payers } from '../ledger/payers.ts';
import type { Databases } from '../ledger/tables.ts';
import * as table from '../ledger/webhooks.ts';
import { findEndpointFault } from '../outbound/egress.ts';
import { invalidField } from '../parse.ts';
import type { Now } from '../waiting.ts';
import { eventIdOf } from './rendering.ts';

/** Maximum endpoints of a wallet that has paid or has a listing. */
const MAX_ENDPOINTS = 10;
/** Maximum endpoints of any other wallet, because creating one is free. */
const MAX_OF_ONE_STRANGER = 1;
/** Maximum endpoints of all those wallets together. Then the oldest go (ledger/displacing.ts). */
export const MAX_OF_STRANGERS = 5_000;
const SECRET_BYTES = 24;
/** How long the old secret still signs after a rotation. */
const OVERLAP_MS = 24 * 60 * 60_000;
/** Maximum tests and repeats of one wallet within ten minutes. */
const ASKED = { points: 30, duration: 600 };
/** Maximum for all other wallets together: with a timeout of 10 s they keep at most one attempt busy. */
const OF_STRANGERS = { points: 60, duration: 600 };

export interface EndpointsDeps extends Pick<Databases, 'ledger'>, Now {
  config: {
    /** Allows http and private addresses: for a local network only. */
    allowPrivateEndpoints: boolean;
  };
  payers: Pick<Payers, 'isKnown'>;
}

export type Webhooks = ReturnType<typeof createEndpoints>;

export function createEndpoints(deps: EndpointsDeps) {
  return { ...createEndpointOperations(deps), ...createDeliveryOperations(deps) };
}

/** Creates the operations on the endpoints themselves. */
function createEndpointOperations({ ledger, config, payers, now }: EndpointsDeps) {
  /** The URL as it is called: without white space and line breaks, which a URL may contain as text. */
  function requireUrl(text: string): string {
    const url = new URL(text).href;
    const fault = config.allowPrivateEndpoints ? null : findEndpointFault(url);
    if (fault) throw invalidField('url', fault, text);
    return url;
  }

  /** Deletes endpoints of unknown wallets beyond their limit. A wallet that is known by now keeps its endpoints. */
  async function makeRoom(): Promise<void> {
    for (const { endpoint_id, wallet } of await table.readSurplusOfStrangers(ledger, MAX_OF_STRANGERS)) {
      if (await payers.isKnown(wallet)) await table.noteKnown(ledger, wallet);
      else await table.deleteEndpoint(ledger, endpoint_id);
    }
  }

  async function change(wallet: string, endpointId: string, changes: Parameters<typeof table.updateEndpoint>[2]) {
    await table.updateEndpoint(ledger, endpointId, changes);
    return render(await requireEndpoint(ledger, wallet, endpointId), now());
  }

  return {
    async list(wallet: string) {
      return { endpoints: (await table.readEndpoints(ledger, wallet)).map((row) => render(row, now())) };
    },
    async retrieve(wallet: string, endpointId: string) {
      return render(await requireEndpoint(ledger, wallet, endpointId), now());
    },
    /** `network` is that of the request's address. */
    async create(wallet: string, { url: text, event_types }: CreateWebhookBody, network: string) {
      const url = requireUrl(text);
      const isKnown = await payers.isKnown(wallet);
      const most = isKnown ? MAX_ENDPOINTS : MAX_OF_ONE_STRANGER;
      const secret = newSecret();
      const row: table.EndpointRow = {
        endpoint_id: table.newEndpointId(),
        wallet,
        network,
        is_known: isKnown ? 1n : 0n,
        url,
        event_types: event_types.join(' '),
        secret,
        old_secret: null,
        old_secret_until_ms: null,
        created_ms: BigInt(now()),
        failing_since_ms: null,
        slow_for: 0n,
        disabled_ms: null,
        disabled_by: null,
      };
      if (await table.insertEndpoint(ledger, row, most)) {
        if (!isKnown) await makeRoom();
        return { endpoint: render(row, now()), secret: shown(secret) };
      }
      const more =
        most === MAX_ENDPOINTS ? '' : ` A wallet that has paid for a call or has a listing may have ${MAX_ENDPOINTS}.`;
      throw new ApiError(
        'webhook_limit_reached',
        `This wallet may have ${most} webhook endpoints. Delete one.${more}`,
        {
          details: { max: most },
        },
      );
    },
    async update(wallet: string, endpointId: string, { url, event_types, enabled }: UpdateWebhookBody) {
      const newUrl = url === undefined ? {} : { url: requireUrl(url) };
      const row = await requireEndpoint(ledger, wallet, endpointId);
      const on = { disabled_ms: null, disabled_by: null, failing_since_ms: null };
      const off = { disabled_ms: row.disabled_ms ?? BigInt(now()), disabled_by: 'wallet' as const };
      const changes = {
        ...newUrl,
        ...(event_types !== undefined && { event_types: event_types.join(' ') }),
        ...(enabled === true && on),
        ...(enabled === false && off),
      };
      if (enabled === false) await table.giveUp(ledger, endpointId).execute();
      return Object.keys(changes).length === 0 ? render(row, now()) : change(wallet, endpointId, changes);
    },
    async delete(wallet: string, endpointId: string) {
      await requireEndpoint(ledger, wallet, endpointId);
      await table.deleteEndpoint(ledger, endpointId);
      return { endpoint_id: endpointId };
    },
    async rotate(wallet: string, endpointId: string) {
      const row = await requireEndpoint(ledger, wallet, endpointId);
      const secret = newSecret();
      const old_secret_until_ms = BigInt(now() + OVERLAP_MS);
      const changes = { secret, old_secret: row.secret, old_secret_until_ms };
      return { endpoint: await change(wallet, endpointId, changes), secret: shown(secret) };
    },
  };
}

/** Creates the operations on what is sent to the endpoints. */
function createDeliveryOperations({ ledger, payers, now }: EndpointsDeps) {
  const asked = new RateLimiterMemory(ASKED);
  const askedByStrangers = new RateLimiterMemory(OF_STRANGERS);

  async function consume(wallet: string): Promise<void> {
    try {
      await asked.consume(wallet);
      if (!(await payers.isKnown(wallet))) await askedByStrangers.consume('all');
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw tooOften('Too many tests and repeats of webhooks in 10 minutes.', refusal.msBeforeNext);
    }
  }

  return {
    async test(wallet: string, endpointId: string) {
      await requireEndpoint(ledger, wallet, endpointId);
      await consume(wallet);
      const data = JSON.stringify({ endpoint_id: endpointId });
      await ledger.executeQuery(
        eventOf(ledger, { wallet, type: 'webhook.test', data, endpoint_id: endpointId }, now()),
      );
      return { endpoint_id: endpointId };
    },
    async deliveries(wallet: string, endpointId: string, page: { limit: number; offset: number }) {
      await requireEndpoint(ledger, wallet, endpointId);
      const { rows, total } = await table.readDeliveries(ledger, endpointId, page);
      return { deliveries: rows.map(renderDelivery), total, ...page };
    },
    async redeliver(wallet: string, deliveryId: string) {
      const row = await requireDelivery(ledger, wallet, toRowId(deliveryId));
      await consume(wallet);
      const again = await table.repeatDelivery(ledger, row, now());
      return renderDelivery(await requireDelivery(ledger, wallet, again));
    },
  };
}

async function requireEndpoint(
  ledger: EndpointsDeps['ledger'],
  wallet: string,
  endpointId: string,
): Promise<table.EndpointRow> {
  const row = ENDPOINT_ID.test(endpointId) ? await table.readEndpoint(ledger, wallet, endpointId) : undefined;
  if (row) return row;
  throw new ApiError('webhook_not_found', 'This wallet has no webhook endpoint with this endpoint_id');
}

async function requireDelivery(
  ledger: EndpointsDeps['ledger'],
  wallet: string,
  id: bigint | null,
): Promise<table.ListedDelivery> {
  const row = id === null ? undefined : await table.readDelivery(ledger, wallet, id);
  if (row) return row;
  throw new ApiError('webhook_not_found', 'This wallet has no delivery with this delivery_id');
}

const ENDPOINT_ID = /^we_[0-9a-f]{24}$/;
const DELIVERY_ID = /^dlv_([1-9][0-9]{0,15})$/;

/** The number of a delivery; null if the text is not an id. */
function toRowId(deliveryId: string): bigint | null {
  const digits = DELIVERY_ID.exec(deliveryId)?.[1];
  return digits === undefined ? null : BigInt(digits);
}

const newSecret = () => randomBytes(SECRET_BYTES).toString('base64');
const shown = (secret: string) => `whsec_${secret}`;
const timeOf = (ms: bigint | null) => (ms === null ? null : toTimeOfMs(ms));

function render(row: table.EndpointRow, nowMs: number): WebhookEndpoint {
  const { disabled_ms, failing_since_ms, old_secret_until_ms: until } = row;
  return {
    endpoint_id: row.endpoint_id,
    url: row.url,
    event_types: (row.event_types === '' ? [] : row.event_types.split(' ')) as EventType[],
    status: disabled_ms !== null ? 'disabled' : failing_since_ms !== null ? 'failing' : 'active',
    failing_since: timeOf(failing_since_ms),
    disabled_at: timeOf(disabled_ms),
    disabled_by: row.disabled_by,
    old_secret_until: until !== null && Number(until) > nowMs ? toTimeOfMs(until) : null,
    created_at: toTimeOfMs(row.created_ms),
  };
}

function renderDelivery(row: table.ListedDelivery): WebhookDelivery {
  return {
    delivery_id: `dlv_${row.id}`,
    endpoint_id: row.endpoint_id,
    event_id: eventIdOf(row.position),
    event_type: row.type as EventType,
    execution_id: row.execution_id,
    status: row.state,
    attempts: Number(row.attempts),
    next_attempt_at: row.state === 'pending' ? toTimeOfMs(row.due_ms) : null,
    attempted_at: timeOf(row.attempted_ms),
    duration_ms: row.duration_ms === null ? null : Number(row.duration_ms),
    http_status: row.http_status === null ? null : Number(row.http_status),
    body: row.body?.toString('utf8') ?? null,
    error: row.error,
    created_at: toTimeOfMs(row.created_ms),
  };
}
