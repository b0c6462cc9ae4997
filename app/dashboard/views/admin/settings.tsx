/** All changes that need the admin's signature: pause of new executions, settings, treasury, and authorities. */

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Unread } from '../../parts/trouble.tsx';
import { Card, Facts } from '../../parts/ui.tsx';
import { Copy, formatSpan, Id } from '../../parts/values.tsx';
import { stateQuery } from '../../parts/waiting.tsx';
import { Changes } from '../terms/changes.tsx';
import { RelayAuthorities } from '../terms/guardian.tsx';
import { Pause } from '../terms/pause.tsx';
import { chainConfigQuery } from './chainConfig.ts';
import type { Draft } from './draft.ts';
import { SettingsForm } from './settingsForm.tsx';
import { NextAdmin } from './succession.tsx';
import { Treasury } from './treasury.tsx';

/** A setting that protects the marketplace from its admin's key: what is lost without it, and the command that sets it. */
function Protection({ lost, command, children }: { lost: string; command: string; children: ReactNode }) {
  return (
    <span className="grid justify-items-start gap-1">
      <span className="font-medium">{children}</span>
      <span className="text-faint">{lost}</span>
      <Command text={command} />
    </span>
  );
}

const Command = ({ text }: { text: string }) => (
  <span className="inline-flex max-w-full items-center gap-1">
    <code className="font-mono text-[0.8125rem] text-ink">{text}</code>
    <Copy text={text} bare />
  </span>
);

export default function SettingsTab({ draft, onDraft }: { draft: Draft | null; onDraft(draft: Draft | null): void }) {
  const query = useQuery(chainConfigQuery);
  const { data: state } = useQuery(stateQuery);
  const unread = <Unread query={query} what="The settings" className="h-96" />;
  if (!query.data) return unread;
  const { config, limits, mustWait } = query.data;
  return (
    <div className="grid gap-6">
      {unread}
      <Card>
        <Pause of="admin" config={config} />
      </Card>
      <Card className="grid gap-4">
        <div>
          <h2 className="font-semibold">Guardian and delay</h2>
          <p className="mt-1 text-sm text-faint">They protect everything below from a thief of your key.</p>
        </div>
        <Facts
          rows={[
            [
              'Guardian',
              <Protection
                key="guardian"
                lost="Without one, only you can pause calls or cancel a proposed admin, and nobody can stop a withdrawal from the treasury."
                command="npm run cli -- admin propose-change --guardian ADDRESS --keypair ADMIN.json"
              >
                {config.guardian ? <Id value={config.guardian} kind="address" /> : 'No guardian'}
              </Protection>,
            ],
            [
              'Delay of changes',
              <Protection
                key="delay"
                lost="Without one, a stolen key changes fees, limits and authorities at once, before anybody can object. It can only be raised."
                command={`npm run cli -- admin ${config.admin_delay_seconds === 0 ? 'update-config' : 'propose-change'} --admin-delay-seconds SECONDS --keypair ADMIN.json`}
              >
                {config.admin_delay_seconds === 0 ? 'No delay' : formatSpan(config.admin_delay_seconds)}
              </Protection>,
            ],
          ]}
        />
      </Card>
      <SettingsForm config={config} limits={limits} mustWait={mustWait} draft={draft} onDraft={onDraft} />
      <Changes />
      <div className="grid gap-6 lg:grid-cols-2">
        <Treasury config={config} />
        <NextAdmin config={config} />
      </div>
      <Card className="grid gap-4">
        <h2 className="font-semibold">Relays and addresses</h2>
        <RelayAuthorities config={config} ours={state?.authorities.find(({ is_ours }) => is_ours)?.address}>
          Removing one takes effect at once and cancels every proposed change of settings. To add one, run{' '}
          <Command text="npm run cli -- admin propose-change --add-relay-authority ADDRESS --keypair ADMIN.json" />
        </RelayAuthorities>
        <div className="grid gap-2">
          <h3 className="text-sm font-medium">Addresses</h3>
          <Facts
            rows={[
              ['Config', <Id key="config" value={config.config} kind="address" />],
              ['USDC mint', <Id key="mint" value={config.usdc_mint} kind="address" />],
            ]}
          />
        </div>
      </Card>
    </div>
  );
}
