/** What a key may spend, in words. Without the rules of the fields, so that the list of keys does not load them. */
import type { GrantFields } from '../../../sdk/receipt/onChain.ts';
import { least } from '../../../sdk/wire/amounts.ts';
import type { KeyScope } from '../../../sdk/wire/keyScopes.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import { formatList, formatNumber, formatSpan } from '../../parts/values.tsx';

export const HOUR = 3_600;
export const WEEK = 7 * DAY_SECONDS;
export const PERIODS: Record<number, string> = { [HOUR]: 'hour', [DAY_SECONDS]: 'day', [WEEK]: 'week' };

/** Where, from where and until when a key may spend. */
export interface Reach {
  /** The agents that it may call; null for any. The marketplace enforces it, as the next two. */
  agents: readonly string[] | null;
  /** The addresses that it may be used from; null for any. */
  ips: readonly string[] | null;
  /** Unix ms; null if the key ends with its spending limits. */
  endsAt: number | null;
  /** When the spending limits end on the chain, unix ms. */
  until: number;
}

const dayOf = (ms: number): string => new Date(ms).toLocaleDateString(undefined, { dateStyle: 'medium' });

export type SpendLimits = Pick<GrantFields, 'periodMax' | 'periodSeconds' | 'totalMax' | 'perExecutionMax'>;

/** What the chain lets a key spend, with the limits that it has not, and what the marketplace lets it do. */
export function spendWords(
  limits: SpendLimits,
  { agents, ips, endsAt, until }: Reach,
): { chain: string; unlimited: string; service: string } {
  const { periodMax, periodSeconds, totalMax, perExecutionMax } = limits;
  const show = (amount: bigint) => formatNumber(toUsdc(amount));
  const period = PERIODS[periodSeconds] ?? formatSpan(periodSeconds);
  // A limit that another one makes idle is none.
  const hasPeriod = periodMax < totalMax;
  const hasCall = perExecutionMax < least(periodMax, totalMax);
  const amounts = [
    hasPeriod && `${show(periodMax)} per ${period}`,
    hasCall && `${show(perExecutionMax)} per call`,
    `${show(totalMax)} in total`,
  ].filter((text) => text !== false);
  const idle = [!hasPeriod && `per ${period}`, !hasCall && 'per call'].filter((text) => text !== false);
  const enforced = [
    agents !== null && (agents.length === 1 ? 'one agent only' : `${agents.length} agents only`),
    ips !== null && `only from ${formatList(ips)}`,
    endsAt !== null && endsAt < until && `until ${dayOf(endsAt)}`,
  ].filter((text) => text !== false);
  return {
    chain: `${amounts.join(', ').replace(' ', ' USDC ')}, until ${dayOf(until)}.`,
    unlimited: idle.length > 0 ? `No separate limit ${idle.join(' or ')}.` : '',
    service:
      enforced.length > 0
        ? `This service enforces: ${enforced.join(', ')}.`
        : 'Not restricted to agents or IP addresses.',
  };
}

export const SCOPES: Record<KeyScope, { label: string; hint: string }> = {
  execute: {
    label: 'Execute',
    hint: 'Call agents within the limits, and delete the content of all ended calls of the wallet. The answer has the result; reading a call later needs Read',
  },
  read: { label: 'Read', hint: 'Read the tasks, parameters and results of all calls of the wallet, also earlier ones' },
  webhooks: { label: 'Webhooks', hint: 'Manage webhooks, which stay when the key ends' },
};
