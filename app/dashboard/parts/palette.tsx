/** The search over agents, calls and pages, for the keyboard: type, move by the arrow keys, press Enter. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { ADDRESS, EXECUTION_ID } from '../../sdk/wire/choices.ts';
import { outcomeOf } from '../views/executions/outcome.ts';
import { useSession } from '../wallet/session.ts';
import { useShared } from '../wallet/wallets.ts';
import { ForTests, isForTests } from './badges.tsx';
import { useOpener } from './dialog.tsx';
import { foundQuery, includes } from './found.ts';
import { CrossIcon, SearchIcon } from './icons.tsx';
import { ADMIN, isReloaded, OWN_PLACES, PLACES, type Place, TERMS } from './places.ts';
import { buttonStyle, cx } from './ui.tsx';
import { formatAmount, shorten, Time } from './values.tsx';

const NOTHING = { agents: [], calls: [] };

export default function Palette({ onClose }: { onClose(): void }) {
  const opener = useOpener();
  const [text, setText] = useState('');
  const sought = text.trim();

  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          onOpenAutoFocus={opener.remember}
          onCloseAutoFocus={opener.focus}
          className="fixed inset-x-3 top-3 z-50 mx-auto max-w-xl overflow-hidden rounded-2xl border border-line bg-raised shadow-lg sm:top-[12vh]"
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Dialog.Description className="sr-only">Type, choose with the arrow keys, press Enter.</Dialog.Description>
          <Command label="Search" shouldFilter={false} loop>
            <div className="flex items-center gap-3 border-b border-line px-4 text-faint">
              <SearchIcon />
              <Command.Input
                value={text}
                onValueChange={setText}
                placeholder="Agent, page or call"
                className="min-h-14 w-full bg-transparent text-base text-ink outline-none"
              />
              <Dialog.Close aria-label="Close the search" className={cx(buttonStyle('quiet', true), 'sm:hidden')}>
                <CrossIcon />
              </Dialog.Close>
            </div>
            {/* What goes on below fades out; the padding keeps the last row above the fade. */}
            <Command.List className="max-h-[min(28rem,70dvh)] scroll-pb-8 overflow-y-auto overscroll-contain mask-b-from-[calc(100%-2rem)] p-2 pb-8 **:[[cmdk-group-heading]]:px-3 **:[[cmdk-group-heading]]:py-2 **:[[cmdk-group-heading]]:text-xs **:[[cmdk-group-heading]]:font-medium **:[[cmdk-group-heading]]:text-faint">
              <Found sought={sought} onClose={onClose} />
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface FoundProps {
  sought: string;
  onClose(): void;
}

function Found({ sought, onClose }: FoundProps) {
  const navigate = useNavigate();
  const { wallet, isAdmin } = useSession();
  const isShared = useShared();
  const id = sought.toLowerCase();
  const isId = EXECUTION_ID.test(id);
  const { data, isFetching } = useQuery({
    ...foundQuery(sought, wallet),
    enabled: sought !== '',
    placeholderData: keepPreviousData,
  });
  const { agents, calls } = sought === '' || !data ? NOTHING : data;
  const named = calls.find(({ agent_name }) => includes(agent_name, sought));
  const places = [...PLACES, ...(wallet ? OWN_PLACES : []), TERMS, ...(isAdmin ? [ADMIN] : [])].filter(
    ({ title, words }) => !isId && id.split(/\s+/).every((word) => includes(`${title} ${words}`, word)),
  );
  const isFound = [places, agents, calls].some(({ length }) => length > 0) || ADDRESS.test(sought);
  // Closes the search; the navigation goes on.
  const go = (_leaving: Promise<void>) => onClose();
  const open = (executionId: string) => go(navigate({ to: '/executions/$executionId', params: { executionId } }));
  return (
    <>
      {isId && (
        <Command.Group heading="Call">
          {wallet && (
            <Item value="call" onSelect={() => open(id)} about="If this wallet paid for it">
              Open this call
            </Item>
          )}
          <Item value="verify" onSelect={() => go(navigate({ to: '/verify', search: { id }, reloadDocument: true }))}>
            Verify this call
          </Item>
        </Command.Group>
      )}
      {places.length > 0 && (
        <Command.Group heading="Pages">
          {places.map((place: Place) => (
            <Item
              key={place.to}
              value={place.to}
              onSelect={() => go(navigate({ to: place.to, reloadDocument: isReloaded(place) }))}
            >
              {place.title}
            </Item>
          ))}
        </Command.Group>
      )}
      {(agents.length > 0 || ADDRESS.test(sought)) && (
        <Command.Group heading="Agents">
          {agents.map((agent) => (
            <Item
              key={agent.agent_id}
              value={agent.agent_id}
              onSelect={() => go(navigate({ to: '/agents/$agentId', params: { agentId: agent.agent_id } }))}
              about={formatAmount(agent.price_per_call_usdc)}
              line={agent.tagline}
            >
              {agent.name} {isForTests(agent) && <ForTests />}
            </Item>
          ))}
          {ADDRESS.test(sought) && (
            <Item
              value="address"
              onSelect={() => go(navigate({ to: '/agents/$agentId', params: { agentId: sought } }))}
              about={shorten(sought)}
            >
              Open the agent with this address
            </Item>
          )}
        </Command.Group>
      )}
      {calls.length > 0 && (
        <Command.Group heading={isShared ? 'Latest calls of this shared wallet' : 'Your latest calls'}>
          {calls.map((call) => (
            <Item
              key={call.execution_id}
              value={call.execution_id}
              onSelect={() => open(call.execution_id)}
              about={
                <>
                  <span className="block">{outcomeOf(call).words}</span>
                  <code className="font-mono">{shorten(call.execution_id)}</code>
                </>
              }
              line={
                <>
                  {call.agent_name ?? shorten(call.agent_id)} · <Time at={call.initiated_at} hasSeconds />
                </>
              }
            >
              {call.task ?? 'Task no longer kept'}
            </Item>
          ))}
          {named && (
            <Item value="calls" onSelect={() => go(navigate({ to: '/executions', search: { agent: named.agent_id } }))}>
              All calls of {named.agent_name} →
            </Item>
          )}
        </Command.Group>
      )}
      {/* Last, and after the others are known, so that Enter opens one of those. */}
      {sought !== '' && !isId && !isFetching && (
        <Command.Group heading={isFound ? 'Docs' : `Nothing was found for “${sought}”.`}>
          <Item
            value="docs"
            onSelect={() => go(navigate({ href: `/docs?${new URLSearchParams({ q: sought })}`, reloadDocument: true }))}
          >
            Search the docs for “{sought}”
          </Item>
        </Command.Group>
      )}
      <Command.Empty className="px-3 py-8 text-center text-sm text-faint">Searching …</Command.Empty>
    </>
  );
}

interface ItemProps {
  value: string;
  onSelect(): void;
  about?: ReactNode;
  /** A second line. */
  line?: ReactNode;
  children: ReactNode;
}

function Item({ value, onSelect, about, line, children }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex min-h-10 cursor-pointer items-center justify-between gap-4 rounded-lg px-3 py-1.5 text-sm data-[selected=true]:bg-chip"
    >
      <span className="min-w-0">
        <span className="line-clamp-1 font-medium">{children}</span>
        {line && <span className="block truncate text-xs text-faint">{line}</span>}
      </span>
      {about && <span className="shrink-0 text-right text-xs text-faint">{about}</span>}
    </Command.Item>
  );
}
