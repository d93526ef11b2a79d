import { afterEach, describe, expect, test } from '@jest/globals';
import { noneText } from '../../../../../web/features/alarms/alarms.tsx';
import {
  createAlarmNews,
  openCountText,
  showNotification,
} from '../../../../../web/features/alarms/open-alarms.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR_MS = 3_600_000;

const open = (alarm_id: string, rest?: object): object => ({
  alarm_id,
  started_at: '2026-11-21T11:00:00.000Z',
  acknowledged_at: null,
  shelved_until: null,
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

test('Count of open alarms: only some alarms were read: the count has a plus sign', () => {
  expect(openCountText(1000, { isCut: true })).toBe('1,000+');
  expect(openCountText(12, { isCut: false })).toBe('12');
});

test('New alarm detection: alarm first seen acknowledged or shelved: not announced, even after shelving ends', () => {
  const newsAmong = createAlarmNews();
  const shelved = open('a', { shelved_until: new Date(NOON + HOUR_MS).toISOString() });
  newsAmong(listOf([]), NOON);
  const acknowledged = open('b', { acknowledged_at: '2026-11-21T11:00:00.000Z' });
  expect(newsAmong(listOf([shelved, acknowledged]), NOON)).toBeUndefined();
  expect(newsAmong(listOf([shelved]), NOON + 2 * HOUR_MS)).toBeUndefined();
});

describe('Alarm notification', () => {
  const shown: string[] = [];
  afterEach(() => {
    shown.length = 0;
    Reflect.deleteProperty(globalThis, 'Notification');
  });

  function setNotification(permission: string, show: (title: string) => void) {
    class Notification {
      static permission = permission;
      constructor(title: string) {
        show(title);
      }
    }
    Reflect.set(globalThis, 'Notification', Notification);
  }

  test('Alarm notification: the user allowed notifications: the browser shows a notification with the alarm title', () => {
    setNotification('granted', (title) => shown.push(title));
    expect(showNotification('Too warm', { tag: 'a' })).toBe(true);
    expect(shown).toEqual(['Too warm']);
  });

  test('Alarm notification: permission denied, or browser without notifications: no notification is shown', () => {
    expect(showNotification('Too warm', {})).toBe(false);
    setNotification('denied', (title) => shown.push(title));
    expect(showNotification('Too warm', {})).toBe(false);
    expect(shown).toEqual([]);
  });

  test('Alarm notification: the browser allows only service workers to notify: no notification is shown, no error is thrown', () => {
    setNotification('granted', () => {
      throw new TypeError('Illegal constructor');
    });
    expect(showNotification('Too warm', {})).toBe(false);
  });
});

test.each([
  ['open', null, false, false, 'No alarm is open'],
  ['open', 'critical', false, false, 'No critical alarm is open'],
  ['open', 'critical', false, true, 'No critical alarm was open'],
  ['cleared', 'info', false, false, 'There was no info alarm'],
  ['all', null, false, false, 'There was no alarm'],
  ['open', null, true, false, 'None on this page'],
])(
  'Empty alarm list: filter state %s and severity %s, one of several pages %p, data outdated %p: text "%s"',
  (state, severity, isPart, isOld, text) => expect(noneText({ state, severity, isPart, isOld })).toBe(text),
);
