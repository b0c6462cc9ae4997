/** A received call, opened: its facts, the request, and the server's answer. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReceivedCall, ReceivedCallContent } from '../../../sdk/wire/procedures.ts';
import { Unread } from '../../parts/trouble.tsx';
import { Facts } from '../../parts/ui.tsx';
import { Code, formatAmount, Id, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { TabLink } from './tabLink.tsx';

export const contentQuery = (executionId: string) =>
  queryOptions({
    queryKey: ['listings', 'call', executionId],
    queryFn: () => call('listings.call', { execution_id: executionId }),
  });

interface ContentProps {
  received: ReceivedCall;
  /** The agent's name, where other calls may be of another agent. */
  agent: string | undefined;
}

export function Content({ received, agent }: ContentProps) {
  const query = useQuery(contentQuery(received.execution_id));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 px-4 pb-5">
      <Facts
        rows={[
          agent !== undefined && [
            'Agent',
            <TabLink key="agent" agentId={received.agent_id}>
              {agent}
            </TabLink>,
          ],
          ['Call ID', <Id key="id" value={received.execution_id} full />],
          ['Received', <Time key="received" at={received.received_at} />],
          ['Price', formatAmount(received.price_usdc)],
          ['You earned', formatAmount(received.earned_usdc)],
          received.error && ['Refunded because', received.error.message],
          received.error && ['Error code', <code key="code">{received.error.code}</code>],
        ]}
      />
      {query.data ? <Bodies content={query.data} /> : <Unread query={query} what="The call" className="h-40" />}
    </div>
  );
}

function Bodies({ content: { call: received, request, answer } }: { content: ReceivedCallContent }) {
  if (request === null) return <p className="text-sm text-faint">The caller deleted request and answer.</p>;
  const said = answer?.kind === 'result' ? 'The result of your server' : 'The answer of your server';
  return (
    <>
      <section>
        <h3 className="mb-2 text-sm font-medium">What was sent</h3>
        <Code text={request} label="What was sent" />
      </section>
      <section>
        <h3 className="mb-2 text-sm font-medium">
          {said}
          {answer?.is_cut && <span className="font-normal text-faint">, beginning only</span>}
        </h3>
        {answer ? (
          <Code text={answer.text || '(empty)'} label={said} />
        ) : (
          <p className="text-sm text-faint">
            {received.http_status === null ? 'No answer came before the deadline.' : 'The answer is no longer kept.'}
          </p>
        )}
      </section>
    </>
  );
}
