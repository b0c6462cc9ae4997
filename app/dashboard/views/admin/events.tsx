/** What a transaction of the admin or the guardian did, in words. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatUuid } from '../../../sdk/receipt/receipt.ts';
import type { AdminEvent } from '../../../sdk/wire/operationProcedures.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatAmount, Id, shorten } from '../../parts/values.tsx';
import { agentQuery, call } from '../../service.ts';

type Data = AdminEvent['data'];

const WORDS: Record<string, (data: Data) => ReactNode> = {
  AdminChanged: ({ admin }) => <>Changed the admin to {address(admin)}</>,
  ChangeApplied: () => 'Applied a change',
  ChangeCancelled: () => 'Cancelled a change',
  ChangeProposed: () => 'Announced a change',
  ChangesCancelled: () => 'Cancelled all pending changes of settings',
  ConfigInitialized: () => 'Set up the marketplace',
  ConfigUpdated: () => 'Changed settings or the pause',
  CreatorVerificationChanged: ({ creator, verified }) => (
    <>
      {verified ? 'Verified' : 'Removed the badge of'} <CreatorName wallet={String(creator)} />
    </>
  ),
  DisputeResolved: (data) => <Resolved data={data} />,
  RelayAuthorityRemoved: ({ relayAuthority }) => <>Removed the relay authority {address(relayAuthority)}</>,
  TreasuryWithdrawn: ({ amount }) => `Withdrew ${usdc(amount)} from the treasury`,
};

/** The event has no price; an award is the amount by which a decision is known. */
function Resolved({ data: { executionId, listing, upheld, amountToCaller } }: { data: Data }) {
  const id = formatUuid(hexToBytes(String(executionId)));
  const { data: agent } = useQuery(agentQuery(String(listing)));
  return (
    <>
      <Link to="/admin/disputes/$executionId" params={{ executionId: id }} title={id} className="text-accent underline">
        {upheld ? 'Upheld' : 'Rejected'} dispute over {agent?.name ?? shorten(String(listing))}
      </Link>
      {upheld && `, ${usdc(amountToCaller)} for the caller`}
    </>
  );
}

const usdc = (units: unknown): string => formatAmount(toUsdc(BigInt(String(units))));

const address = (value: unknown) => <Id value={String(value)} kind="address" />;

/** An event without words here is named as in the program. */
export const eventWords = ({ event, data }: AdminEvent): ReactNode => WORDS[event]?.(data) ?? event;

export function DisputeLink({ executionId }: { executionId: string }) {
  return (
    <Link
      to="/admin/disputes/$executionId"
      params={{ executionId }}
      title={executionId}
      className="font-mono text-[0.8125rem] whitespace-nowrap text-accent underline"
    >
      {shorten(executionId)}
    </Link>
  );
}

/** The short wallet until the name is known. */
function CreatorName({ wallet }: { wallet: string }) {
  const { data } = useQuery({
    queryKey: ['creators.list', 'named', wallet],
    queryFn: () => call('creators.list', { q: wallet, limit: 1 }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return <span title={wallet}>{data?.creators[0]?.display_name ?? shorten(wallet)}</span>;
}
