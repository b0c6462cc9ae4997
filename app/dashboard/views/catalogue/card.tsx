/** One agent in a list: its purpose, price and quality. The whole card is a link. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { isFailing } from '../../../sdk/wire/agentMark.ts';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { Avatar } from '../../parts/avatar.tsx';
import { ForTests, Health, hasRate, isForTests, isShownTag, successOf, Verified } from '../../parts/badges.tsx';
import { Badge, cx, Skeleton, withUnit } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatDuration, Status } from '../../parts/values.tsx';

const SHAPE = 'flex h-full min-h-64 flex-col rounded-xl border border-line bg-raised p-5';

export const AgentCard = memo(function AgentCard({ agent }: { agent: AgentSummary }) {
  return (
    <Link
      to="/agents/$agentId"
      params={{ agentId: agent.agent_id }}
      className={`${SHAPE} transition-colors hover:border-strong hover:bg-sunken/40`}
    >
      <Inside agent={agent} />
    </Link>
  );
});

/** Of an agent that is not listed yet. */
export const CardPreview = (props: InsideProps) => (
  <div className={SHAPE}>
    <Inside {...props} />
  </div>
);

interface InsideProps {
  agent: AgentSummary;
  price?: string;
}

function Inside({ agent, price = formatAmount(agent.price_per_call_usdc) }: InsideProps) {
  const { agent_id, name, tagline, tags, total_executions, open_disputes, status } = agent;
  const hasRun = total_executions > 0;
  return (
    <>
      <div className="flex items-center gap-3">
        <Avatar address={agent_id} picture={agent.picture_path} className="size-10" />
        <div className="min-w-0 flex-1">
          <div className="flex items-center justify-between gap-2">
            <h2 className="min-w-0 truncate font-semibold">{name}</h2>
            <span className="flex shrink-0 gap-1.5">
              {status === 'paused' && <Status value="paused" />}
              <Health agent={agent} />
            </span>
          </div>
          <div className="flex items-center gap-2">
            <CreatorName creator={agent.creator} />
            {agent.creator.verified && <Verified />}
          </div>
        </div>
      </div>
      <p className="mt-2 line-clamp-2 text-sm text-faint">{tagline}</p>
      <ul aria-label="Tags" className="mt-3 flex h-6 shrink-0 flex-wrap gap-1.5 overflow-hidden *:flex">
        {isForTests(agent) && (
          <li>
            <ForTests />
          </li>
        )}
        {tags.filter(isShownTag).map((tag) => (
          <li key={tag}>
            <Badge>{tag}</Badge>
          </li>
        ))}
      </ul>
      <p className="mt-auto flex flex-wrap items-baseline justify-between gap-x-3 pt-4 text-sm text-faint">
        <span>
          <span className="text-xl font-semibold text-ink tabular-nums">{withUnit(price)}</span> a call
        </span>
        {open_disputes > 0 && (
          <Badge tone="warn" title="A call in an open dispute counts as delivered until the dispute is upheld">
            {formatCount(open_disputes)} open {open_disputes === 1 ? 'dispute' : 'disputes'}
          </Badge>
        )}
      </p>
      <dl className="mt-3 grid grid-cols-3 gap-3 border-t border-line pt-3 text-sm tabular-nums">
        <Value
          label="Delivered"
          value={successOf(agent)}
          title="Signed by the creator and paid. That does not mean correct."
          isBad={hasRate(agent) && isFailing(agent)}
        />
        <Value
          label="Agent’s time"
          value={agent.avg_execution_time_ms > 0 ? formatDuration(agent.avg_execution_time_ms) : '–'}
          title={agent.avg_execution_time_ms > 0 ? 'On average, without the time to pay and settle' : undefined}
        />
        {/* Of few calls the first value says how many. */}
        {(!hasRun || hasRate(agent)) && (
          <Value label="Calls" value={hasRun ? formatCount(total_executions) : 'none yet'} />
        )}
      </dl>
    </>
  );
}

/** Anyone can choose a name: the agent's page has the address. */
function CreatorName({ creator: { display_name, pubkey } }: Pick<AgentSummary, 'creator'>) {
  return (
    <p className="min-w-0 truncate text-sm leading-5 text-faint" title={`${display_name} · ${pubkey}`}>
      by <bdi>{display_name}</bdi>
    </p>
  );
}

function Value({ label, value, title, isBad = false }: ValueProps) {
  return (
    <div title={title}>
      <dt className="text-xs whitespace-nowrap text-faint">{label}</dt>
      <dd className={cx('truncate font-medium', isBad && 'text-bad')}>{value}</dd>
    </div>
  );
}

interface ValueProps {
  label: string;
  value: string;
  title?: string | undefined;
  isBad?: boolean;
}

export function CardSkeleton() {
  return (
    <div className={SHAPE} aria-hidden="true">
      <Skeleton className="h-5 w-2/5" />
      <Skeleton className="mt-3 h-4 w-4/5" />
      <Skeleton className="mt-4 h-5 w-1/3" />
      <Skeleton className="mt-auto h-6 w-2/5" />
      <Skeleton className="mt-4 h-9 w-full" />
    </div>
  );
}
