import { connect } from '../../../api/store/connect.js';
import { LatestWrites } from '../../../api/store/latest/writes.js';
import { SampleWrites } from '../../../api/store/measurements/writes.js';
import { createPreparedWrites } from '../../../api/store/sending/frames.js';
import { readSettings } from '../../../common/settings/index.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { Latencies as Histogram } from '../../../simulator/meter.js';
import { pace } from '../load/open-loop.js';
import { createClocks, createDevices, deviceName, STEP_MS, sensorName } from '../load/payloads.js';
import { samplesOf } from '../load/shapes.js';
import { serve } from '../process/child.js';

/** @import { PendingRow } from '../../../api/store/sending/pending-rows.js' */
/** @import { Session } from '../../../api/store/sending/session.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Shape } from '../load/shapes.js' */

// The driver alone. It writes the rows of a load without MQTT, decoding, registry, retries and merging.
const { cql, retention } = readSettings(process.env, { envFile: '' });
const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
const clocks = createClocks();

serve(
  {
    /** @param {{ shape: Shape, rate: number, forMs: number }} load `rate`: samples/s */
    async pace({ shape, rate, forMs }) {
      const write = createWriter(shape);
      const latencies = new Histogram();
      /** @type {unknown} */
      let failure = null;
      const writes = new Set();
      await pace({
        rate: rate / samplesOf(shape),
        forMs,
        send(intended) {
          const done = write()
            .then(() => latencies.record(performance.now() - intended))
            .catch((error) => {
              failure = error;
            })
            .finally(() => writes.delete(done));
          writes.add(done);
        },
      });
      await Promise.all(writes);
      if (failure) throw failure;
      return latencies.read();
    },
  },
  () => client.shutdown(),
);

/** Runs a request without retries, so that a failure ends the round. */
const NO_RETRY = {
  run: (/** @type {() => Promise<any>} */ request) => request(),
  wait: (/** @type {unknown} */ error) => Promise.reject(error),
  noteAnswer() {},
};

/**
 * @param {Shape} shape
 * @returns {() => Promise<unknown>} a function that writes the next message; its promise settles when rows and newest values are
 *   committed
 */
function createWriter({ devices: count, sensors, samples }) {
  const send = createPreparedWrites(client);
  const deps = {
    session: /** @type {Session} */ ({
      async write({ cql }, params) {
        await client.execute(cql, params);
      },
      async writeMerged(/** @type {PendingRow<any>} */ row) {
        await send(row.encode(), row.partition.routing);
      },
    }),
    retry: NO_RETRY,
    logger: { warn() {} },
    watch: /** @type {any} */ ({ note() {} }),
  };
  const rows = new SampleWrites(deps);
  const latest = new LatestWrites(deps);
  const fleet = Array.from({ length: count }, (_, number) => identify(number, sensors));
  const devices = createDevices({ clocks, first: 0, count, samples });

  return () => {
    devices.advance(Date.now());
    const { device, group, ids } = /** @type {ReturnType<typeof identify>} */ (fleet[devices.number]);
    const times = Array.from({ length: samples }, (_, sample) => devices.time + sample * STEP_MS);
    const series = ids.map((sensor, index) => ({
      sensor,
      times,
      values: times.map((time) => 20 + (((time + index) * 7) % 1000) / 100),
    }));
    const newest = series.map(({ sensor, values }) => ({
      sensor: { bytes: sensor, ts: null, value: null },
      ts: Number(times.at(-1)),
      value: Number(values.at(-1)),
    }));
    return Promise.all([
      rows.write({ bytes: device, sensors: { size: sensors } }, series),
      latest.write({ bytes: device, group, retiredAt: null }, newest),
    ]);
  };
}

/** @param {number} number number of a device @param {number} sensors number of its sensors */
function identify(number, sensors) {
  const { id, bytes: device } = /** @type {Identity} */ (identifyDevice(deviceName(number)));
  const ids = Array.from({ length: sensors }, (_, index) => {
    const identity = /** @type {Identity} */ (identifySensor(id, sensorName(index)));
    return identity.bytes;
  });
  return { device, group: groupOf(device, retention.latestGroups), ids };
}
