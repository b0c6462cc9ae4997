/** All creators, and the badge of a verified wallet. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { DISPUTE_OUTCOMES, MAX_OTHER_NAMES } from '../../../sdk/wire/choices.ts';
import type { CreatorSummary } from '../../../sdk/wire/listingProcedures.ts';
import { formatterOf } from '../../parts/amount.ts';
import { Verified } from '../../parts/badges.tsx';
import { CellLink, ContactOperator } from '../../parts/links.tsx';
import { PagedTable } from '../../parts/pagedTable.tsx';
import { pageOf } from '../../parts/pages.tsx';
import { SignDialog } from '../../parts/sign.tsx';
import { AtRight, Cell } from '../../parts/table.tsx';
import { Button, cx, Empty, Input, LINK, Select } from '../../parts/ui.tsx';
import { Day, formatCount, formatList, Id, shorten } from '../../parts/values.tsx';
import { call, configQuery } from '../../service.ts';
import { OUTCOME_WORDS } from '../disputes/outcomes.tsx';
import { PAGE_SIZE, parseAdminSearch } from './search.ts';

const HEAD = [
  'Creator',
  'Badge',
  <AtRight key="agents">Agents</AtRight>,
  <AtRight key="calls">Calls</AtRight>,
  <AtRight key="failed">Failed</AtRight>,
  'Disputes',
  <AtRight key="earned">Earned, USDC</AtRight>,
  '',
];

const REFRESH_MS = 5_000;
/** Pause after which typing counts as finished. */
const TYPING_MS = 300;

