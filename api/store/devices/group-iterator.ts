/** A page that reaches the limit is short. So pages of a large, mostly empty fleet stay fast. */
const MAX_READS_PER_PAGE = 32;

/** For pages with filtered rows. A page that reaches the limit is short. */
const MAX_FILTERED_PER_PAGE = 1000;

/** Without this minimum, a filtered page with one missing row would read one key per request. */
const FILTERED_PER_READ = 100;

/** A key instead of the driver's page state, so the position never expires. Without `key`: before the first key of the group */
export type Place<K> = { group: number; key?: K };

/** `row` is null if the row does not belong in the page. */
export type Entry<R, K> = { key: K; row: R | null };

/** Reads group by group, and each group in order of its keys, so that every row is returned once. @returns `next` is null at the end */
export async function iterateGroups<R, K>({
  groups,
  from,
  limit,
  checked,
  read,
}: {
  groups: number;
  from: Place<K>;
  /** rows; a page before the end may be short */
  limit: number;
  /** rows are filtered: then more rows may be read than returned */
  checked: boolean;
  /** returns the entries after `place.key` in order; fewer than `wanted` at the end of the group */
  read: (place: Place<K>, wanted: number) => Promise<Array<Entry<R, K>>>;
}): Promise<{ rows: R[]; next: Place<K> | null }> {
  const rows: R[] = [];
  let place = from;
  let budget = checked ? MAX_FILTERED_PER_PAGE : limit;
  for (let reads = 0; reads < MAX_READS_PER_PAGE && budget > 0; reads++) {
    const missing = limit - rows.length;
    const wanted = Math.min(checked ? Math.max(missing, FILTERED_PER_READ) : missing, budget);
    const entries = await read(place, wanted);
    const { group } = place;
    for (const { key, row } of entries) {
      if (row === null) continue;
      if (rows.length === limit) return { rows, next: place };
      rows.push(row);
      place = { group, key };
    }
    budget -= entries.length;
    if (entries.length === wanted) place = { group, key: entries.at(-1)?.key };
    else if (group + 1 < groups) place = { group: group + 1 };
    else return { rows, next: null };
    if (rows.length === limit) break;
  }
  return { rows, next: place };
}
