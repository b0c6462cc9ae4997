/** The line of tabs below a view's head. */
import { Tabs } from 'radix-ui';
import { type ReactNode, useEffect, useRef } from 'react';

/** Within `Tabs.Root`; each tab has a value and a label. On a phone the one row scrolls, first to the selected tab. */
export function TabLine({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly (readonly [value: string, name: ReactNode])[];
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const row = list.current;
    const selected = row?.querySelector<HTMLElement>('[data-state="active"]');
    if (row && selected) row.scrollLeft = selected.offsetLeft - (row.clientWidth - selected.offsetWidth) / 2;
  }, []);
  return (
    <Tabs.List
      ref={list}
      aria-label={label}
      className="relative mb-6 flex sm:gap-x-1 overflow-x-auto overflow-y-hidden shadow-[inset_0_-1px_var(--line)] [scrollbar-width:none]"
    >
      {tabs.map(([value, name]) => (
        <Tabs.Trigger
          key={value}
          value={value}
          className="min-h-10 shrink-0 rounded-t-lg border-b-2 border-transparent px-2 text-sm sm:px-3 font-medium whitespace-nowrap text-faint hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
        >
          {name}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}
