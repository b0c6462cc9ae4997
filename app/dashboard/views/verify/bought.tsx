/** What the verification is about: agent, task, result, price and date, by the receipt or by the chain. */
import { useQuery } from '@tanstack/react-query';
import { Receipt } from '../../../sdk/wire/receipt.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Card, Facts } from '../../parts/ui.tsx';
import { formatAmount, Id, Time } from '../../parts/values.tsx';
import { agentQuery } from '../../service.ts';
import type { Verification } from './verification.ts';

const isoTime = (seconds: bigint | number): string => new Date(Number(seconds) * 1_000).toISOString();

export function Bought({ verification: { subject, facts, rpcUrl } }: { verification: Verification }) {
  const { data: receipt } = Receipt.safeParse(subject.kind === 'receipt' ? subject.receipt : null);
  const agentId = receipt?.agent_id ?? facts?.agentId ?? null;
  const caller = receipt?.caller ?? facts?.caller ?? null;
  const refund = facts?.refund ?? null;
  const price = receipt?.price_usdc ?? (facts?.price == null ? null : toUsdc(facts.price));
  const openedAt = receipt?.opened_at ?? (facts?.openedAt == null ? null : isoTime(facts.openedAt));
  if (agentId === null && refund === null) return null;
  const rows = [
    agentId !== null && (['Agent', <Agent key="agent" agentId={agentId} isNamed={rpcUrl !== null} />] as const),
    receipt?.task !== undefined && (['Task', <Text key="task" text={receipt.task} />] as const),
    receipt?.result !== undefined && (['Result', <Text key="result" text={receipt.result} />] as const),
    price !== null && (['Price', formatAmount(price)] as const),
    refund !== null && (['Refunded', formatAmount(toUsdc(refund.amount))] as const),
    refund !== null && (['Refund transaction', <Id key="refund" value={refund.transaction} kind="tx" />] as const),
    refund?.at != null && (['Refunded on', <Time key="back" at={isoTime(refund.at)} />] as const),
    caller !== null && (['Paid by', <Id key="caller" value={caller} kind="address" />] as const),
    openedAt !== null && (['Bought on', <Time key="opened" at={openedAt} />] as const),
    receipt !== undefined && (['Paid out on', <Time key="settled" at={receipt.settled_at} />] as const),
  ];
  return (
    <Card>
      <h3 className="mb-4 font-semibold">What was bought</h3>
      <Facts rows={rows} />
    </Card>
  );
}

/** The name is the marketplace's word; everything else here is checked. */
function Agent({ agentId, isNamed }: { agentId: string; isNamed: boolean }) {
  const { data } = useQuery({ ...agentQuery(agentId), enabled: isNamed, retry: false });
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {data && (
        <a href={`/agents/${agentId}`} className="text-accent underline underline-offset-2">
          {data.name}
        </a>
      )}
      <Id value={agentId} kind="address" />
    </span>
  );
}

function Text({ text }: { text: string }) {
  return (
    <section tabIndex={0} aria-label="Text" className="max-h-40 overflow-auto rounded-lg bg-sunken px-3 py-2">
      <pre className="font-mono text-[0.8125rem] whitespace-pre-wrap">{text}</pre>
    </section>
  );
}