export function CreatorsTab() {
  const { q, verified, page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const [text, setText] = useState(q ?? '');
  const [chosen, setChosen] = useState<CreatorSummary | null>(null);
  const query = useQuery({
    queryKey: ['creators.list', q, verified, page],
    queryFn: () => call('creators.list', { ...(q && { q }), verified, ...pageOf(page, PAGE_SIZE) }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

  const earned = formatterOf(query.data?.creators.map(({ earned_usdc }) => earned_usdc) ?? []);

  useEffect(() => {
    const words = text.trim();
    if (words === (q ?? '')) return;
    const timer = setTimeout(
      () => void navigate({ search: parseAdminSearch({ tab: 'creators', q: words, verified }), replace: true }),
      TYPING_MS,
    );
    return () => clearTimeout(timer);
  }, [text, q, verified, navigate]);

  return (
    <div className="grid gap-5">
      <div className="grid max-w-2xl gap-1 text-sm text-faint">
        <p>
          The badge “Verified wallet” tells callers that you have checked who owns the wallet, and vouches neither for
          the name shown nor for the answers. <Requests />
        </p>
        <p>“Calls” includes the failed ones and those for tests; “Earned” is after the fee.</p>
      </div>
      <div className="grid gap-4 sm:grid-cols-[20rem_14rem]">
        <Input
          label="Find a creator"
          type="search"
          placeholder="Name or wallet"
          value={text}
          maxLength={100}
          onChange={(event) => setText(event.target.value)}
        />
        <Select
          label="Show"
          value={String(verified ?? '')}
          onChange={({ target: { value } }) =>
            void navigate({
              search: parseAdminSearch({ tab: 'creators', q, verified: value === '' ? undefined : value === 'true' }),
            })
          }
        >
          <option value="">All</option>
          <option value="true">With the badge</option>
          <option value="false">Without the badge</option>
        </Select>
      </div>
      <PagedTable
        label="Creators"
        hasCards
        isDense
        head={HEAD}
        query={query}
        what="The creators"
        className="h-64"
        empty={
          <Empty title={q || verified !== undefined ? 'No creator matches this search' : 'No creators yet'}>
            {q
              ? 'Try fewer words, or the full wallet address.'
              : verified === undefined && 'A creator appears here with the first listing.'}
          </Empty>
        }
        page={page}
        size={PAGE_SIZE}
        names={['Previous', 'Next']}
        order="newest listing first"
        onPage={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
      >
        {query.data?.creators.map((creator) => (
          <tr key={creator.wallet}>
            <td className="min-w-48">
              <CellLink to="/" search={{ creator: creator.wallet }} className="block w-fit font-medium">
                {creator.display_name ?? 'No name'}
              </CellLink>
              {creator.other_names.length > 0 && (
                <span className="block text-sm wrap-anywhere text-warn">also lists as {otherNames(creator)}</span>
              )}
              <Id value={creator.wallet} kind="address" />
              {creator.listed_since !== null && (
                <span className="block text-faint">
                  Listed since <Day at={creator.listed_since} />
                </span>
              )}
            </td>
            <Cell of="Badge" className="whitespace-nowrap">
              {creator.verified ? <Verified /> : <span className="text-faint">None</span>}
              {creator.verified_at && (
                <span className="mt-1 block text-faint">
                  {creator.verified ? 'Given' : 'Removed'} <Day at={creator.verified_at} />
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
            <Cell of="Disputes" className="tabular-nums">
              <Disputes creator={creator} />
            </Cell>
            <Cell of="Earned" className="whitespace-nowrap tabular-nums sm:text-right">
              <span>
                {earned(creator.earned_usdc)}
                <span className="sm:hidden"> USDC</span>
              </span>
            </Cell>
            <td className="sm:text-right">
              <Button small kind={creator.verified ? 'danger' : undefined} onClick={() => setChosen(creator)}>
                <span>
                  {creator.verified ? 'Remove badge' : 'Give badge'}
                  <span className="sr-only">
                    {creator.verified ? ' of' : ' to'} {nameOf(creator)}
                  </span>{' '}
                  …
                </span>
              </Button>
            </td>
          </tr>
        ))}
      </PagedTable>
      {chosen && <BadgeDialog creator={chosen} onClose={() => setChosen(null)} />}
    </div>
  );
}

/** How a creator asks for the badge: the page gives them only this address. */
function Requests() {
  const { data: config } = useQuery(configQuery);
  if (!config) return null;
  return config.operator_contact === null ? (
    <>
      Creators have no address to ask for it: set <code>OPERATOR_CONTACT</code>.
    </>
  ) : (
    <>
      Creators ask for it at <ContactOperator className={cx('wrap-anywhere', LINK)} isAddress />.
    </>
  );
}

/** Each outcome with its number, which leads to these disputes. */
function Disputes({ creator: { wallet, disputes } }: { creator: CreatorSummary }) {
  const counted = DISPUTE_OUTCOMES.filter((outcome) => disputes[outcome] > 0);
  if (counted.length === 0) return <span className="text-faint">None</span>;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      {counted.map((outcome) => (
        <CellLink
          key={outcome}
          to="/admin"
          search={{ tab: 'disputes', outcome, creator: wallet }}
          className={cx('inline-flex min-h-6 items-center', outcome === 'open' && 'font-medium')}
        >
          {formatCount(disputes[outcome])} {OUTCOME_WORDS[outcome]}
          <span className="sr-only"> disputes</span>
        </CellLink>
      ))}
    </span>
  );
}

/** Each agent has its own name of its creator; the badge does not check them. */
const otherNames = ({ other_names: names }: CreatorSummary): string =>
  formatList(names.length < MAX_OTHER_NAMES ? names : [...names, 'others']);

const nameOf = ({ display_name, wallet }: CreatorSummary): string => display_name ?? shorten(wallet);

function BadgeDialog({ creator, onClose }: { creator: CreatorSummary; onClose(): void }) {
  const verified = !creator.verified;
  return (
    <SignDialog
      title={verified ? `Give ${nameOf(creator)} the badge?` : `Remove the badge of ${nameOf(creator)}?`}
      about={
        verified
          ? 'The badge “Verified wallet” appears on every agent of this wallet, under every name that it chooses. You can remove it at any time.'
          : 'The badge is removed from all agents of this wallet. They stay listed and accept calls.'
      }
      rows={[
        ['Creator', <Id key="wallet" value={creator.wallet} kind="address" />],
        ['Agents', formatCount(creator.listings)],
        ...(creator.other_names.length > 0 ? ([['Other names', otherNames(creator)]] as const) : []),
        ['Badge', verified ? 'None → Verified wallet' : 'Verified wallet → None'],
      ]}
      doing={verified ? 'Giving the badge' : 'Removing the badge'}
      confirm={verified ? 'Give badge' : 'Remove badge'}
      danger={!verified}
      work={({ marketplace, wallet, verifyCreator, PublicKey }) =>
        verifyCreator(marketplace, wallet, { creator: new PublicKey(creator.wallet), verified })
      }
      done={() => [verified ? 'The badge is given' : 'The badge is removed', 'The list updates within seconds.']}
      onClose={onClose}
    >
      {verified && <StepsOfCheck wallet={creator.wallet} />}
    </SignDialog>
  );
}

/** Any wallet can do the third step; only some can sign a message that a standard tool checks. */
const StepsOfCheck = ({ wallet }: { wallet: string }) => (
  <div className="text-sm">
    <h3 className="font-medium">First check who owns the wallet</h3>
    <ol className="mt-1 grid list-decimal gap-1 pl-5 text-faint">
      <li>The creator writes to you from an address that you know is theirs, such as one on their site.</li>
      <li>You answer with a sentence of your own.</li>
      <li>
        They save it in the description of one of their agents, which needs the wallet’s signature. Or they sign it with{' '}
        <code>solana sign-offchain-message</code>, and you check it:{' '}
        <code className="wrap-anywhere">solana verify-offchain-signature --signer {wallet} SENTENCE SIGNATURE</code>.
      </li>
      <li>This shows that they hold the key. Who they are, only the address of step 1 shows.</li>
    </ol>
  </div>
);
