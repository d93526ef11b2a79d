import type { Dashboard } from '../web/dashboard.ts';

/** One device with very different sensors. The first one has a year of samples. */

export const FURNACE = 'furnace-1';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Samples of one message. */
const MESSAGE = 5000;

/** The longest gap in the year of the sensor `core`, in days before now. */
export const GAP_DAYS = { from: 150, to: 120 };

type Sample = { ts: number; value: number };

const SENSORS: Array<{
  name: string;
  type: string;
  unit: string;
  interval_ms: number;
  samples: (now: number) => Sample[];
}> = [
  { name: 'core', type: 'temperature', unit: 'Cel', interval_ms: SECOND, samples: yearOfCore },
  {
    name: 'vibration',
    type: 'acceleration',
    unit: 'm/s2',
    interval_ms: 1,
    samples: (now) => steps(now - 20 * SECOND, now, 1, (ts) => Math.sin(ts / 40) * (1 + Math.sin(ts / 3000))),
  },
  {
    name: 'meter',
    type: 'energy',
    unit: 'kWh',
    interval_ms: DAY,
    samples: (now) => steps(now - 60 * DAY, now, DAY, (ts) => 1200 + (ts / DAY - 20_000) * 8.5),
  },
  {
    name: 'valve',
    type: 'state',
    unit: '/',
    interval_ms: 10 * SECOND,
    samples: (now) => steps(now - 20 * MINUTE, now, 10 * SECOND, () => 1),
  },
  {
    name: 'clock-drift',
    type: 'ratio',
    unit: '/',
    interval_ms: SECOND,
    samples: (now) => steps(now - 4 * MINUTE, now, SECOND, (ts) => 38 + 1e-9 * Math.sin(ts / 20_000)),
  },
  {
    name: 'counter',
    type: 'count',
    unit: 'beats',
    interval_ms: SECOND,
    samples: (now) => steps(now - 4 * MINUTE, now, SECOND, (ts) => 4e12 + Math.floor(ts / 1000) * 3),
  },
  {
    name: 'hatch.open',
    type: 'contact',
    unit: '/',
    interval_ms: 10 * SECOND,
    samples: (now) => steps(now - 20 * MINUTE, now, 10 * SECOND, (ts) => Math.floor(ts / (3 * MINUTE)) % 2),
  },
  {
    name: 'line-pressure',
    type: 'pressure',
    unit: 'Pa',
    interval_ms: 10 * SECOND,
    samples: (now) => steps(now - 20 * MINUTE, now, 10 * SECOND, () => 3_851_600),
  },
  { name: 'spare', type: 'temperature', unit: 'Cel', interval_ms: SECOND, samples: () => [] },
];

export async function publishFurnace({ announce, publish }: Dashboard) {
  const now = Math.floor(Date.now() / SECOND) * SECOND;
  const sensors = SENSORS.map(({ name, type, unit, interval_ms }) => ({
    sensor_id: name,
    name,
    type,
    unit,
    interval_ms,
  }));
  await announce(FURNACE, { site: 'Works', sensors });
  for (const { name, samples } of SENSORS) {
    const all = samples(now).map((sample) => ({ sensor_id: name, ...sample }));
    for (let i = 0; i < all.length; i += MESSAGE) await publish(FURNACE, all.slice(i, i + MESSAGE));
  }
}

/** Samples that `publishNewest` publishes. */
const NEWEST = 30;

/**
 * Publishes the newest samples of a sensor. The samples of `publishFurnace` get old.
 * @param name of the sensor
 */
export async function publishNewest({ publish }: Dashboard, name: string) {
  const now = Math.floor(Date.now() / SECOND) * SECOND;
  const samples = SENSORS.find((sensor) => sensor.name === name)?.samples(now) ?? [];
  await publish(
    FURNACE,
    samples.slice(-NEWEST).map((sample) => ({ sensor_id: name, ...sample })),
  );
}

/** A sample each six hours for a year, with a gap, each minute for two days, and each second for ten minutes. */
function yearOfCore(now: number) {
  const { from, to } = GAP_DAYS;
  const quarters = steps(now - 360 * DAY, now - 2 * DAY, 6 * HOUR, heat);
  const isMissing = ({ ts }: Sample) => ts > now - from * DAY && ts < now - to * DAY;
  return [
    ...quarters.filter((sample) => !isMissing(sample)),
    ...steps(now - 2 * DAY, now - 10 * MINUTE, MINUTE, heat),
    ...steps(now - 10 * MINUTE, now, SECOND, heat),
  ];
}

/** Seasons, days, firings and some noise, always the same for the same time. */
function heat(ts: number): number {
  const season = 8 * Math.sin((2 * Math.PI * ts) / (365 * DAY));
  const day = 6 * Math.sin((2 * Math.PI * ts) / DAY);
  const firing = Math.floor(ts / DAY) % 9 === 0 ? 40 : 0;
  const noise = ((Math.imul(Math.floor(ts / SECOND), 2_654_435_761) >>> 0) / 2 ** 32) * 3;
  return Math.round(100 * (210 + season + day + firing + noise)) / 100;
}

/** @returns up to `to`, inclusive */
function steps(from: number, to: number, step: number, valueAt: (ts: number) => number): Sample[] {
  const count = Math.floor((to - from) / step);
  return Array.from({ length: count }, (_, i) => to - (count - 1 - i) * step).map((ts) => ({
    ts,
    value: valueAt(ts),
  }));
}
