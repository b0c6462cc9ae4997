/** What an API key may be used for. Apart from procedures.ts, so that a command line can name the scopes without its schemas. */

/** `execute` spends and starts executions, `read` reads them. */
export const KEY_SCOPES = ['execute', 'read'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
