import type { Dashboard } from '../web/dashboard.ts';

/** The sensors of each device; `gap`: without samples, in minutes before now. */
const KINDS = [
  { name: 'brood', type: 'temperature', unit: 'Cel', base: 34.8, swing: 0.6 },
  { name: 'entrance', type: 'temperature', unit: 'Cel', base: 17, swing: 5 },
  { name: 'lid', type: 'temperature', unit: 'Cel', base: 24, swing: 3, gap: { began: 31, ended: 22 } },
  { name: 'air', type: 'humidity', unit: '%RH', base: 61, swing: 8 },
  { name: 'scale', type: 'weight', unit: 'kg', base: 48.2, swing: 0.4 },
  { name: 'hum', type: 'sound', unit: 'dB', base: 52, swing: 7 },
  { name: 'flights', type: 'traffic', unit: '/min', base: 120, swing: 70, gap: { began: 12, ended: 3 } },
  { name: 'battery', type: 'voltage', unit: 'V', base: 3.86, swing: 0.05 },
];

export const SENSORS = KINDS.map(({ name }) => name);

const INTERVAL_MS = 10_000;
const SPAN_MS = 55 * 60_000;
const MINUTE_MS = 60_000;

/** Begin and end of each session, in minutes before now; null: it is open. */
const RESTLESS: [began: number, ended: number | null][] = [
  [52, 33],
  [30, 14],
  [11, null],
];
const STEADY: [began: number, ended: number | null][] = [[52, null]];

/** Three beehives with eight sensors each and almost an hour of samples, some with gaps. The first device was offline twice. */
export function createRecordedDevices() {
  const start = Date.now();
  /** Lag of the system's clock in ms, so that publications belong to the past. */
  let lagMs = 0;

  /** @param minutes before now */
  const goTo = (minutes: number) => {
    lagMs = Date.now() - (start - minutes * MINUTE_MS);
  };

  async function publishDevice(
    { announce, publish, client }: Dashboard,
    name: string,
    sessions: typeof STEADY,
  ) {
    for (const [began, ended] of sessions) {
      goTo(began);
      const session = start - began * MINUTE_MS;
      const publishState = (state: string) =>
        client.publishAsync(`iot/v1/${name}/status`, JSON.stringify({ state, session }), { qos: 1 });
      await announce(name, { session, site: 'Orchard', sensors: ANNOUNCED });
      await publishState('online');
      if (ended === null) continue;
      goTo(ended);
      await publishState('offline');
    }
    lagMs = 0;
    await publish(name, measured(start));
  }

  return {
    clock: () => Date.now() - lagMs,
    /** @returns minutes since the start, because a busy machine needs some time */
    age: (): number => (Date.now() - start) / MINUTE_MS,
    /** Publishes a new sample of each sensor. The samples of `fill` get old. @param name of the device */
    goOn({ publish }: Dashboard, name: string) {
      const samples = KINDS.map(({ name, base }) => ({ sensor_id: name, ts: Date.now(), value: base }));
      return publish(name, samples);
    },
    async fill(dashboard: Dashboard) {
      await publishDevice(dashboard, 'hive-1', RESTLESS);
      await publishDevice(dashboard, 'hive-2', STEADY);
      await publishDevice(dashboard, 'hive-3', STEADY);
    },
  };
}

const ANNOUNCED = KINDS.map(({ name, type, unit }) => ({
  sensor_id: name,
  name,
  type,
  unit,
  interval_ms: INTERVAL_MS,
}));

/** @param now epoch ms */
function measured(now: number) {
  const end = Math.floor(now / INTERVAL_MS) * INTERVAL_MS;
  const steps = Array.from({ length: SPAN_MS / INTERVAL_MS }, (_, step) => ({
    ts: end - step * INTERVAL_MS,
    step,
  }));
  return KINDS.flatMap(({ name, base, swing, gap }, index) =>
    steps
      .filter(({ ts }) => !gap || ts < now - gap.began * MINUTE_MS || ts >= now - gap.ended * MINUTE_MS)
      .map(({ ts, step }) => ({ sensor_id: name, ts, value: valueAt(base, swing, step + 40 * index) })),
  );
}

/** A slow wave with some noise, the same on every run. */
function valueAt(base: number, swing: number, step: number) {
  const slow = Math.sin(step / 60) + 0.4 * Math.sin(step / 17);
  const restless = (((step * 7919) % 101) / 101 - 0.5) * 0.35;
  return Math.round((base + swing * (slow + restless)) * 1000) / 1000;
}
