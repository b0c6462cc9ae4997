/** The figures of a creator's agent, day by day and in all, and its present terms. */
import { useQuery } from '@tanstack/react-query';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import { disputedWords, successOf } from '../../parts/badges.tsx';
import { Card, Facts, Figure, Note } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatSpan, Id, Time } from '../../parts/values.tsx';
import { outcomesQuery, outcomeWords } from '../agent/outcomes.tsx';
import { AtMinimum, LowCollateral } from './actions.tsx';
import { draftOf } from './draft.ts';
import { heldCollateral, takenText } from './own.ts';
import { Statistics } from './statistics.tsx';

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
              Its collateral can be returned from <Time at={collateral.returnable_at} /> on, under Settings.
            </>
          )}
        </Note>
      )}
      <div className="grid gap-3">
        <div className="grid grid-cols-2 gap-3 *:first:max-lg:col-span-2 *:last:max-lg:col-span-2 lg:grid-cols-4">
          <Figure label="Earned in all, after the fee" value={formatAmount(earned_usdc)} />
          <Figure label="Calls" value={formatCount(total_executions)} />
          <Figure label="Success" value={successOf(listing)} about={disputedWords(listing.open_disputes)} />
          <Figure label="Collateral" value={formatAmount(heldCollateral(listing))} />
        </div>
        <p className="text-sm text-faint empty:hidden">
          {taken && `${taken} `}
          <AtMinimum listing={listing} />
        </p>
      </div>
      <Statistics agentId={listing.agent_id} />
      <Terms listing={listing} />
    </div>
  );
}

function Terms({ listing }: { listing: OwnListing }) {
  // The marketplace shows the outcomes of offered agents only.
  const isShown = listing.status !== 'delisted' && listing.metadata !== null;
  const { data } = useQuery({ ...outcomesQuery(listing.agent_id), enabled: isShown });
  const last = data?.outcomes[0];
  const { endpoint } = draftOf(listing);
  return (
    <Card className="grid gap-4">
      <h2 className="font-medium">Listing</h2>
      <Facts
        rows={[
          endpoint !== '' && [
            'Endpoint',
            <code key="endpoint" className="font-mono text-[0.8125rem] break-all">
              {endpoint}
            </code>,
          ],
          last !== undefined && [
            'Last call',
            <span key="last" className="inline-block first-letter:uppercase">
              {outcomeWords(last)}, <Time at={last.ended_at} />
            </span>,
          ],
          ['Shortest timeout', formatSpan(listing.min_timeout_seconds)],
          ['Longest timeout', formatSpan(listing.timeout_seconds)],
          ['Listed', <Time key="listed" at={listing.listed_at} />],
          ['Version', formatCount(listing.listing_version)],
          ['Signing key', <Id key="key" value={listing.signing_key} />],
          ['Description hash', <Id key="hash" value={listing.metadata_hash} />],
        ]}
      />
    </Card>
  );
}
