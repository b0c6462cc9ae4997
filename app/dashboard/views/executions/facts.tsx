/** Facts about a call: where its money went, and its data on the chain. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { RouteAnswer } from '../../../sdk/client/client.ts';
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import { Away, TextLink } from '../../parts/links.tsx';
import { Card, Facts, Skeleton, withUnit } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatDuration, formatSpan, formatUnits, Id, Time } from '../../parts/values.tsx';
import { request } from '../../service.ts';
import { Fold } from '../disputes/fold.tsx';
import { lessUsdc } from '../listing/own.ts';
import { payerOf } from './outcome.ts';
import type { ShownRecord } from './record.ts';
import { RefundTransaction, useRefund } from './refunded.tsx';

export type Execution = RouteAnswer<'getExecution'>;

/**
 * True while it is unknown if the price is in escrow: the service reports no cost, and the chain has no record. The
 * opening may still fail, so no amounts are shown.
 */
export const isBeingOpened = (
  { status, cost_usdc, archive }: Execution,
  record: ShownRecord | null | undefined,
): boolean => (status === 'pending' || status === 'running') && cost_usdc === 0 && !record && archive === null;

/** True while an x402 client's payment is on its way back from the deposit, or waits for the payer's account. */
export const isBeingReturned = ({ deposit, refund, cost_usdc }: Execution): boolean =>
  deposit !== null && cost_usdc === 0 && refund !== null && refund !== 'done';

/** What the parts of a call's page show: undefined while it is read, null if there is none. */
export interface CallParts {
  execution: Execution;
  dispute: DisputeSummary | null | undefined;
  record: ShownRecord | null | undefined;
}

/** The amounts: the shares of a settlement or the refund, and the net cost after an upheld dispute. */
export function Amounts({ execution, dispute, record }: CallParts) {
  const { creator_amount_usdc, platform_amount_usdc, tokens_used, execution_time_ms } = execution;
  const { initiated_at, completed_at } = execution;
  // The record may be known before the service has it.
  const cost_usdc = execution.cost_usdc || (record?.status === 'open' ? Number(record.price_usdc) : 0);
  const refund = useRefund(execution, execution.refund === 'done');
  const share = (part: number) => (cost_usdc > 0 ? `, ${Math.round((part / cost_usdc) * 1_000) / 10} %` : '');
  const isSettled = creator_amount_usdc > 0;
  const returned = dispute?.outcome === 'upheld' ? lessUsdc(dispute.amount_to_caller_usdc ?? 0, dispute.owed_usdc) : 0;
  const isReturning = isBeingReturned(execution);
  if (isReturning || isBeingOpened(execution, record)) {
    return (
      <Card>
        <h2 className="text-sm text-faint">{isReturning ? 'Being returned' : 'Being opened'}</h2>
        <p className="mt-1 text-sm">
          The amount is shown here once Solana has confirmed the {isReturning ? 'return' : 'payment'}.
        </p>
      </Card>
    );
  }
  return (
    <Card>
      <h2 className="text-sm text-faint">{headOf(execution, returned)}</h2>
      <p className="mt-1 text-2xl font-semibold tabular-nums">
        {execution.refund === 'done'
          ? refund
            ? withUnit(formatUnits(refund.amount))
            : '…'
          : withUnit(formatAmount(lessUsdc(cost_usdc, returned)))}
      </p>
      {execution.refund === 'done' && (
        <dl className="mt-4 grid gap-2 text-sm">
          <Line name="Transaction" value={<RefundTransaction refund={refund} />} />
        </dl>
      )}
      {isSettled && (
        <dl className="mt-4 grid gap-2 text-sm tabular-nums">
          {returned > 0 && <Line name="Paid" value={formatAmount(cost_usdc)} />}
          {returned > 0 && <Line name="Awarded after the dispute" value={formatAmount(returned)} />}
          <Line name={`To the creator${share(creator_amount_usdc)}`} value={formatAmount(creator_amount_usdc)} />
          <Line name={`To the marketplace${share(platform_amount_usdc)}`} value={formatAmount(platform_amount_usdc)} />
        </dl>
      )}
      <dl className="mt-4 grid gap-2 border-t border-line pt-4 text-sm tabular-nums">
        <Line name="Called with" value={<Payer execution={execution} />} />
        {execution.service_fee_usdc ? (
          <Line name="x402 service fee" value={`${formatAmount(execution.service_fee_usdc)}, not refundable`} />
        ) : null}
        {execution_time_ms !== null && <Line name="Agent answered in" value={formatDuration(execution_time_ms)} />}
        {completed_at !== null && <Line name="Total, from escrow to end" value={totalOf(initiated_at, completed_at)} />}
        {tokens_used !== null && <Line name="Tokens, reported by the agent" value={formatCount(tokens_used)} />}
      </dl>
    </Card>
  );
}

