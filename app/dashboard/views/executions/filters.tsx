/** The filters of the list of calls, which every change writes into the URL. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { EXECUTION_STATUSES, type ExecutionStatus, IDEMPOTENCY_KEY } from '../../../sdk/wire/choices.ts';
import type { ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { Button, cx, Input, Select } from '../../parts/ui.tsx';
import { shorten } from '../../parts/values.tsx';
import { request } from '../../service.ts';
import { useSession } from '../../wallet/session.ts';
import { keysQuery } from '../keys/money.ts';
import { type ExecutionsSearch, parseExecutionsSearch } from './search.ts';

const STATUSES: Record<ExecutionStatus, string> = {
  pending: 'Not started',
  running: 'In progress',
  completed: 'Completed, not in dispute',
  failed: 'Failed or refunded',
  disputed: 'Dispute open or upheld',
};

interface FiltersProps {
  search: ExecutionsSearch;
  /** The listed calls: their agents and keys can be chosen even if nothing else names them. */
  found: ExecutionSummary[];
  /** On a phone, where the choices would push the calls off the screen. */
  isOpen: boolean;
  onChange(search: ExecutionsSearch): void;
}

export function Filters({ search, found, isOpen, onChange }: FiltersProps) {
  const agents = useAgents(search, found);
  const keys = useKeys(search, found);
  const { page: _page, find, ...filters } = search;
  const set = (change: Record<string, unknown>) => onChange(parseExecutionsSearch({ ...filters, ...change }));
  const isFiltered = find !== undefined || Object.keys(filters).length > 0;
  return (
    <form
      aria-label="Filters"
      className={cx(
        'mb-5 grid grid-cols-2 items-start gap-3 md:grid-cols-4 xl:grid-cols-[1.5fr_1.2fr_1fr_1fr_1fr_1fr_auto]',
        !isOpen && 'max-md:hidden',
      )}
      onSubmit={(event) => event.preventDefault()}
    >
      <Find found={find ?? ''} onFind={(text) => onChange(parseExecutionsSearch({ find: text }))} />
      <Choice
        label="Outcome"
        value={search.status}
        choices={EXECUTION_STATUSES.map((status) => [status, STATUSES[status]])}
        onChange={(status) => set({ status })}
      />
      <Choice label="Agent" value={search.agent} choices={agents} onChange={(agent) => set({ agent })} />
      <Choice label="API key" value={search.key} choices={keys} onChange={(key) => set({ key })} />
      <Input
        type="date"
        label="From (UTC)"
        max={search.to}
        value={search.from ?? ''}
        onChange={(event) => set({ from: event.target.value })}
      />
      <Input
        type="date"
        label="To (UTC)"
        min={search.from}
        value={search.to ?? ''}
        onChange={(event) => set({ to: event.target.value })}
      />
      <Button className="mt-6.5" disabled={!isFiltered} onClick={() => onChange({})}>
        Clear
      </Button>
    </form>
  );
}

/** Names one call, so it takes the place of the other filters. Sought once it is whole: with Enter, or on leaving. */
function Find({ found, onFind }: { found: string; onFind(text: string): void }) {
  const [text, setText] = useState(found);
  useEffect(() => setText(found), [found]);
  const sought = text.trim();
  const isValid = sought === '' || IDEMPOTENCY_KEY.test(sought);
  const find = () => {
    if (isValid && sought !== found) onFind(sought);
  };
  return (
    <div className="col-span-2 xl:col-span-1">
      <Input
        type="search"
        label="Call ID or Idempotency-Key"
        spellCheck={false}
        value={text}
        error={isValid ? null : 'It must be 1 to 255 visible ASCII characters.'}
        onChange={({ target }) => setText(target.value)}
        onBlur={find}
        onKeyDown={({ key }) => key === 'Enter' && find()}
      />
    </div>
  );
}

type Choices = (readonly [value: string, name: string])[];

interface ChoiceProps {
  label: string;
  value: string | undefined;
  choices: Choices;
  onChange(value: string): void;
}

function Choice({ label, value = '', choices, onChange }: ChoiceProps) {
  return (
    <Select label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">All</option>
      {choices.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

const byName = (names: ReadonlyMap<string, string>): Choices =>
  [...names].sort(([, one], [, other]) => one.localeCompare(other));

function useAgents(search: ExecutionsSearch, found: ExecutionSummary[]): Choices {
  const { data } = useQuery({
    queryKey: ['agent-names'],
    queryFn: () => request('listAgents', { limit: 100 }),
    staleTime: 60_000,
  });
  const names = new Map<string, string>();
  if (search.agent) names.set(search.agent, shorten(search.agent));
  for (const { agent_id, agent_name } of found) names.set(agent_id, agent_name ?? shorten(agent_id));
  for (const { agent_id, name } of data?.agents ?? []) names.set(agent_id, name);
  return byName(names);
}

/** The wallet's keys, also ended ones, and those of the listed calls that this service did not make. */
function useKeys(search: ExecutionsSearch, found: ExecutionSummary[]): Choices {
  const { wallet } = useSession();
  const { data } = useQuery({ ...keysQuery(wallet ?? ''), enabled: Boolean(wallet), staleTime: 60_000 });
  const names = new Map<string, string>();
  if (search.key) names.set(search.key, shorten(search.key));
  for (const { key_id, key_name } of found) if (key_id) names.set(key_id, key_name ?? shorten(key_id));
  // Anybody can register another key with the same id, but only the real one is ever used.
  for (const { key_id, name, last_used_at } of data ?? [])
    if (last_used_at !== null || !names.has(key_id)) names.set(key_id, name);
  return byName(names);
}
