import type { Dashboard } from '../web/dashboard.ts';

/** One device, whose sensor `core` has a year of samples. */
export const FURNACE = 'furnace-1';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Samples of one message. */
const MESSAGE = 5000;

/** The longest gap in the year, in days before now. */
const GAP_DAYS = { from: 150, to: 120 };

type Sample = { sensor_id: string; ts: number; value: number };

export async function publishFurnace({ announce, publish }: Dashboard) {
  const sensors = [
    { sensor_id: 'core', name: 'core', type: 'temperature', unit: 'Cel', interval_ms: SECOND },
  ];
  await announce(FURNACE, { site: 'Works', sensors });
  const all = yearOfCore(Math.floor(Date.now() / SECOND) * SECOND);
  for (let i = 0; i < all.length; i += MESSAGE) await publish(FURNACE, all.slice(i, i + MESSAGE));
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
    sensor_id: 'core',
    ts,
    value: valueAt(ts),
  }));
}
