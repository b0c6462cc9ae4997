/** What the agent's page promises now. The service keeps no earlier description. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Unread } from '../../parts/trouble.tsx';
import { agentQuery } from '../../service.ts';
import { SchemaFields } from '../agent/schema/schemaFields.tsx';
import { Fold } from './fold.tsx';
import { stakesQuery } from './stakes.ts';

const Markdown = lazy(() => import('../../parts/markdown.tsx'));

interface PromisedProps {
  dispute: DisputeSummary;
  /** Unfolded while the admin and the creator compare the result with it. */
  isOpen: boolean;
}

export function Promised({ dispute, isOpen }: PromisedProps) {
  const query = useQuery(agentQuery(dispute.agent_id));
  const { data: agent } = query;
  const { data: stakes } = useQuery({ ...stakesQuery(dispute.agent_id, dispute.execution_id), enabled: isOpen });
  return (
    <Fold
      title="What the agent promises"
      gist={stakes?.isSameListing ? 'the same as at the call' : 'as listed now'}
      open={isOpen}
    >
      <Unread query={query} what="The description" className="h-24" />
      {agent && (
        <>
          {(!isOpen || stakes?.isSameListing === false) && (
            <p className="text-sm text-faint">The description may have changed since the call.</p>
          )}
          <p className="text-sm font-medium">{agent.tagline}</p>
          <Suspense fallback={<p className="text-sm whitespace-pre-line">{agent.description}</p>}>
            <Markdown text={agent.description} />
          </Suspense>
          <SchemaFields
            as="h3"
            title="Output"
            schema={agent.output_schema}
            none="An object. Its creator does not describe the fields."
          />
        </>
      )}
    </Fold>
  );
}
