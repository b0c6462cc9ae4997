/** What a key may spend, in words. Without the rules of the fields, so that the list of keys does not load them. */
import type { GrantFields } from '../../../sdk/receipt/onChain.ts';
import { least } from '../../../sdk/wire/amounts.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import { formatAmount, formatSpan } from '../../parts/values.tsx';

export const HOUR = 3_600;
export const WEEK = 7 * DAY_SECONDS;
const EACH: Record<number, string> = { [HOUR]: 'an hour', [DAY_SECONDS]: 'a day', [WEEK]: 'a week' };

/** Where and until when a key may spend. */
export interface Reach {
  /** How many agents it may call; null for any. */
  agents: number | null;
  /** Unix ms. */
  until: number;
}

/** What a key may spend, in one sentence. */
export function spendWords(
  limits: Pick<GrantFields, 'periodMax' | 'periodSeconds' | 'totalMax' | 'perExecutionMax'>,
  { agents, until }: Reach,
): string {
  const { periodMax, periodSeconds, totalMax, perExecutionMax } = limits;
  const show = (amount: bigint) => formatAmount(toUsdc(amount));
  const each = EACH[periodSeconds] ?? `every ${formatSpan(periodSeconds)}`;
  const perCall = least(perExecutionMax, periodMax, totalMax);
  // A limit that another one makes idle says nothing.
  const amounts = [
    periodMax < totalMax && `${show(periodMax)} ${each}`,
    `${show(totalMax)} in all`,
    perCall < least(periodMax, totalMax) && `at most ${show(perCall)} a call`,
  ].filter((text) => text !== false);
  const whom = agents === null ? 'any agent' : agents === 1 ? 'one agent only' : `${agents} agents only`;
  const end = new Date(until).toLocaleDateString(undefined, { dateStyle: 'medium' });
  return `This key may spend ${amounts.join(', ')}, ${whom}, until ${end}.`;
}
