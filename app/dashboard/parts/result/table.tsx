/** A result as a table: sort by a click on a column, filter by a word. */
import {
  columnFilteringFeature,
  createFilteredRowModel,
  createPaginatedRowModel,
  createSortedRowModel,
  filterFn_includesString,
  globalFilteringFeature,
  rowPaginationFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useMemo } from 'react';
import { Pages } from '../pages.tsx';
import { cx } from '../ui.tsx';
import { formatCount, formatCounted } from '../values.tsx';
import { cellText, type Rows } from './read.ts';

const PAGE_ROWS = 25;
/** Fewer rows need no filter. */
const FILTERED_FROM = 8;

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  columnFilteringFeature,
  globalFilteringFeature,
  filteredRowModel: createFilteredRowModel(),
  filterFns: { includesString: filterFn_includesString },
  rowPaginationFeature,
  paginatedRowModel: createPaginatedRowModel(),
});

const order = new Intl.Collator('en', { numeric: true }).compare;

function compare(a: string, b: string): number {
  const difference = Number(a) - Number(b);
  // An empty text would be the number 0.
  return a !== '' && b !== '' && !Number.isNaN(difference) ? difference : order(a, b);
}

const isNumber = (text: string): boolean => text !== '' && Number.isFinite(Number(text));

export default function ResultTable({ table: { columns, rows } }: { table: Rows }) {
  const texts = useMemo(() => rows.map((row) => row.map(cellText)), [rows]);
  const definitions = useMemo(
    () =>
      columns.map((header, index) => ({
        id: String(index),
        header,
        accessorFn: (row: string[]) => row[index]!,
        sortFn: (a: { original: string[] }, b: { original: string[] }) =>
          compare(a.original[index]!, b.original[index]!),
      })),
    [columns],
  );
  const numeric = useMemo(
    () => columns.map((_, index) => texts.every((row) => row[index] === '' || isNumber(row[index]!))),
    [columns, texts],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: texts,
    globalFilterFn: 'includesString',
    getColumnCanGlobalFilter: () => true,
    initialState: { pagination: { pageIndex: 0, pageSize: PAGE_ROWS } },
  });
  const found = table.getFilteredRowModel().rows.length;
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        {rows.length >= FILTERED_FROM && (
          <input
            type="search"
            aria-label="Filter the rows"
            placeholder="Filter"
            className="min-h-8 w-44 rounded-lg border border-strong bg-raised px-3 text-sm"
            onChange={({ target }) => table.setGlobalFilter(target.value)}
          />
        )}
        <p className="mr-auto text-sm text-faint" role="status">
          {found === rows.length
            ? formatCounted(rows.length, 'row')
            : `${formatCount(found)} of ${formatCount(rows.length)} rows`}
        </p>
      </div>
      <section
        tabIndex={0}
        aria-label="Result as a table"
        className="max-h-128 w-fit max-w-full min-w-64 overflow-auto rounded-lg border border-line"
      >
        <table className="w-full text-left text-sm">
          <thead className="sticky top-0 bg-sunken text-faint">
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map(({ id, column }, index) => {
                  const sorted = column.getIsSorted();
                  return (
                    <th
                      key={id}
                      scope="col"
                      aria-sort={sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : 'none'}
                      className={cx('font-medium whitespace-nowrap', numeric[index] && 'text-right')}
                    >
                      <button
                        type="button"
                        onClick={column.getToggleSortingHandler()}
                        className="inline-flex min-h-9 items-center px-3 -outline-offset-2 hover:text-ink"
                      >
                        <span className={cx('inline-flex', numeric[index] && 'flex-row-reverse')}>
                          {columns[index]}
                          <span aria-hidden="true" className="inline-block w-4 text-center">
                            {sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : ''}
                          </span>
                        </span>
                      </button>
                    </th>
                  );
                })}
              </tr>
            ))}
          </thead>
          <tbody className="divide-y divide-line">
            {table.getRowModel().rows.map((row) => (
              <tr key={row.id}>
                {row.original.map((text, index) => (
                  <td
                    key={index}
                    className={cx('max-w-96 px-3 py-2 align-top', numeric[index] && 'text-right tabular-nums')}
                  >
                    {text}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {found > PAGE_ROWS && (
        <Pages
          page={table.state.pagination.pageIndex + 1}
          size={PAGE_ROWS}
          total={found}
          names={['Previous', 'Next']}
          onPage={(page) => table.setPageIndex(page - 1)}
        />
      )}
    </div>
  );
}
