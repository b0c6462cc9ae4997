/** Open disputes about the creator's agents: what is at stake, by when it is decided, and the way to reply. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { buttonStyle, cx, Note } from '../../parts/ui.tsx';
import { formatAmount, shorten, Time } from '../../parts/values.tsx';
import { firstDisputesQuery } from '../../parts/waiting.tsx';
import { useSession } from '../../wallet/session.ts';
import { mostSlashed, stakesQuery } from '../disputes/stakes.ts';

/** Disputes shown; their own page has all of them. */
const SHOWN = 3;

/** `agentId`: only of this agent. Renders nothing without an open dispute. */
export function OpenDisputes({ agentId }: { agentId?: string }) {
  const { wallet } = useSession();
  const { data } = useQuery(firstDisputesQuery(wallet));
  const open = (data?.disputes ?? []).filter(
    ({ outcome, creator, agent_id }) =>
      outcome === 'open' && creator === wallet && (agentId === undefined || agent_id === agentId),
  );
  if (open.length === 0) return null;
  return (
    <Note tone="warn">
      {open.length > 1 && <p className="mb-2 font-semibold">{open.length} open disputes</p>}
      <ul className="grid gap-3 text-ink">
        {open.slice(0, SHOWN).map((dispute) => (
          <li
            key={dispute.execution_id}
            className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 sm:flex-nowrap"
          >
            <div className="min-w-0">
              {open.length === 1 && <p className="mb-1 font-semibold text-warn">1 open dispute</p>}
              <Facts dispute={dispute} isNamed={agentId === undefined} />
            </div>
            <Link
              to="/disputes/$executionId"
              params={{ executionId: dispute.execution_id }}
              className={cx(buttonStyle(dispute.reply === null ? 'primary' : 'plain'), 'max-sm:w-full')}
            >
              {dispute.reply === null ? 'Read it and reply' : 'Read it'}
            </Link>
          </li>
        ))}
      </ul>
      {open.length > SHOWN && (
        <Link
          {...(agentId === undefined
            ? { to: '/disputes' }
            : { to: '/creator/$agentId', params: { agentId }, search: { tab: 'disputes' } })}
          className="mt-3 inline-block underline"
        >
          All disputes
        </Link>
      )}
    </Note>
  );
}

function Facts({ dispute, isNamed }: { dispute: DisputeSummary; isNamed: boolean }) {
  const { agent_id, agent_name, execution_id, price_usdc, answer_due_at, reply } = dispute;
  const { data: stakes } = useQuery(stakesQuery(agent_id, execution_id));
  const most = stakes && mostSlashed(stakes, parseUsdc(price_usdc));
  return (
    <p>
      {isNamed && <span className="font-medium">{agent_name ?? shorten(agent_id)}: </span>}
      {isNamed ? 'a' : 'A'} call for {formatAmount(price_usdc)} is disputed.{' '}
      {most !== undefined && <>Up to {formatAmount(toUsdc(most))} of its collateral is at stake. </>}
      {reply === null && <strong className="font-semibold">Reply now. </strong>}
      The admin can decide at any time, and should by <Time at={answer_due_at} />.
    </p>
  );
}
