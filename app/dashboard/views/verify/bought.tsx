/** The purchase that is verified: agent, request, result, price, dates, wallets and transactions, as on a receipt. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CheckName } from '../../../sdk/receipt/verify.ts';
import { Receipt } from '../../../sdk/wire/receipt.ts';
import { toTime } from '../../../sdk/wire/time.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { TestMark } from '../../parts/badges.tsx';
import { Anchor } from '../../parts/links.tsx';
import { Parameters } from '../../parts/parameters.tsx';
import Result from '../../parts/result/result.tsx';
import { TextBox } from '../../parts/textBox.tsx';
import { Card, cx, Facts } from '../../parts/ui.tsx';
import { formatAmount, formatUnits, Id } from '../../parts/values.tsx';
import { agentQuery } from '../../service.ts';
import type { Verification } from './verification.ts';

type Row = readonly [ReactNode, ReactNode] | null;

const idRow = (name: string, value: string | null | undefined, kind?: 'address' | 'tx'): Row =>
  value == null ? null : [name, <Id key={name} value={value} {...(kind && { kind })} full />];
const timeRow = (name: string, at: string | null | undefined): Row =>
  at == null ? null : [name, <When key={name} at={at} />];
const textRow = (name: string, shown: ReactNode, wrong: string | null): Row => [
  // Level with the first line of the box.
  <span key="name" className={cx('inline-block', wrong === null && 'sm:pt-2.5')}>
    {name}
  </span>,
  <div key={name}>
    {wrong && <p className="mb-1 text-sm font-medium text-bad">{wrong}</p>}
    <div className={cx(wrong && 'border-l-2 border-bad pl-3')}>{shown}</div>
  </div>,
];

const NOT_SIGNED = 'Not what was signed';
const NOT_HASHED = 'Not what its hash in the receipt stands for';
/** The names of a hash that is not the shown result's. */
const HASH_NAMES = { [NOT_SIGNED]: 'Signed result hash', [NOT_HASHED]: 'Result hash in the receipt' } as const;

interface BoughtProps {
  verification: Verification;
  /** It holds on the network of this page. */
  isHere: boolean;
}

export function Bought({ verification: { subject, facts, rpcUrl, checks }, isHere }: BoughtProps) {
  const failed = (name: CheckName) => checks.some((check) => check.name === name && check.state === 'failed');
  const otherResult = failed('result_hash') ? (failed('signature') ? NOT_HASHED : NOT_SIGNED) : null;
  const otherRequest = failed('request_hash') ? NOT_HASHED : null;
  const { data: receipt } = Receipt.safeParse(subject.kind === 'receipt' ? subject.receipt : null);
  const agentId = receipt?.agent_id ?? facts?.agentId ?? null;
  const refund = facts?.refund ?? null;
  const price = receipt?.price_usdc ?? (facts?.price == null ? null : toUsdc(facts.price));
  if (agentId === null && refund === null) return null;
  const { open, end } = facts?.transactions ?? { open: null, end: null };
  const { task, result } = receipt ?? {};
  const parameters = receipt?.parameters && Object.keys(receipt.parameters).length > 0 ? receipt.parameters : undefined;
  return (
    <Card>
      <h3 className="mb-4 font-semibold">
        {!checks.some(({ state }) => state === 'failed')
          ? 'What was bought'
          : receipt
            ? 'What this receipt says'
            : 'What the chain says'}
      </h3>
      <Facts
        rows={[
          idRow('Call', receipt?.execution_id ?? (subject.kind === 'execution' ? subject.executionId : null)),
          agentId === null ? null : ['Agent', <Agent key="agent" agentId={agentId} isNamed={rpcUrl !== null} />],
          task === undefined ? null : textRow('Task', <TextBox label="Task" text={task} />, otherRequest),
          parameters
            ? textRow(
                'Parameters',
                <Parameters parameters={parameters} isExact={otherRequest !== null} />,
                otherRequest,
              )
            : null,
          task === undefined ? idRow('Request hash', receipt?.request_hash ?? facts?.requestHash) : null,
          result === undefined
            ? null
            : textRow(
                'Result',
                <Result
                  text={result}
                  name={`result-${receipt?.execution_id}`}
                  isExact={otherResult !== null || result.trim() === ''}
                />,
                otherResult,
              ),
          idRow(otherResult === null ? 'Result hash' : HASH_NAMES[otherResult], receipt?.result_hash),
          price === null
            ? null
            : [
                'Price',
                <span key="price">
                  {formatAmount(price)} {isHere && <TestMark />}
                </span>,
              ],
          refund && ['Refunded', formatUnits(refund.amount)],
          idRow('Paid by', receipt?.caller ?? facts?.caller, 'address'),
          idRow('Creator', facts?.creator, 'address'),
          timeRow('Bought on', receipt?.opened_at ?? (facts?.openedAt == null ? null : toTime(facts.openedAt))),
          timeRow('Settled on', receipt?.settled_at),
          timeRow('Refunded on', refund?.at == null ? null : toTime(BigInt(refund.at))),
          idRow('Opening transaction', receipt?.transactions.open ?? open, 'tx'),
          refund
            ? idRow('Refund transaction', refund.transaction, 'tx')
            : idRow('Payment transaction', receipt?.transactions.settle ?? end, 'tx'),
        ]}
      />
    </Card>
  );
}

/** In UTC, because a receipt is also read in other zones. */
export const When = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })} UTC
  </time>
);

/** Only the name comes from the marketplace unchecked; everything else here is checked. */
function Agent({ agentId, isNamed }: { agentId: string; isNamed: boolean }) {
  const { data } = useQuery({ ...agentQuery(agentId), enabled: isNamed, retry: false });
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {data && <Anchor href={`/agents/${agentId}`}>{data.name}</Anchor>}
      <Id value={agentId} kind="address" full />
    </span>
  );
}
