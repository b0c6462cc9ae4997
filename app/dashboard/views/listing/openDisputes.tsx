/** Open disputes about the creator's agents: what is at stake, and the way to reply. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { TextLink } from '../../parts/links.tsx';
import { buttonStyle } from '../../parts/ui.tsx';
import { formatAmount, shorten } from '../../parts/values.tsx';
import { firstDisputesQuery } from '../../parts/waiting.tsx';
import { useSession } from '../../wallet/session.ts';
import { ReplyWords } from '../disputes/deadline.tsx';
import { DisputesNote } from '../disputes/disputesNote.tsx';
import { MostAtStake } from '../disputes/mostAtStake.tsx';

/** Disputes shown; their own page has all of them. */
const SHOWN = 3;

interface OpenDisputesProps {
  /** Only of this agent. */
  agentId?: string;
}

/** Renders nothing without an open dispute. */
export function OpenDisputes({ agentId }: OpenDisputesProps) {
  const { wallet } = useSession();
  const { data } = useQuery(firstDisputesQuery(wallet));
  const open = (data?.disputes ?? [])
    .filter(
      ({ outcome, creator, agent_id }) =>
        outcome === 'open' && creator === wallet && (agentId === undefined || agent_id === agentId),
    )
    .sort(bySilence);
  if (open.length === 0) return null;
  const silent = open.filter(({ reply }) => reply === null).length;
  const title =
    open.length === 1 ? '1 open dispute' : `${open.length} open disputes, ${silent} of them without your reply`;
  return (
    <DisputesNote
      title={title}
      disputes={open.slice(0, SHOWN)}
      wordsOf={(dispute) => <Words dispute={dispute} isNamed={agentId === undefined} />}
      buttonOf={(dispute) => <ReadLink dispute={dispute} />}
    >
      {open.length > SHOWN && (
        <TextLink
          {...(agentId === undefined
            ? { to: '/disputes' }
            : { to: '/creator/$agentId', params: { agentId }, search: { tab: 'disputes' } })}
          className="mt-3 inline-block"
        >
          All {open.length} disputes
        </TextLink>
      )}
    </DisputesNote>
  );
}

const ReadLink = ({ dispute: { execution_id: executionId, reply } }: { dispute: DisputeSummary }) => (
  <Link
    to="/disputes/$executionId"
    params={{ executionId }}
    className={buttonStyle(reply === null ? 'primary' : 'plain')}
  >
    {reply === null ? 'Read and reply' : 'Read'}
  </Link>
);

/** Those without a reply first, the one that is decided soonest before the others. */
const bySilence = (one: DisputeSummary, other: DisputeSummary): number =>
  Number(one.reply !== null) - Number(other.reply !== null) || one.answer_due_at.localeCompare(other.answer_due_at);

function Words({ dispute, isNamed }: { dispute: DisputeSummary; isNamed: boolean }) {
  const { agent_id, agent_name, price_usdc } = dispute;
  return (
    <>
      {isNamed && <span className="font-medium">{agent_name ?? shorten(agent_id)}: </span>}
      {isNamed ? 'a' : 'A'} call for {formatAmount(price_usdc)} is disputed. <ReplyWords dispute={dispute} />{' '}
      <MostAtStake dispute={dispute} />
    </>
  );
}
