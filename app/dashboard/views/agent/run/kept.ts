/** What was asked of an agent in this tab, so that a reload or Back shows it again. An API key is never in it. */

/** An escrow opened by a wallet. */
export interface Opened {
  executionId: string;
  /** Signature of the transaction. */
  signature: string;
}

export interface KeptCall {
  /** Null while the service has not answered the call of a key. */
  executionId: string | null;
  opened: Opened | null;
  /** The service has said that a key's price is in escrow. */
  isHeld: boolean;
  isStarted: boolean;
  begunAt: number;
  endedAt: number | null;
}

export interface Kept {
  task: string;
  parameters: Record<string, unknown>;
  timeout: string;
  /** The call that is shown; null while only the form is filled in. */
  call: KeptCall | null;
}

const PREFIX = 'run:';

function parse(text: string | null): Kept | null {
  try {
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

export const readKept = (agentId: string): Kept | null => parse(sessionStorage.getItem(PREFIX + agentId));

export function keep(agentId: string, kept: Kept): void {
  try {
    sessionStorage.setItem(PREFIX + agentId, JSON.stringify(kept));
  } catch {
    // Too large for the browser's storage: then a reload loses it.
  }
}

const keys = (): string[] => Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
const read = (key: string): Kept | null => parse(sessionStorage.getItem(key));

/** What this tab asked in an execution; null if it was asked elsewhere. */
export const askedIn = (executionId: string): Kept | null =>
  keys()
    .map(read)
    .find((kept) => kept?.call?.executionId === executionId) ?? null;

/** Deletes what this tab asked in an execution. */
export function forgetAsked(executionId: string): void {
  for (const key of keys()) if (read(key)?.call?.executionId === executionId) sessionStorage.removeItem(key);
}
