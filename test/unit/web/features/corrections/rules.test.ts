import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UNDO_DAYS as STORED_UNDO_DAYS } from '../../../../../schema/rules.ts';
import type { Correction } from '../../../../../web/features/corrections/api.ts';
import {
  calibrate,
  chunksOf,
  inEffect,
  instantsOf,
  joinParts,
  partsOf,
  rangeText,
  UNDO_DAYS,
  undoEnd,
} from '../../../../../web/features/corrections/rules.ts';
import { createZone, UTC } from '../../../../../web/format.ts';

const HOUR_MS = 3_600_000;
const BERLIN = createZone('Europe/Berlin');
const ROUND_HOUR = Date.UTC(2026, 10, 21, 9);

test('Calibration: rounding noise of the computation: removed, and whole numbers stay exact', () => {
  expect(calibrate(0.1, { kind: 'add', by: 0.2 })).toBe(0.3);
  expect(calibrate(21.5, { kind: 'add', by: -0.7 })).toBe(20.8);
  expect(calibrate(1.1, { kind: 'multiply', by: 1.1 })).toBe(1.21);
  expect(calibrate(-3, { kind: 'multiply', by: 0.1 })).toBe(-0.3);
  expect(calibrate(2 ** 52, { kind: 'add', by: 1 })).toBe(2 ** 52 + 1);
  expect(calibrate(1e308, { kind: 'multiply', by: 10 })).toBe(Number.POSITIVE_INFINITY);
});

test('Calibration: any value, added to and subtracted from: it differs by 15 digits at most', () => {
  const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(value, value, (before, by) => {
      const there = calibrate(before, { kind: 'add', by });
      const back = calibrate(there, { kind: 'add', by: -by });
      expect(Math.abs(back - before)).toBeLessThanOrEqual(Math.max(Math.abs(before), Math.abs(by)) * 1e-14);
    }),
  );
});

test('Undo of a correction: days: as many as the API allows', () => {
  expect(UNDO_DAYS).toBe(STORED_UNDO_DAYS);
  const until = undoEnd({ accepted_at: '2026-11-21T09:50:00.000Z' });
  expect(new Date(until).toISOString()).toBe('2026-11-28T09:50:00.000Z');
});

test('Corrections in effect: an undo is undone: the correction is restored, unless a second undo remains', () => {
  const of = (...pairs: [id: string, undoes?: string][]) => [
    ...inEffect(pairs.map(([id, undoes]) => ({ id, undoes: undoes ?? null }))),
  ];
  expect(of(['a'])).toEqual(['a']);
  expect(of(['undo', 'a'], ['b'], ['a'])).toEqual(['undo', 'b']);
  expect(of(['again', 'undo'], ['undo', 'a'], ['a'])).toEqual(['again', 'a']);
  expect(of(['again', 'undo'], ['undo', 'a'], ['undo-2', 'a'], ['a'])).toEqual(['again', 'undo-2']);
});

test('Parts of a correction: consecutive: joined; others, and undone ones: not joined', () => {
  const part = (id: string, minute: number, hour: number, changes: Partial<Correction> = {}): Correction => ({
    ...{
      id,
      kind: 'replace',
      device_id: 'desk',
      sensor_ids: ['t'],
      samples: 10,
      by: 'me',
      reason: null,
      undoes: null,
    },
    accepted_at: new Date(ROUND_HOUR + minute * 60_000).toISOString(),
    from: new Date(ROUND_HOUR + hour * HOUR_MS).toISOString(),
    to: new Date(ROUND_HOUR + (hour + 0.9) * HOUR_MS).toISOString(),
    ...changes,
  });
  const ids = (corrections: Correction[], undone: string[] = []) =>
    joinParts(corrections, new Set(corrections.map(({ id }) => id).filter((id) => !undone.includes(id)))).map(
      ({ parts }) => parts.map(({ id }) => id).join(''),
    );
  const parts = [part('c', 2, 3), part('b', 1, 2), part('a', 0, 1)];
  expect(ids(parts)).toEqual(['cba']);
  expect(joinParts(parts, new Set())[0]).toMatchObject({
    samples: 30,
    from: parts[2]?.from,
    to: parts[0]?.to,
  });
  expect(ids(parts, ['a'])).toEqual(['cb', 'a']);
  expect(ids([part('b', 1, 2, { reason: 'x' }), part('a', 0, 1)])).toEqual(['b', 'a']);
  expect(ids([part('b', 11, 2), part('a', 0, 1)])).toEqual(['b', 'a']);
  expect(ids([part('b', 1, 4), part('a', 0, 1)])).toEqual(['b', 'a']);
  expect(ids([part('b', 1, 1), part('a', 0, 1)])).toEqual(['b', 'a']);
});

