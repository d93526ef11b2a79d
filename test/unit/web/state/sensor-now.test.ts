import { expect, test } from '@jest/globals';
import { NOT_LIVE, OFFLINE } from '../../../../web/state/cells.ts';
import { outdatedOf } from '../../../../web/state/sensor.ts';

const NOW = Date.UTC(2026, 10, 23, 3);
const MINUTE = 60_000;

const outdated = (facts: Partial<Parameters<typeof outdatedOf>[0]>) =>
  outdatedOf({
    at: NOW - 2000,
    intervalMs: null,
    gapMs: 0,
    offlineAt: null,
    stale: null,
    now: NOW,
    ...facts,
  });

test('Newest value of a sensor: recent value of an online device: shown as current', () => {
  expect(outdated({})).toBeNull();
  expect(outdated({ at: NOW - 4 * MINUTE })).toBeNull();
  expect(outdated({ at: NOW - 50 * MINUTE, intervalMs: 15 * MINUTE })).toBeNull();
  expect(outdated({ at: NOW - 50 * MINUTE, gapMs: 15 * MINUTE })).toBeNull();
});

test('Newest value of a sensor: old, but no interval is announced: the age alone, without the word silent', () => {
  const old = { cellState: NOT_LIVE, text: 'Measured 6 min ago' };
  expect(outdated({ at: NOW - 6 * MINUTE })).toEqual(old);
  expect(outdated({ at: NOW - 6 * MINUTE, gapMs: 1000 })).toEqual(old);
});

test('Newest value of a sensor: recent value, but the device is offline: shown as offline with the age', () => {
  expect(outdated({ offlineAt: NOW - 1000 })).toEqual({
    cellState: OFFLINE,
    text: 'Device offline, measured 2 s ago',
  });
});

test('Newest value of a sensor: ingest stores nothing, or the API connection is lost: the text names age and reason', () => {
  expect(outdated({ stale: { since: NOW - 2000, isLost: false } })?.text).toBe(
    'Measured 2 s ago: nothing is stored',
  );
  expect(outdated({ stale: { since: NOW - 2000, isLost: true } })?.text).toBe(
    'Measured 2 s ago: the connection is lost',
  );
});
