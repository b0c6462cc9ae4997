/** Explains why a call could not run, and what to do about it. */
import { MarketplaceError } from '../../../../sdk/client/error.ts';
import type { ErrorDetails } from '../../../../sdk/wire/errorCodes.ts';
import type { RequestIssue } from '../../../../sdk/wire/errorDetails.ts';
import { own } from '../../../../sdk/wire/own.ts';
import { formatAmount, formatLamports, shorten } from '../../../parts/values.tsx';
import { explain, isUnanswered } from '../../../service.ts';

export interface Failure {
  title: string;
  text: string;
  /** True if the same call may be repeated. */
  mayRepeat?: boolean;
  /** The view where it can be corrected. */
  to?: { path: '/keys' | '/'; label: string };
}

const KEYS = { path: '/keys', label: 'To the API keys' } as const;
const NOT_PAID = 'Nothing was paid.';

const KEY_FAULTS: Record<string, string> = {
  unauthorized: 'The API key is not accepted',
  wrong_environment: 'This API key is for another network',
  insufficient_scope: 'This API key may not call agents',
  address_not_allowed: 'This API key is not allowed from this IP address',
};

/** The service's error, even if a wallet function has wrapped it. */
export function marketplaceErrorIn(error: unknown): MarketplaceError | null {
  if (error instanceof MarketplaceError) return error;
  return error instanceof Error && error.cause instanceof MarketplaceError ? error.cause : null;
}

export function describeFailure(error: unknown): Failure {
  const found = marketplaceErrorIn(error);
  if (isUnanswered(found ?? error)) {
    return {
      title: 'The marketplace does not answer',
      text: 'It may have received this call. Try again when you are connected: the same call never pays twice.',
      mayRepeat: true,
    };
  }
  if (!found) return { title: 'The call could not be run', text: explain(error) };
  const { code, message, details } = found;
  const keyFault = own(KEY_FAULTS, code);
  if (keyFault) return { title: keyFault, text: `${sentence(message)} ${NOT_PAID}`, to: KEYS };
  switch (code) {
    case 'insufficient_balance':
      return balance(details as ErrorDetails<'insufficient_balance'>, message);
    case 'price_changed':
      return {
        title: 'The price has changed',
        text: `${sentence(message)} ${NOT_PAID} The page shows the new price in a moment. Run again if you agree to it.`,
      };
    case 'agent_paused':
      return {
        title: 'The agent is paused',
        text: `It was paused after you opened this page. ${NOT_PAID} In a moment this page shows why, and offers similar agents.`,
      };
    case 'agent_not_found':
      return {
        title: 'The agent is delisted',
        text: `Its creator has removed it from the marketplace. ${NOT_PAID}`,
        to: { path: '/', label: 'To other agents' },
      };
    case 'invalid_request':
      return { title: 'The input is not valid', text: issues(details as ErrorDetails<'invalid_request'>, message) };
    case 'rate_limited':
    case 'service_unavailable':
      return {
        title: 'The marketplace is busy',
        text: `${sentence(message)} Try again in ${wait(found)}: the same call never pays twice.`,
        mayRepeat: true,
      };
    case 'request_in_progress':
    case 'internal_error':
    case 'unknown':
      return {
        title: 'The outcome is not known yet',
        text: `${sentence(message)} Try again: the same call never pays twice.`,
        mayRepeat: true,
      };
    default:
      return { title: 'The call could not be run', text: sentence(message) };
  }
}

function balance(details: ErrorDetails<'insufficient_balance'>, message: string): Failure {
  if (!details)
    return { title: 'There is not enough money for this call', text: `${sentence(message)} ${NOT_PAID}`, to: KEYS };
  const wallet = shorten(details.wallet);
  if (details.limit === 'gas') {
    const need = details.need_lamports === null ? '' : ` This call needs ${formatLamports(details.need_lamports)}.`;
    const have = details.have_lamports === null ? '' : ` It holds ${formatLamports(details.have_lamports)}.`;
    return {
      title: 'The gas balance is too low',
      text: `The gas balance of the wallet ${wallet} pays the network fees of calls by key.${have}${need} Top it up, and run again. ${NOT_PAID}`,
      to: KEYS,
    };
  }
  const renews = details.renews_at ? `The next period begins on ${new Date(details.renews_at).toLocaleString()}. ` : '';
  const texts: Record<typeof details.limit, readonly [title: string, has: string, todo: string]> = {
    balance: ['The wallet has too little USDC', `The wallet ${wallet} has`, 'Send it USDC, and run again.'],
    allowance: [
      'The wallet’s allowance is used up',
      'Keys of this wallet may still spend',
      'Each call takes its price from it, and a refund does not give it back. Renew the allowance, and run again.',
    ],
    per_execution: [
      'The price is above the limit of the key for one call',
      'The key may pay at most',
      'Raise the limit, or use another key.',
    ],
    period: [
      'The limit of the key for this period is used up',
      'The key may still spend',
      `${renews}Wait, raise the limit, or use another key.`,
    ],
    total: ['The total limit of the key is used up', 'The key may still spend', 'Raise the limit, or use another key.'],
  };
  const [title, has, todo] = texts[details.limit];
  const have = details.have_usdc === null ? '' : ` ${has} ${formatAmount(details.have_usdc)}.`;
  const text = `This call costs ${formatAmount(details.need_usdc)}.${have} ${todo} ${NOT_PAID}`;
  return { title, text, ...(details.limit !== 'balance' && { to: KEYS }) };
}

function issues(details: ErrorDetails<'invalid_request'>, message: string): string {
  const list = details?.issues.map(issue) ?? [];
  return list.length > 0 ? `${list.join(' ')} ${NOT_PAID}` : `${sentence(message)} ${NOT_PAID}`;
}

const issue = ({ path, expected, got }: RequestIssue): string =>
  sentence(`${path || 'The request'}: ${expected}; it is ${got}`);

const wait = ({ retryAfterSeconds }: MarketplaceError): string =>
  retryAfterSeconds === null ? 'a moment' : `${retryAfterSeconds} seconds`;

export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
