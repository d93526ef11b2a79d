import { describe, expect, test } from '@jest/globals';
import type { DeviceEvent } from '../../../../../web/api/types.ts';
import {
  isUnwatched,
  listed,
  mergeEvents,
  onlineAfter,
  onlineSpans,
  readNews,
  spanAt,
  summaryOf,
} from '../../../../../web/features/events/history.ts';

/** @param text oldest first, in seconds: `online 10, offline 20` @returns newest first */
const events = (text: string): DeviceEvent[] =>
  text
    .split(', ')
    .filter(Boolean)
    .map((one) => {
      const [kind, second] = one.split(' ');
      return {
        kind: kind as DeviceEvent['kind'],
        ts: new Date(Number(second) * 1000).toISOString(),
      };
    })
    .reverse();

/** @param since s @returns `10-20, 30-` */
const spans = (text: string, since: number | null = null): string =>
  onlineSpans(events(text), since === null ? null : since * 1000)
    .map(({ from, to }) => `${from / 1000}-${to === null ? '' : to / 1000}`)
    .join(', ');

test.each([
  ['', ''],
  ['birth 1', ''],
  ['birth 10, online 10, offline 20', '10-20'],
  ['online 10, offline 20, birth 30, online 30', '10-20, 30-'],
  ['online 10, online 15, offline 20', '10-20'],
  ['online 10, offline 20, offline 25', '10-20'],
  ['offline 20, online 30', '30-'],
  ['online 10, offline 5', '10-10'],
  ['online 10, offline 25, online 20', '10-20, 20-'],
])('Online times of a device: events at seconds %j: online at seconds %j', (text, expected) =>
  expect(spans(text)).toBe(expected),
);

test('Online times of a device: online before the first event: that online time ends at the next event', () => {
  expect(spans('', 5)).toBe('5-');
  expect(spans('offline 20, online 30', 5)).toBe('5-20, 30-');
  expect(spans('online 10, offline 20', 5)).toBe('5-20');
});

test('Online times of a device: search by instant: the online time that contains the instant is found, or null', () => {
  const all = [
    { from: 10, to: 20 },
    { from: 30, to: null },
  ];
  expect([9, 10, 19, 20, 29, 30, 99].map((ts) => spanAt(all, ts)?.from ?? null)).toEqual([
    null,
    10,
    10,
    null,
    null,
    30,
    30,
  ]);
});

test('Device events: offline event: listed with the start of the online time that it ends, if known', () => {
  const since = listed(events('offline 5, online 10, online 15, birth 15, offline 20, offline 25')).map(
    ({ kind, onlineFrom }) => [kind, onlineFrom],
  );
  expect(since).toEqual([
    ['offline', null],
    ['offline', 10_000],
    ['birth', null],
    ['online', null],
    ['online', null],
    ['offline', null],
  ]);
});

describe('New device events', () => {
  /** Nine offline events, which are read in pages of two. */
  const all = events(
    'offline 1, offline 2, offline 3, offline 4, offline 5, offline 6, offline 7, offline 8, offline 9',
  );
  const read = async (cursor: string | null) => {
    const at = Number(cursor ?? 0);
    return { items: all.slice(at, at + 2), next: at + 2 < all.length ? String(at + 2) : null };
  };

  test('New device events: older events are known: pages are requested until they meet the known events', async () => {
    const known = events('offline 1, offline 2, offline 3');
    const news = await readNews(read, known);
    expect(news.meets).toBe(true);
    expect(mergeEvents(news.items, known)).toEqual(all);
  });

  test('New device events: no event is known, or one page holds all new events: one page is requested', async () => {
    expect(await readNews(read, [])).toMatchObject({ items: all.slice(0, 2), next: '2' });
    expect(await readNews(read, all.slice(1))).toMatchObject({ items: all.slice(0, 2), meets: true });
  });

  test('New device events: the known events have expired: all pages are requested, and the result reports a gap', async () => {
    expect(await readNews(read, events('offline 77'))).toEqual({ items: all, next: null, meets: false });
  });
});

test.each([
  ['', null],
  ['birth 1', null],
  ['online 5', 5],
  ['online 5, birth 7, birth 9', 5],
  ['online 5, offline 8, birth 9', null],
])(
  'Device state before a time range: earlier events at seconds %j: online since second %j',
  (text, expected) => {
    expect(onlineAfter(events(text))).toBe(expected === null ? null : expected * 1000);
  },
);

test('Device events of a time range: device online before the range: the state is known from the start of that session', () => {
  const read = (before: string, range: { from: number; to?: number }) =>
    summaryOf({ items: events('online 60'), next: null }, events(before), range).read;
  expect(read('online 5', { from: 50_000, to: 90_000 })).toEqual({ from: 5000, to: 90_000 });
  expect(read('online 5, offline 8', { from: 50_000 })).toEqual({
    from: 50_000,
    to: Number.POSITIVE_INFINITY,
  });
});

test('Time without ingest process: start and end: the start belongs to it, the end does not', () => {
  const unwatched = [
    { from: 10, to: 20 },
    { from: 30, to: 40 },
  ];
  const instants = [9, 10, 19, 20, 29, 30, 39, 40];
  expect(instants.filter((ts) => isUnwatched(unwatched, ts))).toEqual([10, 19, 30, 39]);
  expect(isUnwatched([], 10)).toBe(false);
});