/** The chain's times are whole seconds. */
function totalOf(from: string, to: string): string {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1_000;
  return seconds < 1 ? 'under 1 second' : `about ${formatSpan(seconds)}`;
}

/** With a link to the key, if one paid. */
function Payer({ execution }: { execution: Execution }) {
  const name = payerOf(execution);
  if (execution.key_id === null) return name;
  return (
    <TextLink to="/keys" hash={execution.key_id}>
      {name}
    </TextLink>
  );
}

function headOf({ refund, status, creator_amount_usdc }: Execution, returned: number): string {
  if (refund === 'done') return 'Refunded';
  if (returned > 0) return 'Paid, less the award';
  // While a refund waits, the price is still in escrow.
  return creator_amount_usdc > 0 || (status === 'failed' && refund === null) ? 'Paid' : 'In escrow';
}

function Line({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="text-faint">{name}</dt>
      <dd className="text-right">{value}</dd>
    </div>
  );
}

/** The transactions of a settled call, as its receipt has them. */
const transactionsQuery = (executionId: string) =>
  queryOptions({
    queryKey: ['execution', executionId, 'transactions'],
    queryFn: async () => (await request('getExecutionReceipt', { execution_id: executionId })).transactions,
    // The index may learn of a transaction later. Once both are known, no event reads the whole receipt again.
    staleTime: ({ state: { data } }) => (data?.open && data.settle ? 'static' : 0),
  });

/** Facts that anyone can read on the chain, or prove from it. */
export function OnChain({ execution, record }: Pick<CallParts, 'execution' | 'record'>) {
  const { archive } = execution;
  const { data: transactions } = useQuery({
    ...transactionsQuery(execution.execution_id),
    enabled: execution.creator_amount_usdc > 0,
  });
  const isReading = record === undefined && !archive;
  return (
    <Fold title="On the chain" gist="addresses, hashes, transactions">
      {isReading ? (
        <Skeleton className="h-48" />
      ) : (
        <Facts
          rows={[
            ['Agent', <Id key="agent" value={execution.agent_id} kind="address" />],
            record && ['Record', <Id key="record" value={record.record} kind="address" />],
            execution.deposit
              ? ['Paid by x402 into', <Id key="deposit" value={execution.deposit} kind="address" />]
              : record &&
                (record.key_id === null
                  ? ['Opened by', 'the wallet itself']
                  : ['API key', <Id key="key" value={record.key_id} />]),
            record?.request_hash && ['Request hash', <Id key="request" value={record.request_hash} />],
            record && ['Signing key', <Id key="signer" value={record.signing_key} kind="address" />],
            record?.deadline && ['Deadline', <Time key="deadline" at={record.deadline} hasSeconds />],
            record?.status === 'open' &&
              record.refund_at && ['Refundable from', <Time key="refund" at={record.refund_at} hasSeconds />],
            execution.result_hash && ['Result hash', <Id key="hash" value={execution.result_hash} />],
            execution.signature && ['Creator’s signature', <Id key="signature" value={execution.signature} />],
            execution.execution_signature && [
              'Creator’s signature over this call',
              <Id key="own" value={execution.execution_signature} />,
            ],
            transactions?.open && ['Opening transaction', <Id key="open" value={transactions.open} kind="tx" />],
            transactions?.settle && ['Payment transaction', <Id key="settle" value={transactions.settle} kind="tx" />],
            [
              'In a public explorer',
              <Away key="explorer" href={execution.on_chain_record}>
                {execution.on_chain_record.includes('/tx/')
                  ? 'The transaction that archived it'
                  : 'The record of this call'}
              </Away>,
            ],
          ]}
        />
      )}
      {record === null && !archive && (
        <p className="text-sm text-faint">Its account is not on the chain: it is not opened yet, or already closed.</p>
      )}
    </Fold>
  );
}

/** An archived execution: its account is closed, but this proof is equally strong. */
export function Archived({ archive }: { archive: NonNullable<Execution['archive']> }) {
  return (
    <Fold title="Archived" gist="the proof of the closed account">
      <p className="text-sm text-faint">
        The account is closed. Its data is a leaf of a Merkle tree, and the root of the tree is on the chain. A proof of{' '}
        {archive.proof.length} hashes connects the two.
      </p>
      <Facts
        rows={[
          ['Leaf', `${formatCount(archive.leaf_index)} of archive ${archive.archive_index}`],
          ['Leaf hash', <Id key="leaf" value={archive.leaf} />],
          ['Root', <Id key="root" value={archive.root} />],
          ['Tree', <Id key="tree" value={archive.tree} kind="address" />],
          ['Archived by', <Id key="transaction" value={archive.transaction} kind="tx" />],
        ]}
      />
    </Fold>
  );
}
