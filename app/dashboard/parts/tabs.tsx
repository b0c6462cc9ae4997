/** The line of tabs below a view's head. */
import { Tabs } from 'radix-ui';
import { type ComponentProps, type ReactNode, useRef } from 'react';
import { TAB, TAB_ROW, useSelectedTab } from './tabRow.ts';
import { Badge, type Tone } from './ui.tsx';

/** The name of a tab with the number of open disputes in it. */
export function OpenIn({ name, count, tone = 'warn' }: { name: string; count: number; tone?: Tone }) {
  if (count === 0) return name;
  return (
    <>
      {name}{' '}
      <Badge tone={tone}>
        {count} <span className="max-sm:sr-only">open</span>
      </Badge>
    </>
  );
}

/** Within `Tabs.Root`; each tab has a value and a label. On a phone one row scrolls, first to the selected tab. */
export function TabLine({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly (readonly [value: string, name: ReactNode, rest?: Partial<ComponentProps<typeof Tabs.Trigger>>])[];
}) {
  const list = useRef<HTMLDivElement>(null);
  useSelectedTab(list);
  return (
    <Tabs.List ref={list} aria-label={label} className={TAB_ROW}>
      {tabs.map(([value, name, rest]) => (
        <Tabs.Trigger key={value} {...rest} value={value} className={TAB}>
          {name}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}
