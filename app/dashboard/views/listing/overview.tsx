/** The figures of a creator's agent, day by day and in all, and its present terms. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { markWords, successOf } from '../../parts/badges.tsx';
import { Anchor } from '../../parts/links.tsx';
import { Card, Facts, Figure } from '../../parts/ui.tsx';
import { asSentence, formatAmount, formatCount, formatCounted, formatSpan, Id, Time } from '../../parts/values.tsx';
import { agentQuery } from '../../service.ts';
import { AtMinimum, LowCollateral } from './actions.tsx';
import { draftOf } from './draft.ts';
import { OpenDisputes } from './openDisputes.tsx';
import { healthWords, heldCollateral, takenText } from './own.ts';
import { Statistics } from './statistics.tsx';
import { TabLink } from './tabLink.tsx';

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
      <OpenDisputes agentId={listing.agent_id} />
      <LowCollateral listing={listing} />
      <div className="grid gap-3">
        <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
          <Figure label="Earned in all, after the fee" value={formatAmount(earned_usdc)} />
          <Figure label="Calls in all" value={formatCount(total_executions)} />
          <Figure
            label="Delivered"
            value={successOf(listing)}
            about={listing.open_disputes > 0 && `${formatCount(listing.open_disputes)} in dispute`}
          />
          <Figure label="Collateral" value={formatAmount(heldCollateral(listing))} />
        </div>
        <AtMinimum listing={listing} />
        {taken && <p className="text-sm text-faint">{taken}</p>}
      </div>
      <Statistics agentId={listing.agent_id} listedAt={listing.listed_at} />
      <Terms listing={listing} />
    </div>
  );
}

function Terms({ listing }: { listing: OwnListing }) {
  const { data: agent } = useQuery(ownAgentQuery(listing));
  const { endpoint } = draftOf(listing);
  return (
    <Card className="grid gap-4">
      <h2 className="font-semibold">Listing</h2>
      <Facts
        rows={[
          agent !== undefined && ['Health', <HealthWords key="health" agent={agent} />],
          [
            'Price',
            <Changeable key="price" listing={listing} tab="edit" what="price">
              {formatAmount(listing.price_usdc)}
            </Changeable>,
          ],
          [
            'Collateral',
            <Changeable key="collateral" listing={listing} tab="settings" verb="Top up" what="collateral">
              {formatAmount(heldCollateral(listing))}
            </Changeable>,
          ],
          endpoint !== '' && [
            'Endpoint',
            <Changeable key="endpoint" listing={listing} tab="edit" what="endpoint">
              <code className="font-mono text-[0.8125rem] break-all">{endpoint}</code>
            </Changeable>,
          ],
          [
            'Timeout of a call',
            <Changeable key="timeouts" listing={listing} tab="edit" what="timeouts">
              {formatSpan(listing.min_timeout_seconds)} to {formatSpan(listing.timeout_seconds)}
            </Changeable>,
          ],
          ['Listed', <Time key="listed" at={listing.listed_at} />],
          [
            'Signing key',
            <Changeable key="key" listing={listing} tab="settings" verb="Rotate" what="signing key">
              <Id value={listing.signing_key} />
            </Changeable>,
          ],
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
        `${asSentence(healthWords(agent))}. Callers see ${open > 0 ? `“${formatCounted(open, 'open dispute')}” on its card` : 'no warning'}.`
      )}
      <span className="block text-faint">
        <Anchor href="/docs#creators-health">When callers see a warning</Anchor> ·{' '}
        <TabLink agentId={agentId} search={{ tab: 'test' }}>
          Test your server
        </TabLink>
      </span>
    </>
  );
}
