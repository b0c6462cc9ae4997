/** The filters of the list of calls, which every change writes into the URL, and what they leave as a CSV file. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../../../sdk/wire/choices.ts';
import type { ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { SaveButton } from '../../parts/saveButton.tsx';
import { Button, cx, Input, Select } from '../../parts/ui.tsx';
import { shorten, zoneAt } from '../../parts/values.tsx';
import { request } from '../../service.ts';
import { useSession } from '../../wallet/session.ts';
import { keysQuery } from '../keys/walletKeys.ts';
import { type ExecutionsSearch, parseExecutionsSearch } from './search.ts';

const STATUSES: Record<ExecutionStatus, string> = {
  pending: 'Not started',
  running: 'In progress',
  completed: 'Completed',
  failed: 'Failed or refunded',
  disputed: 'Disputed',
};

interface FiltersProps {
  search: ExecutionsSearch;
  /** The listed calls: their agents and keys can be chosen even if nothing else names them. */
  found: ExecutionSummary[];
  total: number;
  onChange(search: ExecutionsSearch): void;
}

export function Filters({ search, found, total, onChange }: FiltersProps) {
  const agents = useAgents(search, found);
  const keys = useKeys(search, found);
  const { page: _page, ...filters } = search;
  const set = (change: Record<string, unknown>) => onChange(parseExecutionsSearch({ ...filters, ...change }));
  const isFiltered = Object.keys(filters).length > 0;
  const zone = zoneAt(Date.now());
  // On a phone the choices would push the calls off the screen.
  const [isOpen, setOpen] = useState(isFiltered);
  return (
    <form aria-label="Filters" className="mb-5 grid gap-3" onSubmit={(event) => event.preventDefault()}>
      <div className="grid grid-cols-2 items-end gap-3 md:grid-cols-3 xl:grid-cols-[1fr_1.2fr_1fr_1fr_1fr_auto_auto]">
        <Button className="md:hidden" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters
        </Button>
        <div className={cx('contents', !isOpen && 'max-md:hidden')}>
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
            label={`From (${zone})`}
            max={search.to}
            value={search.from ?? ''}
            onChange={(event) => set({ from: event.target.value })}
          />
          <Input
            type="date"
            label={`To (${zone})`}
            min={search.from}
            value={search.to ?? ''}
            onChange={(event) => set({ to: event.target.value })}
          />
          <Button disabled={!isFiltered} onClick={() => onChange({})}>
            Clear
          </Button>
        </div>
        <SaveButton
          className="max-md:col-start-2 max-md:row-start-1"
          disabled={total === 0}
          work={async () => (await import('./saveCsv.ts')).saveCsv(search)}
          failed="The file could not be made"
        >
          Download CSV
        </SaveButton>
      </div>
    </form>
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
