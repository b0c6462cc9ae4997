/** All creators, and the badge for a verified identity. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { CreatorSummary } from '../../../sdk/wire/listingProcedures.ts';
import { formatterOf } from '../../parts/amount.ts';
import { Pages } from '../../parts/pages.tsx';
import { SignDialog } from '../../parts/sign.tsx';
import { AtRight, Cell, Table } from '../../parts/table.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Badge, Button, Empty, Input, Skeleton } from '../../parts/ui.tsx';
import { Day, formatCount, Id, shorten, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { countWords } from '../disputes/others.tsx';
import { PAGE_SIZE } from './search.ts';

const HEAD = [
  'Creator',
  'Identity',
  <AtRight key="agents">Agents</AtRight>,
  <AtRight key="calls">Calls</AtRight>,
  <AtRight key="failed">Failed</AtRight>,
  'Disputes',
  <AtRight key="earned">Earned, USDC</AtRight>,
  'Listed since',
  '',
];

const REFRESH_MS = 5_000;
/** Pause after which typing counts as finished. */
const TYPING_MS = 300;

export function CreatorsTab() {
  const { q, page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const [text, setText] = useState(q ?? '');
  const [chosen, setChosen] = useState<CreatorSummary | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: ['creators.list', q, page],
    queryFn: () => call('creators.list', { ...(q && { q }), limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

  const earned = formatterOf(data?.creators.map(({ earned_usdc }) => earned_usdc) ?? []);

  useEffect(() => {
    const words = text.trim();
    if (words === (q ?? '')) return;
    const timer = setTimeout(
      () => void navigate({ search: { tab: 'creators', ...(words && { q: words }) }, replace: true }),
      TYPING_MS,
    );
    return () => clearTimeout(timer);
  }, [text, q, navigate]);

  return (
    <div className="grid gap-5">
      <p className="max-w-2xl text-sm text-faint">
        The badge “verified” tells callers, on every agent of a wallet, that the marketplace has checked who its creator
        is. It gives no other rights, and you can remove it at any time.
      </p>
      <div className="w-full sm:w-80">
        <Input
          label="Find a creator"
          type="search"
          placeholder="Name or wallet"
          value={text}
          maxLength={100}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {error && <Trouble error={error} what="The creators" onRetry={refetch} />}
      {!data && !error && <Skeleton className="h-64" />}
      {data?.total === 0 && (
        <Empty title={q ? 'No creator matches this search' : 'No creators yet'}>
          {q ? 'Try fewer words, or the full wallet address.' : 'A creator appears here with the first listing.'}
        </Empty>
      )}
      {data && data.total > 0 && (
        <Table label="Creators" hasCards head={HEAD}>
          {data.creators.map((creator) => (
            <tr key={creator.wallet}>
              <td className="min-w-48">
                <Link to="/" search={{ creator: creator.wallet }} className="block font-medium text-accent underline">
                  {creator.display_name ?? 'No name'}
                </Link>
                <Id value={creator.wallet} kind="address" />
              </td>
              <Cell of="Identity" className="whitespace-nowrap">
                <Badge tone={creator.verified ? 'good' : 'plain'}>
                  {creator.verified ? 'Verified' : 'Not verified'}
                </Badge>
                {creator.verified_at && (
                  <span className="mt-1 block text-xs text-faint">
                    <Time at={creator.verified_at} />
                  </span>
                )}
              </Cell>
              <Cell of="Agents" className="tabular-nums sm:text-right">
                {formatCount(creator.listings)}
              </Cell>
              <Cell of="Calls" className="tabular-nums sm:text-right">
                {formatCount(creator.total_executions)}
              </Cell>
              <Cell of="Failed" className="tabular-nums sm:text-right">
                {formatCount(creator.failed_executions)}
              </Cell>
              <Cell of="Disputes" className="tabular-nums sm:min-w-42">
                {countWords(creator.disputes)}
              </Cell>
              <Cell of="Earned" className="whitespace-nowrap tabular-nums sm:text-right">
                <span>
                  {earned(creator.earned_usdc)}
                  <span className="sm:hidden"> USDC</span>
                </span>
              </Cell>
              <Cell of="Listed since" className="whitespace-nowrap">
                {creator.listed_since === null ? '–' : <Day at={creator.listed_since} />}
              </Cell>
              <td className="sm:text-right">
                <Button small onClick={() => setChosen(creator)}>
                  <span>
                    {creator.verified ? 'Remove badge' : 'Verify'}
                    <span className="sr-only">
                      {creator.verified && ' of'} {nameOf(creator)}
                    </span>{' '}
                    …
                  </span>
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {data && (
        <Pages
          page={page}
          size={PAGE_SIZE}
          names={['Previous', 'Next']}
          total={data.total}
          onPage={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
        />
      )}
      {chosen && <BadgeDialog creator={chosen} onClose={() => setChosen(null)} />}
    </div>
  );
}

const nameOf = ({ display_name, wallet }: CreatorSummary): string => display_name ?? shorten(wallet);

function BadgeDialog({ creator, onClose }: { creator: CreatorSummary; onClose(): void }) {
  const verified = !creator.verified;
  return (
    <SignDialog
      title={verified ? `Verify ${nameOf(creator)}?` : `Remove the badge of ${nameOf(creator)}?`}
      about={
        verified
          ? 'Callers will see the badge “verified” on all agents of this wallet. Verify a creator only after you have checked their identity. You can remove the badge at any time.'
          : 'The badge is removed from all agents of this wallet. They stay listed and accept calls.'
      }
      rows={[
        ['Creator', <Id key="wallet" value={creator.wallet} kind="address" />],
        ['Agents', formatCount(creator.listings)],
        ['Badge', verified ? 'none → verified' : 'verified → none'],
      ]}
      doing={verified ? 'Giving the badge' : 'Removing the badge'}
      confirm={verified ? 'Verify' : 'Remove badge'}
      danger={!verified}
      work={({ marketplace, wallet, verifyCreator, PublicKey }) =>
        verifyCreator(marketplace, wallet, { creator: new PublicKey(creator.wallet), verified })
      }
      done={() => [verified ? 'The creator is verified' : 'The badge is removed', 'The list updates within seconds.']}
      onClose={onClose}
    />
  );
}
