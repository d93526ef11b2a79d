import { expect, test } from '@jest/globals';
import { createAlarmNews } from '../../../../web/state/alarms.ts';
import { noneText } from '../../../../web/views/alarms/alarms.tsx';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR_MS = 3_600_000;

/** @param {string} alarm_id @param {object} [rest] @returns {any} */
const open = (alarm_id, rest) => ({ alarm_id, acknowledged_at: null, shelved_until: null, ...rest });

test('Alarm news: page opened: the alarms that are open already are no news, a later one is', () => {
  const newsAmong = createAlarmNews();
  expect(newsAmong(null, NOON)).toBeUndefined();
  expect(newsAmong([open('a')], NOON)).toBeUndefined();
  expect(newsAmong([open('c'), open('b'), open('a')], NOON)?.alarm_id).toBe('c');
  expect(newsAmong([open('c'), open('b'), open('a')], NOON)).toBeUndefined();
});

test('Alarm news: an alarm that is acknowledged or shelved: no news, also when its shelving ends', () => {
  const newsAmong = createAlarmNews();
  const shelved = open('a', { shelved_until: new Date(NOON + HOUR_MS).toISOString() });
  newsAmong([], NOON);
  const acknowledged = open('b', { acknowledged_at: '2026-11-21T11:00:00.000Z' });
  expect(newsAmong([shelved, acknowledged], NOON)).toBeUndefined();
  expect(newsAmong([shelved], NOON + 2 * HOUR_MS)).toBeUndefined();
});

test.each([
  ['open', null, false, 'No alarm is open'],
  ['open', 'critical', false, 'No critical alarm is open'],
  ['cleared', 'info', false, 'There was no info alarm'],
  ['all', null, false, 'There was no alarm'],
  ['open', null, true, 'None on this page'],
])(
  'Empty list of alarms: state %s, severity %s, one of several pages %p: %s',
  (state, severity, isPart, text) => expect(noneText({ state, severity, isPart })).toBe(text),
);
