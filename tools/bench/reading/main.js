import { createReading } from '../../../api/history/reading/index.js';
import { connect } from '../../../api/store/connect.js';
import { connectStore } from '../../../api/store/index.js';
import { readSettings } from '../../../common/settings/index.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { deviceName } from '../load/devices.js';
import { createLatencies } from '../load/latencies.js';
import { serve } from '../process/service.js';
import { createHttpReader } from './http.js';
import { createRowReader, KINDS } from './kinds.js';
import { createLiveReaders } from './live.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Target } from '../environment/front.js' */
/** @import { Kind, Resolved } from './kinds.js' */
/** @import { LiveReaders } from './live.js' */

// A process that reads one kind at a time, on request of its parent.
const config = readSettings(process.env, { envFile: '' });
const client = await connect(config.cql, { keyspace: config.cql.keyspace, applicationName: 'bench' });
const store = await connectStore({
  cql: config.cql,
  retention: config.retention,
  observe: () => {},
  onStaleIndex: () => {},
});
const http = createHttpReader(String(process.env['BENCH_URL']));
const sources = { http, store, reading: createReading(store), rows: createRowReader(client) };
/** @type {LiveReaders | null} */
let live = null;

/** @param {Target} target @returns {Resolved} */
function resolve(target) {
  const device = /** @type {Identity} */ (identifyDevice(target.device));
  const sensor = /** @type {Identity} */ (identifySensor(device.id, target.sensor));
  const group = groupOf(device.bytes, config.retention.latestGroups);
  return { ...target, key: { group, device: device.bytes, sensor: sensor.bytes } };
}

serve(
  {
    /** @param {{ kind: Kind, target: Target, forMs: number }} order */
    async read({ kind, target, forMs }) {
      const latencies = createLatencies();
      const resolved = resolve(target);
      const began = performance.now();
      let items = 0;
      do {
        const asked = performance.now();
        items = await KINDS[kind](sources, resolved);
        latencies.record(performance.now() - asked);
      } while (performance.now() - began < forMs);
      return { ...latencies.read(), items, seconds: (performance.now() - began) / 1000 };
    },

    /** @param {{ readers: number, devicesEach: number, devices: number, samples: number }} options */
    async follow({ readers, devicesEach, devices, samples }) {
      const opened = createLiveReaders(http, samples);
      live = opened;
      const named = (/** @type {number} */ reader) =>
        Array.from({ length: devicesEach }, (_, at) => deviceName((reader * devicesEach + at) % devices));
      await Promise.all(Array.from({ length: readers }, (_, reader) => opened.follow(named(reader))));
    },

    unfollow: () => live?.end(),
  },
  async () => {
    live?.end();
    http.close();
    await Promise.all([store.close(), client.shutdown()]);
  },
);
