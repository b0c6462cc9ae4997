/** The name of the disputed agent's creator. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { shorten } from '../../parts/values.tsx';
import { agentQuery } from '../../service.ts';

/** The short wallet until the name is known, and for a delisted agent, which has no page. */
export function useCreatorName({ agent_id, creator }: DisputeSummary): string {
  const { data } = useQuery(agentQuery(agent_id));
  return data?.creator.display_name ?? shorten(creator);
}
