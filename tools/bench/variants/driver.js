import { GroupCommit } from '../../../api/ingest/latest-writer.js';
import { connect } from '../../../api/store/connect.js';
import { createLatest } from '../../../api/store/latest.js';
import { createSampleWrites } from '../../../api/store/measurements/writes.js';
import { createPreparedWrites } from '../../../api/store/prepared-writes.js';
import { readSettings } from '../../../common/settings/index.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { createLatencies, pace } from '../load/open-loop.js';
import { createClocks, createDevices, deviceName, STEP_MS, sensorName } from '../load/payloads.js';
import { samplesOf } from '../load/shapes.js';
import { serve } from '../process/child.js';

/** @import { LatestUpdate } from '../../../api/store/latest.js' */
/** @import { Session } from '../../../api/store/session.js' */
/** @import { Write } from '../../../api/store/write-merger.js' */
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
      const latencies = createLatencies();
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

/**
 * @param {Shape} shape
 * @returns {() => Promise<unknown>} writes the next message; settles when its rows and its newest values are committed
 */
function createWriter({ devices: count, sensors, samples }) {
  const send = createPreparedWrites(client);
  const session = /** @type {Session} */ ({
    writeMerged: (/** @type {Write} */ { take, routing }) => send(take(), routing),
  });
  const rows = createSampleWrites(session);
  const latest = createLatest(session);
  /** @type {GroupCommit<LatestUpdate>} */
  const groups = new GroupCommit({
    commit: (group, take, entries) => latest.write(group, take, entries),
    merge: (_, arriving) => arriving,
  });
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
    const newest = new Map(
      series.map(({ sensor, values }) => [
        sensor,
        { ts: Number(times.at(-1)), value: Number(values.at(-1)) },
      ]),
    );
    return Promise.all([
      ...rows.plan(series, 1).map((hour) => rows.commit(device, hour, () => rows.encode(device, hour))),
      groups.add(group, device, { device, newest }),
    ]);
  };
}

/** @param {number} number of a device @param {number} sensors */
function identify(number, sensors) {
  const { id, bytes: device } = /** @type {Identity} */ (identifyDevice(deviceName(number)));
  const ids = Array.from({ length: sensors }, (_, index) => {
    const identity = /** @type {Identity} */ (identifySensor(id, sensorName(index)));
    return identity.bytes;
  });
  return { device, group: groupOf(device, retention.latestGroups), ids };
}
