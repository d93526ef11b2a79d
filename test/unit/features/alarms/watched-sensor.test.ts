import { beforeEach, expect, test } from '@jest/globals';
import type { Rule } from '../../../../api/features/alarms/rules/rule.ts';
import { type Evaluate, type Watch, WatchedSensor } from '../../../../api/features/alarms/watched-sensor.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 21, 12);

/** A process that has watched for a day without an outage. */
const ALWAYS: Watch = { since: NOW - 24 * HOUR, unwatched: [], recordedFrom: NOW - 24 * HOUR };

/** A process that watches from now on, without a record of earlier watched time. */
const FROM_NOW: Watch = { since: NOW, unwatched: [], recordedFrom: Number.POSITIVE_INFINITY };

const SUBJECT = { sensor: { intervalMs: null } } as never;

/** @param ms of silence @param since epoch ms from which the rule applies */
const ruleOf = (ms: number, since: number = 0): Rule =>
  ({ versions: [{ since, definition: { condition: { kind: 'absent', for_ms: ms } } }] }) as never;

/** @param ts epoch ms */
const sensorOf = (ts: number, rule: Rule, before?: WatchedSensor) =>
  new WatchedSensor(SUBJECT, [rule], ts, before);

/** The evaluated ranges. */
let evaluated: Array<Parameters<Evaluate>[1]> = [];
let hasRoom = true;
beforeEach(() => {
  evaluated = [];
  hasRoom = true;
});

const evaluate: Evaluate = (_rule, range) => {
  evaluated.push(range);
  return hasRoom;
};

/** Judges the sensor at a given time, with its newest sample read from the database. @param now epoch ms */
const judge = (sensor: WatchedSensor, now: number, watch: Watch = ALWAYS) =>
  sensor.judge(now, watch, true, evaluate);

test('Absence alarm: the sensor stops sending: after for_ms, the newest sample is read from the database, and then the silence is evaluated', () => {
  const sensor = sensorOf(NOW, ruleOf(3 * MINUTE));
  expect(judge(sensor, NOW + MINUTE)).toBe(NOW + 3 * MINUTE);
  expect(sensor.judge(NOW + 3 * MINUTE, ALWAYS, false, evaluate)).toBeNull();
  expect(evaluated).toEqual([]);
  judge(sensor, NOW + 3 * MINUTE);
  expect(evaluated).toEqual([{ from: NOW, to: NOW, silentAt: NOW + 3 * MINUTE }]);
  // One silence is evaluated only once.
  judge(sensor, NOW + 10 * MINUTE);
  expect(evaluated).toHaveLength(1);
});

test('Absence alarm: the evaluation queue is full: the evaluation is requested again after 5 s', () => {
  const sensor = sensorOf(NOW, ruleOf(3 * MINUTE));
  hasRoom = false;
  expect(judge(sensor, NOW + 4 * MINUTE)).toBe(NOW + 4 * MINUTE + 5000);
  hasRoom = true;
  judge(sensor, NOW + 5 * MINUTE);
  judge(sensor, NOW + 9 * MINUTE);
  expect(evaluated).toHaveLength(2);
});

test('Absence alarm: the process starts to watch a silent sensor: the silence is evaluated for_ms after this start', () => {
  const sensor = sensorOf(NOW - HOUR, ruleOf(3 * MINUTE));
  expect(judge(sensor, NOW, FROM_NOW)).toBe(NOW + 3 * MINUTE);
  judge(sensor, NOW + 3 * MINUTE - 1, FROM_NOW);
  expect(evaluated).toEqual([]);
  judge(sensor, NOW + 3 * MINUTE, FROM_NOW);
  expect(evaluated).toEqual([{ from: NOW - HOUR, to: NOW - HOUR, silentAt: NOW + 3 * MINUTE }]);
});

test('Absence alarm: 25 h of silence, for_ms is 24 h, the process has just started: the silence is evaluated after five minutes', () => {
  const sensor = sensorOf(NOW - 25 * HOUR, ruleOf(24 * HOUR));
  expect(judge(sensor, NOW, FROM_NOW)).toBe(NOW + 5 * MINUTE);
});

test('Absence alarm: the process restarts every four minutes without a gap: the silence is evaluated 15 minutes after for_ms', () => {
  const due: number[] = [];
  for (let since = NOW; evaluated.length === 0 && since < NOW + HOUR; since += 4 * MINUTE) {
    const watch = { since, unwatched: [], recordedFrom: NOW - HOUR };
    const sensor = sensorOf(NOW, ruleOf(10 * MINUTE));
    for (let now = since; evaluated.length === 0 && now < since + 4 * MINUTE; now += MINUTE) {
      judge(sensor, now, watch);
      if (evaluated.length > 0) due.push(now);
    }
  }
  expect(due).toEqual([NOW + 25 * MINUTE]);
});

