/** A menu under a button. */
import { Link } from '@tanstack/react-router';
import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useId } from 'react';
import { isReloaded, type Place } from './places.ts';
import { buttonStyle, cx } from './ui.tsx';
import { WaitingAt } from './waiting.tsx';

interface MenuProps {
  /** Content of the button. */
  button: ReactNode;
  small?: boolean;
  /** The button's accessible name, if its content has no text. */
  label?: string;
  className?: string;
  /** First part of the menu, which on a phone is as wide as the window. */
  head?: ReactNode;
  children: ReactNode;
}

export function Menu({ button, small = false, label, className, head, children }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={cx(buttonStyle('plain', small), className)} aria-label={label}>
        {button}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className={cx(
            'z-40 max-h-(--radix-dropdown-menu-content-available-height) min-w-52 overflow-y-auto rounded-xl border border-line bg-raised p-1.5 text-sm shadow-lg',
            Boolean(head) && 'max-sm:w-(--radix-dropdown-menu-content-available-width)',
          )}
        >
          {head && <DropdownMenu.Label className="px-3 py-2 text-xs text-faint">{head}</DropdownMenu.Label>}
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

const ITEM =
  'flex cursor-pointer items-center justify-between gap-4 rounded-lg px-3 py-2 outline-none data-highlighted:bg-sunken';

export function MenuItem({ onSelect, children }: { onSelect(): void; children: ReactNode }) {
  return (
    <DropdownMenu.Item onSelect={onSelect} className={ITEM}>
      {children}
    </DropdownMenu.Item>
  );
}

export function MenuLink({ place }: { place: Place }) {
  return (
    <DropdownMenu.Item asChild>
      <Link to={place.to} reloadDocument={isReloaded(place)} className={ITEM}>
        {place.title}
        <WaitingAt to={place.to} />
      </Link>
    </DropdownMenu.Item>
  );
}

/** Places under a name. */
export function MenuGroup({ name, children }: { name: string; children: ReactNode }) {
  const id = useId();
  return (
    <DropdownMenu.Group aria-labelledby={id}>
      <DropdownMenu.Label id={id} className="px-3 pt-1 pb-0.5 text-xs text-faint">
        {name}
      </DropdownMenu.Label>
      {children}
    </DropdownMenu.Group>
  );
}

export const MenuLine = () => <DropdownMenu.Separator className="mx-3 my-1.5 h-px bg-line" />;
