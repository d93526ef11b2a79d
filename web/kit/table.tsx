import type { ComponentChildren, RefObject, TableHTMLAttributes } from 'preact';
import { useServices } from '../state/hooks.ts';
import type { Sorting } from '../state/lists.ts';
import { sortText, UNSORTED } from '../state/lists.ts';
import './tables.css';

export interface Column<R> {
  label: ComponentChildren;
  class?: string | undefined;
  /** width of the column, unless its class has one */
  width?: string;
  /** what the column means, as a tooltip of the head */
  title?: string;
  /** name of the column in the address, if the table can be sorted by it */
  by?: string;
  /** whether only screen readers know the label */
  isQuiet?: boolean;
  /** whether the cells name their rows */
  isName?: boolean;
  cell: (row: R) => ComponentChildren;
  attributes?: (row: R) => object;
}

const hasRow = (row: unknown) => row;

/** @param props `useRow`: a hook that each row calls, so that a change of its source redraws only this row */
export function Table<T, R = T>({
  caption,
  isTitled = false,
  columns,
  rows,
  keyOf,
  sorting = UNSORTED,
  expected = 6,
  useRow = hasRow as (row: T) => R,
  rowAttributes,
  extra,
  body,
  ...attributes
}: {
  caption?: ComponentChildren;
  isTitled?: boolean;
  /** columns; false: the table has no such column */
  columns: (Column<NoInfer<R>> | false)[];
  rows: readonly T[] | null;
  keyOf: (row: T) => string | number;
  /** sorting of the rows over all pages; without a column, no column head sorts */
  sorting?: Sorting;
  expected?: number;
  useRow?: (row: T) => R;
  rowAttributes?: (row: T) => object;
  /** a cell below the row over all columns, or in place of its cells */
  extra?: (row: T) => { isAlone?: boolean; content: ComponentChildren } | null;
  body?: RefObject<HTMLTableSectionElement | null>;
} & Omit<TableHTMLAttributes<HTMLTableElement>, 'rows'>) {
  const shown = columns.filter((column) => column !== false);
  return (
    <table {...attributes}>
      {caption && <caption class={isTitled ? undefined : 'visually-hidden'}>{caption}</caption>}
      <thead>
        <tr>
          {shown.map((column, index) => (
            <Head key={index} column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows?.map((row) => (
          <Row key={keyOf(row)} {...{ row, columns: shown, useRow, rowAttributes, extra }} />
        )) ??
          Array.from({ length: expected }, (_, index) => (
            <tr key={index} class="waiting" aria-hidden="true">
              {shown.map((column, at) => (
                <td key={at} class={column.class}>
                  <span class="bar" />
                </td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function Row<T, R>({
  row,
  columns,
  useRow,
  rowAttributes,
  extra,
}: Pick<Required<Parameters<typeof Table<T, R>>[0]>, 'useRow'> &
  Pick<Parameters<typeof Table<T, R>>[0], 'rowAttributes' | 'extra'> & { row: T; columns: Column<R>[] }) {
  const now = useRow(row);
  const more = extra?.(row);
  return (
    <>
      {!more?.isAlone && (
        <tr {...rowAttributes?.(row)}>
          {columns.map(({ class: name, isName, cell, attributes }, index) => {
            const Cell = isName ? 'th' : 'td';
            return (
              <Cell key={index} scope={isName ? 'row' : undefined} class={name} {...attributes?.(now)}>
                {cell(now)}
              </Cell>
            );
          })}
        </tr>
      )}
      {more && (
        <tr class="extra">
          <td class="whole wraps" colSpan={columns.length}>
            {more.content}
          </td>
        </tr>
      )}
    </>
  );
}

/** Sorts the list over all its pages: the first press ascending, the second descending. The address keeps the sorting. */
function Head<R>({
  column: { label, class: name, width, title, by, isQuiet },
  sorting,
}: {
  column: Column<R>;
  sorting: Sorting;
}) {
  const { router } = useServices();
  if (by === undefined || sorting.by === '')
    return (
      <th scope="col" class={name} style={{ width }} title={title}>
        {isQuiet ? <span class="visually-hidden">{label}</span> : label}
      </th>
    );
  const isSorted = sorting.by === by;
  const sort = () =>
    router.changeQuery(
      { sort: sortText({ by, down: isSorted && !sorting.down }), page: null },
      { replace: true, pageCursors: router.place.peek().pageCursors },
    );
  return (
    <th
      scope="col"
      class={name}
      aria-sort={isSorted ? (sorting.down ? 'descending' : 'ascending') : undefined}
    >
      <button type="button" class="sort" title="Sort by this" onClick={sort}>
        {label}
        <svg class="sort-mark" viewBox="0 0 8 8" aria-hidden="true">
          <path d={sorting.down ? 'M1 2.5 4 6 7 2.5' : 'M1 5.5 4 2 7 5.5'} />
        </svg>
      </button>
    </th>
  );
}