test('Range of a correction: one instant: with milliseconds; end of a day: without its date', () => {
  expect(rangeText({ from: ROUND_HOUR + 1, to: ROUND_HOUR + 2 }, UTC)).toBe('2026-11-21 09:00:00.001');
  expect(rangeText({ from: ROUND_HOUR, to: ROUND_HOUR + HOUR_MS }, UTC)).toBe(
    '2026-11-21 09:00:00 to 10:00:00',
  );
  expect(rangeText({ from: ROUND_HOUR, to: ROUND_HOUR + 24 * HOUR_MS }, UTC)).toBe(
    '2026-11-21 09:00:00 to 2026-11-22 09:00:00',
  );
});

test('Removal in parts: any range and number of samples: parts meet at whole hours and cover exactly the range', () => {
  const ms = fc.integer({ min: 1, max: 400 * 24 * HOUR_MS });
  fc.assert(
    fc.property(ms, ms, fc.integer({ min: 0, max: 500_000_000 }), (start, length, samples) => {
      const range = { from: start, to: start + length };
      const parts = partsOf(range, samples);
      expect(parts.map(({ from }) => from)).toEqual([range.from, ...parts.slice(0, -1).map(({ to }) => to)]);
      expect(parts.at(-1)?.to).toBe(range.to);
      expect(parts.every(({ from, to }) => to > from)).toBe(true);
      expect(parts.slice(1).every(({ from }) => from % HOUR_MS === 0)).toBe(true);
      expect(parts.length).toBeLessThanOrEqual(Math.max(Math.ceil(samples / 2_000_000), 1));
    }),
  );
});

test('Removal in parts: two million samples: one part', () => {
  const range = { from: 5, to: 400 * 24 * HOUR_MS };
  expect(partsOf(range, 2_000_000)).toEqual([range]);
  expect(partsOf(range, 6_000_000)).toHaveLength(3);
});

test('Chunks: any items: each is in exactly one chunk, in order', () => {
  expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunksOf([], 2)).toEqual([]);
});

test('Typed time: repeated hour of autumn: two instants; skipped hour of spring: none; other times: one', () => {
  const iso = (text: string) => instantsOf(text, BERLIN).map((at) => new Date(at).toISOString());
  expect(iso('2026-10-25T02:30:00')).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']);
  expect(iso('2026-03-29T02:30:00')).toEqual([]);
  expect(iso('2026-10-25T03:00')).toEqual(['2026-10-25T02:00:00.000Z']);
  expect(iso('2026-07-01T12:00:00.250')).toEqual(['2026-07-01T10:00:00.250Z']);
  expect(iso('')).toEqual([]);
  expect(instantsOf('2026-10-25T02:30', UTC)).toHaveLength(1);
});

test('Typed time: any instant: the time that clocks of its zone show leads back to it', () => {
  const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kolkata'] as const;
  fc.assert(
    fc.property(
      fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
      fc.constantFrom(...zones),
      (at, name) => {
        const zone = createZone(name);
        const text = new Date(at + zone.offsetAt(at)).toISOString().slice(0, 23);
        expect(instantsOf(text, zone)).toContain(at);
      },
    ),
  );
});
