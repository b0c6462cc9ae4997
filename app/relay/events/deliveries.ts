/**
 * Sends events to webhook endpoints by the Standard Webhooks specification. Every relay does so, and leases a delivery
 * for the time of one attempt. If it dies meanwhile, another attempt follows the lease, so each event comes at least
 * once.
 */
import type { Logger } from 'pino';
import { Webhook } from 'standardwebhooks';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { statusText } from '../../sdk/wire/redirects.ts';
import { readEventAt } from '../ledger/events.ts';
import type { Databases } from '../ledger/tables.ts';
import {
  type DeliveryRow,
  type EndpointRow,
  noteAttempt,
  noteQuick,
  readDueEndpoints,
  switchOff,
  takeDeliveries,
  updateEndpoint,
} from '../ledger/webhooks.ts';
import type { WebhookAnswer, WebhookCalls } from '../outbound/webhook.ts';
import type { Now } from '../waiting.ts';
import { eventIdOf, toEvent } from './rendering.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

interface DeliverySettings {
  /** Pauses after failed attempts, ms. The attempt after the last pause is the last one. */
  pausesMs: readonly number[];
  /** Timeout of one attempt. */
  timeoutMs: number;
  /** Parallel attempts of one endpoint; one of a slow endpoint. */
  perEndpoint: number;
  /** Parallel attempts of all endpoints of one wallet at this relay. */
  perWallet: number;
  /** The same of all slow endpoints together. */
  ofSlow: number;
  /** Of these, so many begin before those of quick endpoints, whose queue may never end. */
  slowFirst: number;
  /** Parallel attempts of this relay. One that takes longer than `slowMs` leaves its place to the next. */
  total: number;
  /** An endpoint is slow after an attempt that took longer, until enough quick ones in a row. */
  slowMs: number;
  quickInARow: number;
  /** An endpoint that fails for this long is switched off. */
  failingMs: number;
}

/** The last attempt is about 24 hours after the first. */
export const USUAL_DELIVERIES: DeliverySettings = {
  pausesMs: [
    5 * SECOND_MS,
    MINUTE_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    8 * HOUR_MS,
    8 * HOUR_MS,
  ],
  timeoutMs: 10 * SECOND_MS,
  perEndpoint: 4,
  perWallet: 8,
  ofSlow: 16,
  slowFirst: 4,
  total: 64,
  slowMs: SECOND_MS,
  quickInARow: 20,
  failingMs: 3 * 24 * HOUR_MS,
};
/** Added to the timeout, for writing the outcome. */
const MARGIN_MS = 5 * SECOND_MS;
/** Pauses grow by up to this share, so that an endpoint that recovers does not get all events at once. */
const JITTER = 0.1;

export interface DeliveryDeps extends Pick<Databases, 'ledger'>, Now {
  writes: Pick<GroupCommit, 'underLocks'>;
  calls: Pick<WebhookCalls, 'post'>;
  log: Logger;
}

export function createDeliveries(deps: DeliveryDeps, settings = USUAL_DELIVERIES) {
  const { ledger, now, log } = deps;
  /** The attempts in progress: their endpoints, and when they began, on a monotonic clock. */
  const attempts = new Map<Promise<void>, { endpoint: EndpointRow; begun: number }>();

  function begin(endpoint: EndpointRow, delivery: DeliveryRow): void {
    const attempt = deliver(deps, settings, endpoint, delivery)
      // The outcome could not be written: the delivery is due again after its lease.
      .catch((error) =>
        log.warn({ error, endpoint: endpoint.endpoint_id }, 'cannot complete a webhook delivery; it will be retried'),
      )
      .finally(() => attempts.delete(attempt));
    attempts.set(attempt, { endpoint, begun: performance.now() });
  }

  const isSlow = ({ slow_for }: EndpointRow) => slow_for > 0n;
  const count = (is: (endpoint: EndpointRow) => boolean) =>
    [...attempts.values()].filter(({ endpoint }) => is(endpoint)).length;
  /** Attempts that may begin now. Endpoints that suddenly hang hold up the others for `slowMs` only. */
  const free = () => {
    const since = performance.now() - settings.slowMs;
    return settings.total - [...attempts.values()].filter(({ begun }) => begun > since).length;
  };
  /** Attempts that may begin now to slow endpoints. */
  const freeSlow = () => settings.ofSlow - count(isSlow);
  const freeOf = (wallet: string) => settings.perWallet - count((other) => other.wallet === wallet);

  /** Attempts that may begin now to this endpoint. */
  function freeFor(endpoint: EndpointRow): number {
    const own = isSlow(endpoint) ? Math.min(1, freeSlow()) : settings.perEndpoint;
    return Math.min(own, freeOf(endpoint.wallet), free());
  }

  return {
    /** Begins every attempt that is due, within the limits. */
    async turn() {
      const most = free();
      if (most <= 0) return;
      const wallets = new Set([...attempts.values()].map(({ endpoint }) => endpoint.wallet));
      const fullWallets = [...wallets].filter((wallet) => freeOf(wallet) <= 0);
      const slowFirst = Math.max(0, settings.slowFirst - count(isSlow));
      const eligible = { fullWallets, slow: freeSlow(), slowFirst };
      for (const endpoint of await readDueEndpoints(ledger, now(), most, eligible)) {
        const ofThis = freeFor(endpoint);
        if (ofThis <= 0) continue;
        const untilMs = now() + settings.timeoutMs + MARGIN_MS;
        const taken = await takeDeliveries(ledger, endpoint, { nowMs: now(), untilMs, most: ofThis });
        for (const delivery of taken) begin(endpoint, delivery);
      }
    },
    /** Resolves when no attempt is in progress. */
    async idle() {
      while (attempts.size > 0) await Promise.all(attempts.keys());
    },
  };
}

