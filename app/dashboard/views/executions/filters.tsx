/** The filters of the list of executions; every change updates the URL. */
import { useQuery } from '@tanstack/react-query';
import { EXECUTION_STATUSES } from '../../../sdk/wire/choices.ts';
import type { ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { Button, Input, Select } from '../../parts/ui.tsx';
import { shorten } from '../../parts/values.tsx';
import { request } from '../../service.ts';
import { type ExecutionsSearch, parseExecutionsSearch } from './search.ts';

interface FiltersProps {
  search: ExecutionsSearch;
  /** The listed executions: their agents can be chosen even if the catalogue no longer has them. */
  found: ExecutionSummary[];
  onChange(search: ExecutionsSearch): void;
}

export function Filters({ search, found, onChange }: FiltersProps) {
  const { data } = useQuery({
    queryKey: ['agent-names'],
    queryFn: () => request('listAgents', { limit: 100 }),
    staleTime: 60_000,
  });
  const names = new Map<string, string>();
  if (search.agent) names.set(search.agent, shorten(search.agent));
  for (const { agent_id, agent_name } of found) names.set(agent_id, agent_name ?? shorten(agent_id));
  for (const { agent_id, name } of data?.agents ?? []) names.set(agent_id, name);
  const agents = [...names].sort(([, one], [, other]) => one.localeCompare(other));
  const set = (change: Record<string, unknown>) => {
    const { page: _page, ...filters } = search;
    onChange(parseExecutionsSearch({ ...filters, ...change }));
  };
  const isFiltered = Boolean(search.status || search.agent || search.from || search.to);
  return (
    <form
      aria-label="Filters"
      className="mb-5 grid grid-cols-2 items-end gap-3 lg:grid-cols-[1fr_1.5fr_1fr_1fr_auto]"
      onSubmit={(event) => event.preventDefault()}
    >
      <Select label="Status" value={search.status ?? ''} onChange={(event) => set({ status: event.target.value })}>
        <option value="">All</option>
        {EXECUTION_STATUSES.map((status) => (
          <option key={status} value={status}>
            {status}
          </option>
        ))}
      </Select>
      <Select label="Agent" value={search.agent ?? ''} onChange={(event) => set({ agent: event.target.value })}>
        <option value="">All</option>
        {agents.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <Input
        type="date"
        label="From"
        max={search.to}
        value={search.from ?? ''}
        onChange={(event) => set({ from: event.target.value })}
      />
      <Input
        type="date"
        label="To"
        min={search.from}
        value={search.to ?? ''}
        onChange={(event) => set({ to: event.target.value })}
      />
      <Button className="max-lg:col-span-2" disabled={!isFiltered} onClick={() => onChange({})}>
        Clear
      </Button>
    </form>
  );
}
