/** Tables, which become cards on a phone where that reads better. */
import type { ComponentProps, ReactNode } from 'react';
import { cx } from './ui.tsx';

/** The head of a column of numbers, which are aligned at the right. */
export const AtRight = ({ children }: { children: ReactNode }) => <span className="block text-right">{children}</span>;

export interface TableProps {
  head: ReactNode[];
  /** Rows. On a phone the rows of `Cell`s become cards. */
  children: ReactNode;
  label: string;
  hasCards?: boolean;
  /** With less room between columns, for a table with many. */
  isDense?: boolean;
}

const CARDS =
  'max-sm:block max-sm:[&>thead]:sr-only max-sm:[&>tbody]:block max-sm:[&_tr]:grid max-sm:[&_tr]:gap-2 max-sm:[&_tr]:px-4 max-sm:[&_tr]:py-3.5 max-sm:[&_td]:p-0!';

/** A table that scrolls separately on a phone; `relative`, so that texts for screen readers scroll with it. */
export function Table({ head, children, label, hasCards = false, isDense = false }: TableProps) {
  return (
    <section
      className="relative overflow-x-auto rounded-xl border border-line bg-raised"
      tabIndex={0}
      aria-label={label}
    >
      <table className={cx('w-full text-left text-sm', hasCards && CARDS)}>
        <thead className="border-b border-line text-xs text-faint">
          <tr>
            {head.map((cell, index) => (
              <th
                key={index}
                scope="col"
                className={cx('px-3 py-2.5 font-medium whitespace-nowrap', !isDense && 'sm:px-4')}
              >
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className={cx('divide-y divide-line [&_td]:px-3 [&_td]:py-3', !isDense && 'sm:[&_td]:px-4')}>
          {children}
        </tbody>
      </table>
    </section>
  );
}

interface CellProps extends ComponentProps<'td'> {
  of: string;
  /** A number: at the right, on a phone too. */
  isFigure?: boolean;
}

/** A cell of a table that `hasCards`: on a phone its column's name stands before the value. */
export function Cell({ of: column, isFigure = false, className, ...rest }: CellProps) {
  return (
    <td
      data-column={column}
      className={cx(
        'max-sm:grid max-sm:gap-x-3 max-sm:items-baseline max-sm:*:col-start-2',
        'max-sm:before:text-left max-sm:before:font-normal max-sm:before:whitespace-normal max-sm:before:text-faint max-sm:before:content-[attr(data-column)]',
        isFigure
          ? 'text-right whitespace-nowrap tabular-nums max-sm:grid-cols-[minmax(0,1fr)_auto]'
          : 'max-sm:grid-cols-[6rem_minmax(0,1fr)] max-sm:*:justify-self-start',
        className,
      )}
      {...rest}
    />
  );
}
