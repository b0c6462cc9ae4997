/** The outbox and its receivers; their migration documents the columns. */
import type { Generated } from 'kysely';

export interface EventsTable {
  id: Generated<bigint>;
  position: bigint | null;
  wallet: string;
  type: string;
  endpoint_id: string | null;
  execution_id: string | null;
  listing: string | null;
  cost: bigint | null;
  error_code: string | null;
  data: string | null;
  created_ms: bigint;
}

/** One row. */
export interface EventFeedTable {
  id: bigint;
  position: bigint;
  slot: bigint | null;
}

export interface WebhookEndpointsTable {
  endpoint_id: string;
  wallet: string;
  /** The network of the address that created it. */
  network: string;
  /** 1 if unknown wallets cannot displace it. A 0 may be old. */
  is_known: bigint;
  url: string;
  /** Space-separated; empty for all. */
  event_types: string;
  secret: string;
  old_secret: string | null;
  old_secret_until_ms: bigint | null;
  created_ms: bigint;
  failing_since_ms: bigint | null;
  /** Quick attempts until it is no longer slow; 0 if it is not. */
  slow_for: bigint;
  disabled_ms: bigint | null;
  disabled_by: 'wallet' | 'failures' | null;
}

export interface WebhookDeliveriesTable {
  id: Generated<bigint>;
  endpoint_id: string;
  position: bigint;
  execution_id: string | null;
  state: 'pending' | 'delivered' | 'failed';
  attempts: Generated<bigint>;
  due_ms: bigint;
  is_sent: Generated<bigint>;
  is_asked: Generated<bigint>;
  attempted_ms: bigint | null;
  duration_ms: bigint | null;
  http_status: bigint | null;
  body: Buffer | null;
  error: string | null;
  created_ms: bigint;
}

export interface WarningsTable {
  wallet: string;
  type: string;
  subject: string;
}
