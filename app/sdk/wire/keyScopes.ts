/** Scopes of an API key. Separate from procedures.ts, so that a command line can list them without loading schemas. */

/** `execute` spends and starts executions, `read` reads them, `webhooks` manages the wallet's webhook endpoints. */
export const KEY_SCOPES = ['execute', 'read', 'webhooks'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Scopes of a key whose wallet chose none. Without `webhooks`, because an endpoint outlives the key that made it. */
export const DEFAULT_SCOPES: readonly KeyScope[] = ['execute', 'read'];
