/** The line of tabs below a view's head. */
import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';

/** Within `Tabs.Root`; each tab has a value and a label. On a phone the tabs wrap, so that none is hidden. */
export function TabLine({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly (readonly [value: string, name: ReactNode])[];
}) {
  return (
    <Tabs.List aria-label={label} className="mb-6 flex flex-wrap gap-x-1 border-b border-line">
      {tabs.map(([value, name]) => (
        <Tabs.Trigger
          key={value}
          value={value}
          className="-mb-px min-h-10 rounded-t-lg border-b-2 border-transparent px-3 text-sm font-medium whitespace-nowrap text-faint hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
        >
          {name}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}
