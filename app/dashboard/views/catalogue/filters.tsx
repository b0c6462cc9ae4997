/** The catalogue's filters. Each change updates the URL, so that it can be shared and undone with the back button. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import { type AGENT_SORTS, STANDARD_TAGS } from '../../../sdk/wire/choices.ts';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { isForTests } from '../../parts/badges.tsx';
import { SearchIcon } from '../../parts/icons.tsx';
import { Button, Checkbox, cx, Select } from '../../parts/ui.tsx';
import { formatCount } from '../../parts/values.tsx';
import { agentsQuery } from '../../service.ts';
import { type CatalogueSearch, filtersOf, PAGE_SORT, tagsOf } from '../catalogueSearch.ts';

const DEBOUNCE_MS = 250;
/** Fewer agents need no choices at first sight. */
const FEW_AGENTS = 12;
const MOST_TAGS = 24;
const TAGS_MS = 5 * 60_000;

const SORTS: Record<(typeof AGENT_SORTS)[number], string> = {
  best: 'Best first',
  total_executions: 'Most called',
  success_rate: 'Most successful',
  price_asc: 'Cheapest',
  price_desc: 'Most expensive',
  created_at: 'Newest',
};
const SORT_NAMES = Object.keys(SORTS) as (keyof typeof SORTS)[];
const RATES = [0.8, 0.9, 0.95, 0.99];
const CALLS = [1, 10, 100, 1_000];

export type Change = Partial<{ [Name in keyof CatalogueSearch]: CatalogueSearch[Name] | undefined }>;

export function Filters({ search, onChange }: { search: CatalogueSearch; onChange(change: Change): void }) {
  const { sort, success, calls, verified } = search;
  const [isOpen, setOpen] = useState([sort, success, calls, verified].some((choice) => choice !== undefined));
  const all = useAll();
  const isMany = all !== undefined && (all === null || all.length >= FEW_AGENTS);
  // On a phone the choices would push the first agent off the screen.
  const onPhone = !isOpen && 'max-sm:hidden';
  const isTagged = tagsOf(search).length > 0;
  return (
    <search className="grid gap-3 lg:flex lg:flex-wrap lg:items-center">
      <div className="flex gap-2 lg:min-w-72 lg:flex-1">
        <SearchField value={search.q ?? ''} onChange={(q) => onChange({ q: q || undefined })} />
        <Button className={cx(isMany && 'sm:hidden')} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters
        </Button>
      </div>
      {(isOpen || isMany) && (
        <>
          {/* The choices say what they are. */}
          <div className={cx('grid grid-cols-2 gap-3 sm:grid-cols-3 lg:flex [&_label]:sr-only', onPhone)}>
            <Select
              label="Sort by"
              value={search.sort ?? PAGE_SORT}
              onChange={({ target }) =>
                onChange({ sort: SORT_NAMES.find((name) => name === target.value && name !== PAGE_SORT) })
              }
            >
              {SORT_NAMES.map((sort) => (
                <option key={sort} value={sort}>
                  {SORTS[sort]}
                </option>
              ))}
            </Select>
            <Select
              label="Success rate"
              value={search.success ?? ''}
              onChange={({ target }) => onChange({ success: Number(target.value) || undefined })}
            >
              <option value="">Any success rate</option>
              {withOwn(RATES, search.success).map((rate) => (
                <option key={rate} value={rate}>
                  {Math.round(rate * 1_000) / 10} % or more
                </option>
              ))}
            </Select>
            <Select
              label="Calls so far"
              value={search.calls ?? ''}
              onChange={({ target }) => onChange({ calls: Number(target.value) || undefined })}
            >
              <option value="">Any number of calls</option>
              {withOwn(CALLS, search.calls).map((calls) => (
                <option key={calls} value={calls}>
                  {formatCount(calls)} or more
                </option>
              ))}
            </Select>
          </div>
          <Checkbox
            className={cx('py-1 whitespace-nowrap', onPhone)}
            label="Verified wallets only"
            checked={search.verified ?? false}
            onChange={({ target }) => onChange({ verified: target.checked || undefined })}
          />
        </>
      )}
      <div className={cx('min-w-0', !isTagged && onPhone)}>
        <TagToggles search={search} all={all} onChange={onChange} />
      </div>
    </search>
  );
}

