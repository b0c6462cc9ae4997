/** One of several choices, of which one is taken: its title, and what it means below. Choices of a group share a `name`. */
import { type ReactNode, useId } from 'react';
import { cx } from './ui.tsx';

interface ChoiceProps {
  name: string;
  title: string;
  isChosen: boolean;
  onChoose(): void;
  children?: ReactNode;
}

export function Choice({ name, title, isChosen, onChoose, children }: ChoiceProps) {
  const id = useId();
  return (
    <label
      className={cx(
        'grid cursor-pointer grid-cols-[auto_minmax(0,1fr)] content-start gap-x-2.5 gap-y-1 rounded-xl border px-3 py-2 text-sm',
        isChosen ? 'note border-accent bg-accent-soft' : 'border-line bg-raised hover:border-strong',
      )}
    >
      <input
        type="radio"
        name={name}
        aria-label={title}
        aria-describedby={children ? id : undefined}
        className="mt-0.5 size-4 shrink-0 accent-accent"
        checked={isChosen}
        onChange={onChoose}
      />
      <span className="font-medium">{title}</span>
      {children && (
        <span id={id} className="col-span-2 text-faint">
          {children}
        </span>
      )}
    </label>
  );
}
