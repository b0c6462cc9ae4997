/** The admin's view: state, disputes, creators and settings. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Tabs } from 'radix-ui';
import { lazy, Suspense, useState } from 'react';
import { SignedIn } from '../parts/connect.tsx';
import { AskBeforeLeaving } from '../parts/leave.tsx';
import { OpenIn, TabLine } from '../parts/tabs.tsx';
import { PageHead, Skeleton } from '../parts/ui.tsx';
import { useOpenDisputes } from '../parts/waiting.tsx';
import { useSession } from '../wallet/session.ts';
import { CreatorsTab } from './admin/creators.tsx';
import { DisputesTab } from './admin/disputes.tsx';
import type { Draft } from './admin/draft.ts';
import { LogTab } from './admin/log.tsx';
import { ADMIN_TABS, type AdminTab } from './admin/search.ts';
import { StateTab } from './admin/state.tsx';

// They read the chain, which needs large modules.
const SettingsTab = lazy(() => import('./admin/settings.tsx'));
const Succession = lazy(() => import('./admin/succession.tsx'));

const TAB_WORDS: Record<AdminTab, string> = {
  state: 'State',
  disputes: 'Disputes',
  creators: 'Creators',
  settings: 'Settings',
  log: 'Log',
};

export default function Admin() {
  return (
    <>
      <PageHead title="Admin" />
      <SignedIn why="Only the marketplace’s admin can see and change this.">
        <Inside />
      </SignedIn>
    </>
  );
}

/** A proposed next admin is not admin yet, and can only accept here. */
function Inside() {
  const { isAdmin } = useSession();
  const { tab = 'state' } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const { queue } = useOpenDisputes();
  // Kept here, so that typed settings survive a switch of tabs.
  const [draft, setDraft] = useState<Draft | null>(null);
  if (!isAdmin)
    return (
      <Suspense fallback={<Skeleton className="h-48" />}>
        <Succession />
      </Suspense>
    );
  return (
    <Tabs.Root
      value={tab}
      activationMode="manual"
      onValueChange={(value) => void navigate({ search: { ...(value !== 'state' && { tab: value as AdminTab }) } })}
    >
      <AskBeforeLeaving when={draft !== null} title="Leave the settings unsigned?">
        Settings that you have changed are not signed yet.
      </AskBeforeLeaving>
      <TabLine
        label="Admin"
        tabs={ADMIN_TABS.map((name) => [
          name,
          name === 'disputes' ? <OpenIn key={name} name={TAB_WORDS.disputes} count={queue} /> : TAB_WORDS[name],
        ])}
      />
      <Tabs.Content value="state">
        <StateTab />
      </Tabs.Content>
      <Tabs.Content value="disputes">
        <DisputesTab />
      </Tabs.Content>
      <Tabs.Content value="creators">
        <CreatorsTab />
      </Tabs.Content>
      <Tabs.Content value="settings">
        <Suspense fallback={<Skeleton className="h-96" />}>
          <SettingsTab draft={draft} onDraft={setDraft} />
        </Suspense>
      </Tabs.Content>
      <Tabs.Content value="log">
        <LogTab />
      </Tabs.Content>
    </Tabs.Root>
  );
}
