/** Badges with the same meaning everywhere. */
import type { ComponentProps } from 'react';
import { markOf } from '../../sdk/wire/agentMark.ts';
import type { AgentSummary } from '../../sdk/wire/wire.ts';
import { Icon } from './icons.tsx';
import { Badge, Button } from './ui.tsx';
import { formatCount, formatRate } from './values.tsx';

/** Calls from which on a rate says something. */
const RATE_CALLS = 20;

type Calls = Pick<AgentSummary, 'success_rate' | 'total_executions'>;

export const hasRate = ({ total_executions }: Pick<Calls, 'total_executions'>): boolean =>
  total_executions >= RATE_CALLS;

/** How many of its calls succeeded, of which the rate is the share. */
export const successesOf = ({ success_rate, total_executions }: Calls): number =>
  Math.round(success_rate * total_executions);

/** The share of completed calls; their number, such as `2 of 3`, while they are too few for a rate. */
export const successOf = (agent: Calls): string =>
  hasRate(agent)
    ? formatRate(agent.success_rate)
    : agent.total_executions > 0
      ? `${successesOf(agent)} of ${agent.total_executions}`
      : '–';

/** How open disputes may change that number; empty without any. */
export const disputedWords = (open: number): string => {
  if (open === 0) return '';
  return open === 1
    ? '1 of them is in an open dispute and counts as failed if that is upheld'
    : `${formatCount(open)} of them are in open disputes and count as failed if those are upheld`;
};

const MARKS = {
  failing: { name: 'Failing', tone: 'bad', why: 'Fewer than half of its calls succeeded' },
  degraded: {
    name: 'Degraded',
    tone: 'warn',
    why: 'Fewer than 80 % of its last 50 calls succeeded, as the mean over wallets',
  },
} as const;

/** The words of the mark that callers see; null for a healthy agent. */
export function markWords(agent: AgentSummary) {
  const mark = markOf(agent);
  return mark && MARKS[mark];
}

/** Renders nothing for a healthy agent. */
export function Health({ agent }: { agent: AgentSummary | undefined }) {
  const mark = agent && markWords(agent);
  return (
    mark && (
      <Badge tone={mark.tone} title={mark.why}>
        {mark.name}
      </Badge>
    )
  );
}

/** For an agent with the tag of tests. */
export function ForTests() {
  return (
    <Badge
      tone="test"
      className="whitespace-nowrap"
      title="For developers: it tests their own programs, and may fail on purpose"
    >
      test agent
    </Badge>
  );
}

/** Beside what spends or holds money, on every network but mainnet. Hidden by the document's style on mainnet. */
export function TestMark() {
  return (
    <Badge tone="test" className="hidden test:inline-flex" title="Test network: USDC and SOL here have no value">
      TEST
    </Badge>
  );
}

/** A button that spends. The mark is not part of its name. */
export function SpendButton({ children, ...rest }: ComponentProps<typeof Button>) {
  return (
    <Button kind="primary" {...rest}>
      {children}
      <span aria-hidden="true" className="hidden rounded-md bg-current/15 px-1.5 py-0.5 text-xs test:inline">
        <span className="text-white">TEST</span>
      </span>
    </Button>
  );
}

export const VERIFIED =
  'Verified wallet: the admin has checked which person or company owns it. The name shown may differ from the owner’s, and nobody has checked the agent’s answers.';

/** It says nothing about the agent, so it is quieter than the badges of one. */
export function Verified() {
  return (
    <span className="shrink-0 text-xs whitespace-nowrap text-faint" title={VERIFIED}>
      <Icon size="size-3" className="mr-1 inline" strokeWidth="2">
        <path d="m3 8.5 3.2 3L13 5" />
      </Icon>
      Verified wallet
    </span>
  );
}

export const TEST_TAG = 'sandbox';

interface Tagged {
  tags: string[];
}

export const isForTests = ({ tags }: Tagged): boolean => tags.includes(TEST_TAG);

/** A test agent has a badge instead of its tag. */
export const isShownTag = (tag: string): boolean => tag !== TEST_TAG;
