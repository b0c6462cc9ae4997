/** A menu under a button. */
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { buttonStyle, cx } from './ui.tsx';

interface MenuProps {
  /** Content of the button. */
  button: ReactNode;
  small?: boolean;
  /** The button's accessible name, if its content has no text. */
  label?: string;
  /** First part of the menu. */
  head?: ReactNode;
  children: ReactNode;
}

export function Menu({ button, small = false, label, head, children }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={buttonStyle('plain', small)} aria-label={label}>
        {button}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          className="z-40 min-w-52 rounded-xl border border-line bg-raised p-1.5 text-sm shadow-lg"
        >
          {head && <DropdownMenu.Label className="px-3 py-2 text-xs text-faint">{head}</DropdownMenu.Label>}
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function MenuItem({ danger, onSelect, children }: { danger?: boolean; onSelect(): void; children: ReactNode }) {
  return (
    <DropdownMenu.Item
      onSelect={onSelect}
      className={cx(
        'cursor-pointer rounded-lg px-3 py-2 outline-none data-highlighted:bg-sunken',
        danger && 'text-bad',
      )}
    >
      {children}
    </DropdownMenu.Item>
  );
}
