/** For the admin alone: the parties of a dispute, the link to its case, and in its head who has not written yet. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { TextLink } from '../../parts/links.tsx';
import { buttonStyle } from '../../parts/ui.tsx';
import { Id, shorten } from '../../parts/values.tsx';
import { agentQuery } from '../../service.ts';
import { Unheard, unheardWords, useWaitUntil } from './due.tsx';

export function Parties({ dispute }: { dispute: DisputeSummary }) {
  const { creator, caller, outcome } = dispute;
  const name = useCreatorName(dispute);
  return (
    <span className="mt-1 block text-sm">
      Caller <Id value={caller} kind="address" /> against <AgentLink dispute={dispute} /> by{' '}
      <CreatorLink wallet={creator} name={name} />
      {/* From this width on it stands beside the case, in the decision. */}
      {outcome === 'open' && unheardWords(dispute) && (
        <span className="mt-1 block text-ink lg:hidden">
          <Unheard dispute={dispute} />
        </span>
      )}
    </span>
  );
}

export function AgentLink({ dispute: { agent_id: agentId, agent_name } }: { dispute: DisputeSummary }) {
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }}>
      {agent_name ?? shorten(agentId)}
    </TextLink>
  );
}

/** To the creator's row, which has its other agents, its failed calls and its disputes. */
export const CreatorLink = ({ wallet, name }: { wallet: string; name: string }) => (
  <TextLink to="/admin" search={{ tab: 'creators', q: wallet }} title={wallet}>
    {name}
  </TextLink>
);

/** To the case, which the admin can decide while it is open. While a side may still write, nothing asks for that. */
export function CaseLink({ dispute, small = false }: { dispute: DisputeSummary; small?: boolean }) {
  const { execution_id: executionId, outcome } = dispute;
  const isOpen = outcome === 'open';
  const mayWait = useWaitUntil(dispute) !== null;
  return (
    <Link
      to="/admin/disputes/$executionId"
      params={{ executionId }}
      className={buttonStyle(isOpen && !mayWait ? 'primary' : 'plain', small)}
    >
      {isOpen ? 'Decide' : 'View'}
      <span className="sr-only">: dispute {shorten(executionId)}</span>
    </Link>
  );
}

/** The short wallet until the name is known, and for a delisted agent, which has no page. */
export function useCreatorName({ agent_id, creator }: DisputeSummary): string {
  const { data } = useQuery(agentQuery(agent_id));
  return data?.creator.display_name ?? shorten(creator);
}
