/** All changes that need the admin's signature: pause of new executions, settings, treasury, and authorities. */

import { useQuery } from '@tanstack/react-query';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, Facts, Skeleton } from '../../parts/ui.tsx';
import { formatSpan, Id } from '../../parts/values.tsx';
import { Changes } from '../terms/changes.tsx';
import { RelayAuthorities } from '../terms/guardian.tsx';
import { Pause } from '../terms/pause.tsx';
import { chainConfigQuery } from './chainConfig.ts';
import type { Draft } from './draft.ts';
import { SettingsForm } from './settingsForm.tsx';
import { stateQuery } from './state.tsx';
import { NextAdmin } from './succession.tsx';
import { Treasury } from './treasury.tsx';

export default function SettingsTab({ draft, onDraft }: { draft: Draft | null; onDraft(draft: Draft | null): void }) {
  const { data, error, refetch } = useQuery(chainConfigQuery);
  const { data: state } = useQuery(stateQuery);
  if (!data)
    return error ? <Trouble error={error} what="The settings" onRetry={refetch} /> : <Skeleton className="h-96" />;
  const { config, limits, mustWait } = data;
  return (
    <div className="grid gap-6">
      {error && <Trouble error={error} what="The settings" onRetry={refetch} />}
      <Card>
        <Pause of="admin" config={config} />
      </Card>
      <SettingsForm config={config} limits={limits} mustWait={mustWait} draft={draft} onDraft={onDraft} />
      <Changes />
      <div className="grid gap-6 lg:grid-cols-2">
        <Treasury config={config} />
        <NextAdmin config={config} />
      </div>
      <Card className="grid gap-4">
        <div>
          <h2 className="font-semibold">On the chain</h2>
          <p className="mt-1 text-sm text-faint">
            Removing a relay authority takes effect at once and cancels all pending changes of settings. To add one, run{' '}
            <code>cli admin propose-change</code> where its key is.
          </p>
        </div>
        <Facts
          rows={[
            ['Config', <Id key="config" value={config.config} kind="address" />],
            ['USDC mint', <Id key="mint" value={config.usdc_mint} kind="address" />],
            ['Guardian', config.guardian ? <Id key="guardian" value={config.guardian} kind="address" /> : 'nobody'],
            ['Delay of changes', config.admin_delay_seconds === 0 ? 'none' : formatSpan(config.admin_delay_seconds)],
          ]}
        />
        <RelayAuthorities config={config} ours={state?.authorities.find(({ is_ours }) => is_ours)?.address} />
      </Card>
    </div>
  );
}
