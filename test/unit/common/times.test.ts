import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import moment from 'moment';
import { formatTime, parseMoment, parseTime } from '../../../common/times.ts';

test.each([
  ['2026-11-21T00:00:00.000Z', Date.UTC(2026, 10, 21)],
  ['2026-11-21T00:00:00Z', Date.UTC(2026, 10, 21)],
  ['2026-11-21T00:00:00.5Z', Date.UTC(2026, 10, 21, 0, 0, 0, 500)],
  ['2026-11-21T01:00:00+01:00', Date.UTC(2026, 10, 21)],
  ['2026-11-21T00:00:00', Date.UTC(2026, 10, 21)],
  ['2026-11-21', Date.UTC(2026, 10, 21)],
  ['1763683200000', 1763683200000],
  ['-1', -1],
])('Parser of times: %s: read as %d ms since 1970', (text, ms) => expect(parseTime(text)).toBe(ms));

test.each([
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-11-21T25:00:00Z',
  '2026-11-21T00:60:00Z',
  '21.11.2026',
  'yesterday',
  '1e3',
  '',
  '12345678901234567',
])('Parser of times: %j is not a time: null is returned', (text) => expect(parseTime(text)).toBeNull());

test.each([
  ['30d', Date.UTC(2026, 9, 22)],
  ['-30d', Date.UTC(2026, 9, 22)],
  ['-1500', -1500],
  ['2026-11-20T00:00:00Z', Date.UTC(2026, 10, 20)],
  ['--30d', null],
])('Times on the command line: %s on 2026-11-21: read as %p ms since 1970', (text, ms) =>
  expect(parseMoment(text, Date.UTC(2026, 10, 21))).toBe(ms),
);

test('Parser of times: random ISO 8601 times: the parsed time equals that of the library moment', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('1950-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
      (date) => {
        const text = date.toISOString();
        expect(parseTime(text)).toBe(moment.utc(text, moment.ISO_8601, true).valueOf());
        expect(formatTime(Number(parseTime(text)))).toBe(text);
      },
    ),
  );
});