/** All agents but those for testing; null if they are more than one page, undefined until they are known. */
function useAll(): AgentSummary[] | null | undefined {
  // The catalogue's own first request.
  const { data } = useQuery({ ...agentsQuery(filtersOf({})), staleTime: TAGS_MS });
  if (!data) return undefined;
  return data.total > data.agents.length ? null : data.agents.filter((agent) => !isForTests(agent));
}

/** The choices, plus the URL's value if it is not one of them. */
const withOwn = (choices: number[], own: number | undefined): number[] =>
  own === undefined || choices.includes(own) ? choices : [...choices, own].sort((a, b) => a - b);

/** Updates the URL when typing pauses, and follows the URL if something else changes it. */
function SearchField({ value, onChange }: { value: string; onChange(value: string): void }) {
  const id = useId();
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  if (value !== sent) {
    setSent(value);
    setText(value);
  }
  useEffect(() => {
    if (text.trim() === sent) return;
    const timer = setTimeout(() => {
      setSent(text.trim());
      onChange(text.trim());
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, sent, onChange]);
  return (
    <div className="relative flex-1">
      <label htmlFor={id} className="sr-only">
        Search agents
      </label>
      <SearchIcon className="pointer-events-none absolute top-1/2 left-4 -translate-y-1/2 text-faint" />
      <input
        id={id}
        type="search"
        value={text}
        maxLength={100}
        onChange={({ target }) => setText(target.value)}
        placeholder="Search agents"
        className="min-h-10 w-full rounded-lg border border-strong bg-raised pr-4 pl-11"
      />
    </div>
  );
}

interface TagTogglesProps {
  search: CatalogueSearch;
  all: AgentSummary[] | null | undefined;
  onChange(change: Change): void;
}

function TagToggles({ search, all, onChange }: TagTogglesProps) {
  const chosen = tagsOf(search);
  // Of few agents only the tags that they have.
  const offered = all === null ? STANDARD_TAGS : mostCommon(all?.flatMap(({ tags }) => tags) ?? []);
  const toggle = (tag: string) => {
    const next = chosen.includes(tag) ? chosen.filter((name) => name !== tag) : [...chosen, tag];
    onChange({ tags: next.join(',') || undefined });
  };
  return (
    <fieldset className="min-w-0">
      <legend className="sr-only">Tags; an agent must have all chosen tags</legend>
      <div className={ROW}>
        {[...new Set([...offered, ...chosen])].map((tag) => (
          <Toggle key={tag} tag={tag} isOn={chosen.includes(tag)} onToggle={toggle} />
        ))}
      </div>
    </fieldset>
  );
}

/** One scrolling line on a phone, several lines elsewhere. */
const ROW = '-mx-4 flex min-h-9 gap-2 overflow-x-auto px-4 py-0.5 sm:mx-0 sm:flex-wrap sm:overflow-visible sm:px-0';

function mostCommon(tags: string[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([tag]) => tag)
    .slice(0, MOST_TAGS);
}

function Toggle({ tag, isOn, onToggle }: { tag: string; isOn: boolean; onToggle(tag: string): void }) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => onToggle(tag)}
      className={cx(
        'min-h-8 shrink-0 rounded-full border px-3 text-sm transition-colors',
        isOn
          ? 'border-accent bg-accent-soft font-medium text-accent'
          : 'border-strong/45 bg-raised text-faint hover:border-strong hover:text-ink',
      )}
    >
      {tag}
    </button>
  );
}