async function deliver(
  deps: DeliveryDeps,
  settings: DeliverySettings,
  endpoint: EndpointRow,
  delivery: DeliveryRow,
): Promise<void> {
  const { ledger, now } = deps;
  const begunMs = now();
  const begun = performance.now();
  const answer = await send(deps, settings, endpoint, delivery);
  const isDelivered = answer.status !== null && answer.status >= 200 && answer.status < 300;
  const pauseMs = isDelivered ? undefined : settings.pausesMs[Number(delivery.attempts) - 1];
  const dueMs = now() + Math.round((pauseMs ?? 0) * (1 + JITTER * Math.random()));
  const durationMs = Math.round(performance.now() - begun);
  const { status, body, error } = answer;
  await noteAttempt(ledger, delivery, {
    state: isDelivered ? 'delivered' : pauseMs === undefined ? 'failed' : 'pending',
    due_ms: BigInt(dueMs),
    http_status: status === null ? null : BigInt(status),
    body,
    error: isDelivered || status === null ? error : `the answer has the ${statusText(status)}`,
    duration_ms: BigInt(durationMs),
  });
  if (durationMs > settings.slowMs)
    await updateEndpoint(ledger, endpoint.endpoint_id, { slow_for: BigInt(settings.quickInARow) });
  else if (endpoint.slow_for > 0n) await noteQuick(ledger, endpoint.endpoint_id);
  if (isDelivered) {
    if (endpoint.failing_since_ms !== null)
      await updateEndpoint(ledger, endpoint.endpoint_id, { failing_since_ms: null });
  } else await noteFailure(deps, settings, endpoint, begunMs);
}

async function send(
  { ledger, calls, now }: DeliveryDeps,
  { timeoutMs }: DeliverySettings,
  endpoint: EndpointRow,
  { position }: DeliveryRow,
): Promise<WebhookAnswer> {
  const row = await readEventAt(ledger, position);
  if (!row) return { status: null, body: null, error: 'the event is older than 30 days and was deleted' };
  const body = JSON.stringify(toEvent(row));
  return calls.post(endpoint.url, headersOf(endpoint, eventIdOf(position), body, now()), body, timeoutMs);
}

/** The headers that prove that this service sent the event; two signatures while the old secret is valid. */
function headersOf(endpoint: EndpointRow, id: string, body: string, nowMs: number): Record<string, string> {
  const { secret, old_secret, old_secret_until_ms } = endpoint;
  const secrets = [secret, ...(old_secret && Number(old_secret_until_ms) > nowMs ? [old_secret] : [])];
  const at = new Date(nowMs);
  return {
    'content-type': 'application/json',
    'user-agent': 'agent-marketplace-webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
    'webhook-signature': secrets.map((one) => new Webhook(one).sign(id, at, body)).join(' '),
  };
}

/** Switches off an endpoint that has failed for days, and notifies its wallet. */
async function noteFailure(
  { ledger, writes, now }: DeliveryDeps,
  { failingMs }: DeliverySettings,
  { endpoint_id, wallet, url, failing_since_ms, disabled_ms }: EndpointRow,
  begunMs: number,
): Promise<void> {
  if (disabled_ms !== null) return;
  if (failing_since_ms === null) {
    await ledger
      .updateTable('webhook_endpoints')
      .set({ failing_since_ms: BigInt(begunMs) })
      .where('endpoint_id', '=', endpoint_id)
      .where('failing_since_ms', 'is', null)
      .execute();
    return;
  }
  if (now() - Number(failing_since_ms) < failingMs) return;
  await writes.underLocks([`webhook ${endpoint_id}`], switchOff(ledger, { endpoint_id, wallet, url }, now()));
}
