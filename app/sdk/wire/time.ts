/** The time format of answers. */

/** Unix seconds as ISO 8601 in UTC, with milliseconds. */
export function toTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString();
}
