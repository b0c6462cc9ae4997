/** A text of any length as it was sent, in a box that scrolls. */
import { cx } from './ui.tsx';

export function TextBox({ label, text, isWrong = false }: { label: string; text: string; isWrong?: boolean }) {
  return (
    <section
      tabIndex={0}
      aria-label={label}
      className={cx('max-h-96 overflow-auto rounded-lg p-3', isWrong ? 'border border-bad bg-bad-soft' : 'bg-sunken')}
    >
      <pre className="font-mono text-[0.8125rem] whitespace-pre-wrap">{text}</pre>
    </section>
  );
}