test('Absence alarm: the record of watched time begins after the newest sample: the time before the record counts as unwatched', () => {
  const sensor = sensorOf(NOW - 10 * HOUR, ruleOf(3 * MINUTE));
  const watch = { since: NOW, unwatched: [], recordedFrom: NOW - MINUTE };
  expect(judge(sensor, NOW, watch)).toBe(NOW + 3 * MINUTE);
});

test('Absence alarm: no process watched for parts of a long silence: the time of these parts is added to for_ms', () => {
  const ts = NOW - 10 * HOUR;
  const sensor = sensorOf(ts, ruleOf(10 * HOUR));
  const unwatched = [
    { from: ts - 3 * HOUR, to: ts - 2 * HOUR },
    { from: ts - HOUR, to: ts + HOUR },
    { from: ts + 2 * HOUR, to: ts + 5 * HOUR },
    // This span lies within the time that the spans before add to the silence.
    { from: ts + 10 * HOUR, to: ts + 11 * HOUR },
  ];
  expect(judge(sensor, NOW, { since: NOW - MINUTE, unwatched, recordedFrom: ts })).toBe(ts + 15 * HOUR);
});

test('Absence alarm: the device sends its queue of old samples for an hour: no silence is evaluated meanwhile', () => {
  const rule = ruleOf(3 * MINUTE);
  const first = NOW - 10 * HOUR;
  let sensor = sensorOf(first, rule);
  for (let minute = 0; minute < 60; minute++) {
    // The watch reads the group again each minute.
    sensor = sensorOf(first + minute * 10 * MINUTE, rule, sensor);
    judge(sensor, NOW + minute * MINUTE, FROM_NOW);
  }
  expect(evaluated).toEqual([]);
  // The device stops in the middle of its queue. The last sample came 59 minutes after the watch began.
  const { ts } = sensor;
  expect(judge(sensor, NOW + 61 * MINUTE, FROM_NOW)).toBe(NOW + 62 * MINUTE);
  judge(sensor, NOW + 62 * MINUTE, FROM_NOW);
  expect(evaluated).toContainEqual({ from: ts, to: ts, silentAt: NOW + 62 * MINUTE });
});

test('Absence alarm: the sensor sends again before its silence was evaluated: only the past gap is evaluated', () => {
  const rule = ruleOf(3 * MINUTE);
  const last = NOW - HOUR;
  const before = sensorOf(last, rule);
  judge(before, NOW, FROM_NOW);
  const sensor = sensorOf(NOW + MINUTE, rule, before);
  expect(judge(sensor, NOW + MINUTE, FROM_NOW)).toBe(NOW + 3 * MINUTE);
  sensor.ts = NOW + 3 * MINUTE;
  hasRoom = false;
  expect(judge(sensor, NOW + 3 * MINUTE, FROM_NOW)).toBe(NOW + 3 * MINUTE + 5000);
  hasRoom = true;
  judge(sensor, NOW + 4 * MINUTE, FROM_NOW);
  judge(sensor, NOW + 5 * MINUTE, FROM_NOW);
  const range = { from: last, to: NOW + 3 * MINUTE };
  expect(evaluated).toEqual([range, range]);
});

test('Absence alarm: a silence began and ended while no process watched: the silence is evaluated after the device sent its queue', () => {
  const rule = ruleOf(3 * MINUTE);
  const last = NOW - HOUR;
  const before = sensorOf(last, rule);
  judge(before, last);
  const sensor = new WatchedSensor(SUBJECT, [rule], NOW, before, true);
  expect(judge(sensor, NOW, FROM_NOW)).toBe(NOW + 3 * MINUTE);
  expect(evaluated).toEqual([]);
  sensor.ts = NOW + 3 * MINUTE;
  judge(sensor, NOW + 3 * MINUTE, FROM_NOW);
  judge(sensor, NOW + 4 * MINUTE, FROM_NOW);
  expect(evaluated).toEqual([{ from: last, to: NOW + 3 * MINUTE }]);
});

test('Absence alarm: no process watched, and only the database has the sample that ended the silence: the silence is evaluated', () => {
  const rule = ruleOf(3 * MINUTE);
  const last = NOW - HOUR;
  const sensor = new WatchedSensor(SUBJECT, [rule], last, sensorOf(last, rule), true);
  expect(sensor.judge(NOW, ALWAYS, false, evaluate)).toBeNull();
  sensor.ts = NOW;
  expect(sensor.judge(NOW, ALWAYS, true, evaluate)).toBe(NOW + 3 * MINUTE);
  expect(evaluated).toEqual([{ from: last, to: NOW }]);
});
