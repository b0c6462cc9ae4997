/** Stores this tab's input and call of each agent, so that a reload or Back shows them again. Never an API key. */

/** An escrow opened by a wallet. */
export interface Opened {
  executionId: string;
  /** Signature of the transaction. */
  signature: string;
}

export interface KeptCall {
  /** Null until the service answers a call that an API key pays. */
  executionId: string | null;
  opened: Opened | null;
  /** True once the service reports that the price of a call by API key is in escrow. */
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
  /** Pays by the connected wallet as soon as the tab opens, without a click: the home page's first run. */
  isAtOnce?: true;
}

const PREFIX = 'run:';

function parse(text: string | null): Kept | null {
  try {
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

/** False for an empty form, which may show the creator's example. */
export const isFilled = (kept: Kept | null): boolean =>
  kept !== null && (kept.task !== '' || Object.keys(kept.parameters).length > 0);

export const readKept = (agentId: string): Kept | null => parse(sessionStorage.getItem(PREFIX + agentId));

export function keep(agentId: string, kept: Kept): void {
  try {
    sessionStorage.setItem(PREFIX + agentId, JSON.stringify(kept));
  } catch {
    // It is too large for the browser's storage, so a reload loses it.
  }
}

const keys = (): string[] => Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
const read = (key: string): Kept | null => parse(sessionStorage.getItem(key));

/** This tab's input to an execution; null if the call was made elsewhere. */
export const askedIn = (executionId: string): Kept | null =>
  keys()
    .map(read)
    .find((kept) => kept?.call?.executionId === executionId) ?? null;

/** Deletes this tab's input to an execution. */
export function forgetAsked(executionId: string): void {
  for (const key of keys()) if (read(key)?.call?.executionId === executionId) sessionStorage.removeItem(key);
}
