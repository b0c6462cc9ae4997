/** Scopes of an API key. Separate from procedures.ts, so that a command line can list them without loading schemas. */

/** `execute` spends and starts executions, `read` reads them. */
export const KEY_SCOPES = ['execute', 'read'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
