/** The formats of times and days in answers. */

export const DAY_MS = 86_400_000;
export const DAY_SECONDS = 86_400n;

/** Unix seconds as ISO 8601 in UTC, with milliseconds. */
export function toTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString();
}

/** Unix milliseconds in the same format. */
export function toTimeOfMs(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString();
}

/** The UTC day of a time in unix seconds, counted from 1970. */
export const dayOf = (seconds: bigint): number => Number(seconds / DAY_SECONDS);

/** A UTC day, counted from 1970, such as 2026-01-31. */
export function toDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
