/** The example that an agent's page shows, and its withdrawal. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import { focusContent } from '../../parts/focus.ts';
import { useNotify } from '../../parts/toasts.tsx';
import { Button, Note } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { call, exampleQuery, explain, queryClient } from '../../service.ts';

export function ShownExample({ listing: { agent_id, metadata_hash } }: { listing: OwnListing }) {
  const { data: example } = useQuery(exampleQuery(agent_id));
  const notify = useNotify();
  const withdrawal = useMutation({
    mutationFn: () => call('listings.withdrawExample', { metadata_hash }),
    onSuccess: async () => {
      await queryClient.invalidateQueries(exampleQuery(agent_id));
      focusContent();
      notify('Example withdrawn', 'The agent’s page shows no example until you publish another test.');
    },
  });
  if (!example) return null;
  return (
    <div className="mb-6">
      <Note title="The agent’s page shows an example">
        <p className="mb-3">
          “{example.task}”, tested on <Time at={example.tested_at} />.
        </p>
        <Button small busy={withdrawal.isPending} onClick={() => withdrawal.mutate()}>
          Withdraw it
        </Button>
        {withdrawal.error && <p className="mt-3 text-bad">{explain(withdrawal.error)}</p>}
      </Note>
    </div>
  );
}
