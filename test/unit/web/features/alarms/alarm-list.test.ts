import { expect, test } from '@jest/globals';
import { createAlarmNews } from '../../../../../web/features/alarms/open-alarms.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR_MS = 3_600_000;

const open = (alarm_id: string, rest?: object): object => ({
  alarm_id,
  started_at: '2026-11-21T11:00:00.000Z',
  acknowledged_at: null,
  shelved_until: null,
  values_corrected_at: null,
  ...rest,
});

/** @param alarms newest first */
const listOf = (alarms: object[], isCut: boolean = false) => ({ alarms: alarms as never[], isCut });

test('New alarm detection: the page opens: alarms already open are not announced, but a later alarm is announced', () => {
  const newsAmong = createAlarmNews();
  expect(newsAmong(null, NOON)).toBeUndefined();
  expect(newsAmong(listOf([open('a')]), NOON)).toBeUndefined();
  expect(newsAmong(listOf([open('c'), open('b'), open('a')]), NOON)?.alarm_id).toBe('c');
  expect(newsAmong(listOf([open('c'), open('b'), open('a')]), NOON)).toBeUndefined();
});

test('New alarm detection: truncated list: an old alarm that moves into the list is not announced, but a newer alarm is', () => {
  const newsAmong = createAlarmNews();
  const at = (hour: number) => ({ started_at: `2026-11-21T0${hour}:00:00.000Z` });
  const [old, middle, late] = [open('a', at(1)), open('b', at(2)), open('c', at(3))];
  newsAmong(listOf([late, middle], true), NOON);
  expect(newsAmong(listOf([middle, old], true), NOON)).toBeUndefined();
  expect(newsAmong(listOf([open('d', at(4)), middle], true), NOON)?.alarm_id).toBe('d');
});

test('New alarm detection: alarm first seen acknowledged or shelved: not announced, even after shelving ends', () => {
  const newsAmong = createAlarmNews();
  const shelved = open('a', { shelved_until: new Date(NOON + HOUR_MS).toISOString() });
  newsAmong(listOf([]), NOON);
  const acknowledged = open('b', { acknowledged_at: '2026-11-21T11:00:00.000Z' });
  expect(newsAmong(listOf([shelved, acknowledged]), NOON)).toBeUndefined();
  expect(newsAmong(listOf([shelved]), NOON + 2 * HOUR_MS)).toBeUndefined();
});
