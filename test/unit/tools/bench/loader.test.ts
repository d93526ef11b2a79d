import { describe, expect, test } from '@jest/globals';
import type { Config } from '../../../../common/settings/config.ts';
import { identifyDevice, identifySensor } from '../../../../schema/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import { samplesIn } from '../../../../tools/bench/loader/build.ts';
import { fleetOf, samplesOfHour } from '../../../../tools/bench/loader/data-set.ts';
import { checkCluster, readFlags } from '../../../../tools/bench/loader/flags.ts';

const HOUR = Date.UTC(2026, 4, 4, 5);
const NOW = Date.UTC(2026, 10, 21, 12, 34);
const recipe = { seed: 1, signal: 'decimals' as const, intervalMs: 1000, jitterMs: 20 };
const names = { device: 'load-1-000000', sensor: 'sensor-000' };

describe('Load: samples of an hour', () => {
  test('History loader: equal seed, device, sensor and hour give equal samples, other ones give other samples', () => {
    const once = samplesOfHour(recipe, names, HOUR);
    samplesOfHour(recipe, names, HOUR + HOUR_MS);
    expect(samplesOfHour(recipe, names, HOUR)).toEqual(once);
    for (const other of [
      samplesOfHour({ ...recipe, seed: 2 }, names, HOUR),
      samplesOfHour(recipe, { ...names, sensor: 'sensor-001' }, HOUR),
      samplesOfHour(recipe, { ...names, device: 'load-1-000001' }, HOUR),
      samplesOfHour(recipe, names, HOUR + HOUR_MS),
    ]) {
      expect(other.values).not.toEqual(once.values);
    }
  });

  test.each([
    [1000, 20],
    [1000, 0],
    [70, 34],
    [50, 0],
    [HOUR_MS, 20],
  ])('History loader: every %i ms, jitter %i ms: times ascend within the hour', (intervalMs, jitterMs) => {
    const { times } = samplesOfHour({ ...recipe, intervalMs, jitterMs }, names, HOUR);
    expect(times.length).toBe(Math.floor(HOUR_MS / intervalMs));
    expect(times.every((time, at) => Number.isInteger(time) && time > (times[at - 1] ?? HOUR - 1))).toBe(
      true,
    );
    expect(Number(times.at(-1))).toBeLessThan(HOUR + HOUR_MS);
  });

  test('History loader: signal decimals has two decimals, signal full has all digits of a double', () => {
    const isDecimal = (value: number) => Number(value.toFixed(2)) === value;
    expect(samplesOfHour(recipe, names, HOUR).values.every(isDecimal)).toBe(true);
    expect(samplesOfHour({ ...recipe, signal: 'full' }, names, HOUR).values.some(isDecimal)).toBe(false);
  });
});

test('History loader: devices of a fleet are named after the seed, and their ids come from the names', () => {
  const [device] = fleetOf({ seed: 7, devices: 1, sensors: 2, groups: 16 });
  expect(device?.name).toBe('load-7-000000');
  expect(device?.id).toBe(identifyDevice('load-7-000000')?.id);
  expect(device?.sensors.map(({ name, bytes }) => [name, bytes])).toEqual(
    ['sensor-000', 'sensor-001'].map((name) => [name, identifySensor(String(device?.id), name)?.bytes]),
  );
});

describe('Load: npm run load', () => {
  test('npm run load: --days without a start time: the range ends with the last closed hour', () => {
    const { set, fleet } = readFlags(['--days', '30', '--sensors', '3'], NOW);
    expect(new Date(set.to).toISOString()).toBe('2026-11-21T11:00:00.000Z');
    expect(set.to - set.from).toBe(30 * DAY_MS);
    expect(samplesIn(fleet, set)).toBe(3 * 30 * 86_400);
  });

  test('npm run load: an interval that is too long or too short: refused', () => {
    expect(() => readFlags(['--interval', '2h'], NOW)).toThrow(/an hour at most/);
    expect(() => readFlags(['--interval', '40ms'], NOW)).toThrow(/--interval must be 41ms or more/);
  });

  test('npm run load: the cluster runs on another machine: loading is refused without --force', () => {
    const cql = (contactPoints: string[] | null) => ({ contactPoints }) as Config['cql'];
    for (const here of [null, ['127.0.0.1'], ['localhost:9142', '[::1]:9042', '::1']]) {
      expect(() => checkCluster(cql(here), false)).not.toThrow();
    }
    for (const away of ['10.1.2.3', 'node-0.example.com:9042', '127.0.0.1.example.com', '[fd00::1]:9042']) {
      expect(() => checkCluster(cql(['127.0.0.1', away]), false)).toThrow(/not this machine/);
      expect(() => checkCluster(cql([away]), true)).not.toThrow();
    }
  });
});
