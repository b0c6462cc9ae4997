/** All changes that need the admin's signature: pause of new executions, settings, treasury, and authorities. */

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SignDialog } from '../../parts/sign.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Badge, Button, Card, Facts, Skeleton } from '../../parts/ui.tsx';
import { Id } from '../../parts/values.tsx';
import { Changes, guardRows } from '../terms/changes.tsx';
import { RelayAuthorities } from '../terms/guardian.tsx';
import { chainConfigQuery, type Settings } from './chainConfig.ts';
import type { Draft } from './draft.ts';
import { SettingsForm } from './settingsForm.tsx';
import { NextAdmin } from './succession.tsx';
import { Treasury } from './treasury.tsx';

export default function SettingsTab({ draft, onDraft }: { draft: Draft | null; onDraft(draft: Draft | null): void }) {
  const { data, error, refetch } = useQuery(chainConfigQuery);
  if (!data)
    return error ? <Trouble error={error} what="The settings" onRetry={refetch} /> : <Skeleton className="h-96" />;
  const { config, limits, mustWait } = data;
  return (
    <div className="grid gap-6">
      {error && <Trouble error={error} what="The settings" onRetry={refetch} />}
      <Opens config={config} />
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
            Removing a relay authority takes effect at once. To add one, run <code>cli admin propose-change</code> where
            its key is.
          </p>
        </div>
        <Facts
          rows={[
            ['Config', <Id key="config" value={config.config} kind="address" />],
            ['USDC mint', <Id key="mint" value={config.usdc_mint} kind="address" />],
            ...guardRows(config),
          ]}
        />
        <RelayAuthorities authorities={config.relay_authorities} />
      </Card>
    </div>
  );
}

/** The emergency stop, first on the page. */
function Opens({ config: { opens_paused: isPaused } }: { config: Settings }) {
  const [isOpen, setOpen] = useState(false);
  const notify = useNotify();
  return (
    <Card className="flex flex-wrap items-center justify-between gap-x-6 gap-y-4">
      <div className="min-w-0">
        <h2 className="flex items-center gap-2 font-semibold">
          New executions
          <Badge tone={isPaused ? 'warn' : 'good'}>{isPaused ? 'Paused' : 'Accepted'}</Badge>
        </h2>
        <p className="mt-1 text-sm text-faint">
          {isPaused
            ? 'Nobody can open an execution. Open ones are settled or refunded as usual.'
            : 'In an emergency, pausing stops every new escrow at once. Open executions are still settled and refunded.'}
        </p>
      </div>
      <Button kind={isPaused ? 'primary' : 'danger'} onClick={() => setOpen(true)}>
        {isPaused ? 'Resume executions' : 'Pause executions'}
      </Button>
      <SignDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={isPaused ? 'Accept new executions again?' : 'Pause all new executions?'}
        about={
          isPaused
            ? 'Callers can pay for executions of every active agent again.'
            : 'Callers of every agent are refused until you resume. Executions in progress end normally.'
        }
        rows={[['New executions', isPaused ? 'paused → accepted' : 'accepted → paused']]}
        confirm={isPaused ? 'Resume' : 'Pause'}
        danger={!isPaused}
        work={({ marketplace, wallet, changeSettings }) =>
          changeSettings(marketplace, wallet, { opensPaused: !isPaused })
        }
        onDone={() => {
          notify(isPaused ? 'New executions are accepted again' : 'New executions are paused');
          setOpen(false);
        }}
      />
    </Card>
  );
}
