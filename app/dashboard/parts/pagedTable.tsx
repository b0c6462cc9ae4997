/** A table in pages, and what stands in its place: grey bars, the trouble of reading it, or why it is empty. */
import type { ReactNode } from 'react';
import { Pages, type PagesProps } from './pages.tsx';
import { Table, type TableProps } from './table.tsx';
import { Unread, type UnreadProps } from './trouble.tsx';

interface PagedTableProps extends TableProps, Omit<UnreadProps, 'query'>, Omit<PagesProps, 'total'> {
  query: UnreadProps['query'] & { data: { total: number } | undefined };
  /** Shown if the list has nothing. */
  empty: ReactNode;
}

export function PagedTable({ query, what, className, empty, ...rest }: PagedTableProps) {
  const total = query.data?.total;
  return (
    <>
      <Unread query={query} what={what} className={className} />
      {total === 0 && empty}
      {Boolean(total) && (
        <div>
          <Table {...rest} />
          <Pages {...rest} total={total!} />
        </div>
      )}
    </>
  );
}
