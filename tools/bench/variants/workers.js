import { createReading } from '../../../api/history/reading/index.js';
import { CongestionWindow, createPermits } from '../../../api/ingest/backpressure/window.js';
import { connectStore } from '../../../api/store/index.js';
import { readSettings } from '../../../common/settings/index.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { deviceName } from '../load/devices.js';
import { createLatencies } from '../load/latencies.js';
import { serve } from '../process/service.js';

/** @import { Identity } from '../../../schema/ids.js' */

/** Devices of one sensor that the workers write to and read from. */
const DEVICES = 1000;

/** Samples that a select asks for. */
const PAGE = 10;

// Workers on the store itself: one half inserts one sample after the other, the other half selects the newest ones.
const config = readSettings(process.env, { envFile: '' });
const permits = createPermits(new CongestionWindow({ max: config.ingest.maxInFlight }));
const store = await connectStore({
  cql: config.cql,
  retention: config.retention,
  gate: permits,
  observe: () => {},
  onStaleIndex: () => {},
});

const reading = createReading(store);

const targets = Array.from({ length: DEVICES }, (_, number) => {
  const { id, bytes } = /** @type {Identity} */ (identifyDevice(deviceName(number)));
  const sensor = /** @type {Buffer} */ (identifySensor(id, 'sensor-00')?.bytes);
  return { group: groupOf(bytes, config.retention.latestGroups), device: bytes, sensor, last: 0 };
});

/** @typedef {typeof targets[number]} Target */

/** @param {Target} target */
async function insert(target) {
  target.last = Math.max(Date.now(), target.last + 1);
  const series = { sensor: target.sensor, times: [target.last], values: [20 + Math.random()] };
  const { measurements } = store;
  for (const hour of measurements.plan([series], 1))
    await measurements.commit(target.device, hour, () => measurements.encode(target.device, hour));
}

/** @param {Target} target */
async function select(target) {
  const to = Date.now() + HOUR_MS;
  const page = { order: /** @type {const} */ ('desc'), limit: PAGE };
  await reading.page(target, { from: to - 2 * HOUR_MS, to }, page);
}

/**
 * @param {(target: Target) => Promise<void>} work
 * @param {number} workers
 * @param {number} end by performance.now()
 */
async function run(work, workers, end) {
  const latencies = createLatencies();
  let errors = 0;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let next = worker; performance.now() < end; next++) {
        const began = performance.now();
        try {
          await work(/** @type {Target} */ (targets[next % DEVICES]));
          latencies.record(performance.now() - began);
        } catch (error) {
          if (errors++ === 0) console.error(error);
        }
      }
    }),
  );
  return { ...latencies.read(), errors };
}

serve(
  {
    /** @param {{ workers: number, forMs: number }} load */
    async run({ workers, forMs }) {
      const end = performance.now() + forMs;
      const [inserts, selects] = await Promise.all([
        run(insert, workers / 2, end),
        run(select, workers / 2, end),
      ]);
      return { inserts, selects };
    },
  },
  () => store.close(),
);
