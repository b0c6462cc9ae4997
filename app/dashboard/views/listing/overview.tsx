/** The figures of a creator's agent, day by day and in all, and its present terms. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { MIN_CALLS } from '../../../sdk/wire/agentMark.ts';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { markWords, successOf } from '../../parts/badges.tsx';
import { Card, Facts, Figure, Note } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatDuration, formatSpan, Id, Time } from '../../parts/values.tsx';
import { agentQuery } from '../../service.ts';
import { outcomesQuery, outcomeWords } from '../agent/outcomes.tsx';
import { AtMinimum, LowCollateral } from './actions.tsx';
import { draftOf } from './draft.ts';
import { healthWords, heldCollateral, takenText } from './own.ts';
import type { ListingSearch } from './search.ts';
import { Statistics } from './statistics.tsx';

/** An own agent as callers see it; they see only offered ones. */
export const ownAgentQuery = ({ agent_id, status, metadata }: OwnListing) => ({
  ...agentQuery(agent_id),
  enabled: status !== 'delisted' && metadata !== null,
});

export function Overview({ listing }: { listing: OwnListing }) {
  const { total_executions, earned_usdc, collateral } = listing;
  const taken = takenText(collateral.slashed_usdc);
  return (
    <div className="grid gap-8">
      <LowCollateral listing={listing} />
      {listing.status === 'delisted' && !collateral.returned && (
        <Note tone="warn" title="Delisted">
          {collateral.returnable_at && (
            <>
              Its collateral can be returned from <Time at={collateral.returnable_at} /> on, under “Manage”.
            </>
          )}
        </Note>
      )}
      <div className="grid gap-3">
        <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
          <Figure label="Earned in all, after the fee" value={formatAmount(earned_usdc)} />
          <Figure label="Calls" value={formatCount(total_executions)} />
          <Figure
            label="Delivered"
            value={successOf(listing)}
            about={listing.open_disputes > 0 && `${formatCount(listing.open_disputes)} in dispute`}
          />
          <Figure
            label="Collateral"
            value={formatAmount(heldCollateral(listing))}
            about={<AtMinimum listing={listing} />}
          />
        </div>
        {taken && <p className="text-sm text-faint">{taken}</p>}
      </div>
      <Statistics agentId={listing.agent_id} listedAt={listing.listed_at} />
      <Terms listing={listing} />
    </div>
  );
}

function Terms({ listing }: { listing: OwnListing }) {
  // The marketplace shows the outcomes of offered agents only.
  const isShown = listing.status !== 'delisted' && listing.metadata !== null;
  const { data } = useQuery({ ...outcomesQuery(listing.agent_id), enabled: isShown });
  const last = data?.outcomes[0];
  const { data: agent } = useQuery(ownAgentQuery(listing));
  const { endpoint } = draftOf(listing);
  return (
    <Card className="grid gap-4">
      <h2 className="font-semibold">Listing</h2>
      <Facts
        rows={[
          agent !== undefined && ['Health', <HealthWords key="health" agent={agent} />],
          endpoint !== '' && [
            'Endpoint',
            <Changeable key="endpoint" listing={listing} tab="edit" what="endpoint">
              <code className="font-mono text-[0.8125rem] break-all">{endpoint}</code>
            </Changeable>,
          ],
          last !== undefined && [
            'Last call',
            <span key="last" className="inline-block first-letter:uppercase">
              {outcomeWords(last)}, <Time at={last.ended_at} />
            </span>,
          ],
          agent !== undefined &&
            agent.avg_execution_time_ms > 0 && ['Answers in, on average', formatDuration(agent.avg_execution_time_ms)],
          [
            'Shortest and longest timeout',
            <Changeable key="timeouts" listing={listing} tab="edit" what="timeouts">
              {formatSpan(listing.min_timeout_seconds)} and {formatSpan(listing.timeout_seconds)}
            </Changeable>,
          ],
          ['Listed', <Time key="listed" at={listing.listed_at} />],
          ['Version', formatCount(listing.listing_version)],
          [
            'Signing key',
            <Changeable key="key" listing={listing} tab="settings" verb="Rotate" what="signing key">
              <Id value={listing.signing_key} />
            </Changeable>,
          ],
          ['Description hash', <Id key="hash" value={listing.metadata_hash} />],
        ]}
      />
    </Card>
  );
}

interface ChangeableProps {
  listing: OwnListing;
  tab: 'edit' | 'settings';
  verb?: string;
  /** For screen readers, after the verb. */
  what: string;
  children: ReactNode;
}

/** A value with a link to the tab that changes it. A delisted agent has none. */
function Changeable({ listing, tab, verb = 'Change', what, children }: ChangeableProps) {
  return (
    <span className="flex flex-wrap items-baseline gap-x-4">
      <span>{children}</span>
      {listing.status !== 'delisted' && (
        <TabLink agentId={listing.agent_id} search={{ tab }}>
          {verb}
          <span className="sr-only"> the {what}</span>
        </TabLink>
      )}
    </span>
  );
}

function HealthWords({ agent }: { agent: AgentFull }) {
  const mark = markWords(agent);
  const { agent_id: agentId, open_disputes: open } = agent;
  return (
    <>
      {mark ? (
        <>
          {mark.name}. {mark.why}; callers see this mark.{' '}
          <TabLink agentId={agentId} search={{ tab: 'received', failed: true }}>
            See why
          </TabLink>
        </>
      ) : (
        `${capital(healthWords(agent))}. Callers see ${open > 0 ? `“${formatCount(open)} ${open === 1 ? 'call' : 'calls'} in dispute” on its card` : 'no warning'}.`
      )}
      <span className="block text-faint">
        From {MIN_CALLS} calls on, callers see “Failing” if fewer than half of all calls succeeded, and “Degraded” if
        fewer than 80 % of the last 50 did, as the mean over wallets.{' '}
        <TabLink agentId={agentId} search={{ tab: 'test' }}>
          Test your server
        </TabLink>
      </span>
    </>
  );
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

interface TabLinkProps {
  agentId: string;
  search: ListingSearch;
  children: ReactNode;
}

const TabLink = ({ agentId, search, children }: TabLinkProps) => (
  <Link
    to="/creator/$agentId"
    params={{ agentId }}
    search={search}
    className="text-accent underline underline-offset-2"
  >
    {children}
  </Link>
);
