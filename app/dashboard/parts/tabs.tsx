/** The line of tabs below a view's head. */
import { Tabs } from 'radix-ui';
import { type ComponentProps, type ReactNode, useRef } from 'react';
import { TAB, TAB_ROW, useSelectedTab } from './tabRow.ts';
import { Badge, cx } from './ui.tsx';

/** The name of a tab with the number of open disputes in it. */
export function OpenIn({ name, count }: { name: string; count: number }) {
  if (count === 0) return name;
  return (
    <>
      {name}{' '}
      <Badge tone="warn">
        {count} <span className="max-sm:sr-only">open</span>
      </Badge>
    </>
  );
}

/** Tabs that fit one row of a phone. */
const ROW_LENGTH = 5;

/** Within `Tabs.Root`; each tab has a value and a label. On a phone more than `ROW_LENGTH` stand in two rows. */
export function TabLine({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly (readonly [value: string, name: ReactNode, rest?: Partial<ComponentProps<typeof Tabs.Trigger>>])[];
}) {
  const list = useRef<HTMLDivElement>(null);
  const isLong = tabs.length > ROW_LENGTH;
  useSelectedTab(list);
  return (
    <Tabs.List ref={list} aria-label={label} className={cx(TAB_ROW, isLong && 'max-sm:grid max-sm:grid-cols-3')}>
      {tabs.map(([value, name, rest]) => (
        <Tabs.Trigger key={value} {...rest} value={value} className={TAB}>
          {name}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}
