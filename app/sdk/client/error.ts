/** The error of every client. Separate from the schemas of answers, so that a page can load those later. */

/** An error answer. `code` and `message` are the marketplace's own. */
export class MarketplaceError extends Error {
  override name = 'MarketplaceError';
  constructor(
    /** HTTP status. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly executionId: string | null,
    /** X-Request-Id, to find the request in the logs. */
    readonly requestId: string | null,
    /** Details as errorCodes.ts defines them for the code; null if there are none. */
    readonly details: Record<string, unknown> | null = null,
    /** Seconds after which the service allows a retry. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}
