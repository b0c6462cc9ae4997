/** A text of any length as it was sent, in a box that scrolls. */
import { cx } from './ui.tsx';

/** Signs of text whose spaces matter: indented lines, columns, code. */
const LAID_OUT = /^(?:\t| {2,})\S|\S(?: {3,}|\t)\S|[{};]$/m;

interface TextBoxProps {
  label: string;
  text: string;
  /** Shown letter for letter, as code is. */
  isExact?: boolean;
  /** As high as its text. */
  isWhole?: boolean;
}

/** In the font for reading, unless its spaces matter. */
export function TextBox({ label, text, isExact = false, isWhole = false }: TextBoxProps) {
  const isMono = isExact || LAID_OUT.test(text);
  return (
    <section
      tabIndex={0}
      aria-label={label}
      className={cx('overflow-auto rounded-xl border border-line bg-sunken px-4 py-3', !isWhole && 'max-h-112')}
    >
      <p className={cx('text-sm whitespace-pre-wrap', isMono ? 'font-mono text-[0.8125rem]' : 'max-w-prose')}>{text}</p>
    </section>
  );
}
