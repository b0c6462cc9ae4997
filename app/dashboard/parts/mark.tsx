/** The mark in front of a check. */
import { Icon } from './icons.tsx';
import { cx } from './ui.tsx';

const MARKS = {
  passed: ['bg-good-soft text-good', 'm4 8.5 2.8 2.6L12 5.5'],
  failed: ['bg-bad-soft text-bad', 'm5 5 6 6m0-6-6 6'],
  not_checked: ['bg-sunken text-faint', 'M5 8h6'],
} as const;

/** `word` is the text for screen readers, if no text beside it has the same meaning. */
export function Mark({ state, word }: { state: keyof typeof MARKS; word?: string }) {
  const [look, path] = MARKS[state];
  return (
    <span className={cx('grid size-6 shrink-0 place-items-center rounded-full', look)}>
      <Icon strokeWidth="1.75">
        <path d={path} />
      </Icon>
      {word && <span className="sr-only">{word}: </span>}
    </span>
  );
}
