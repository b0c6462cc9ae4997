/** The error of every client. Apart from the schemas that answers are read by, for those who load them later. */

/** An answer that is an error. `code` and `message` are the marketplace's own. */
export class MarketplaceError extends Error {
  override name = 'MarketplaceError';
  constructor(
    /** HTTP status. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly executionId: string | null,
    /** X-Request-Id, for whoever looks into the logs. */
    readonly requestId: string | null,
    /** What the code's entry in errorCodes.ts says; null where there are none. */
    readonly details: Record<string, unknown> | null = null,
    /** When the service says that it is worth trying again. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}
