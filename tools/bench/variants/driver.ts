import { connect } from '../../../api/store/connect.ts';
import { LatestWrites } from '../../../api/store/latest/writes.ts';
import { SampleWrites } from '../../../api/store/measurements/writes.ts';
import { createPreparedWrites } from '../../../api/store/sending/frames.ts';
import type { PendingRow } from '../../../api/store/sending/pending-rows.ts';
import type { Session } from '../../../api/store/sending/session.ts';
import { readSettings } from '../../../common/settings/index.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { Latencies as Histogram } from '../../../simulator/meter.ts';
import { pace } from '../load/open-loop.ts';
import { createClocks, createDevices, deviceName, STEP_MS, sensorName } from '../load/payloads.ts';
import { type Shape, samplesOf } from '../load/shapes.ts';
import { serve } from '../process/child.ts';

// The driver alone. It writes the rows of a load without MQTT, decoding, registry, retries and merging.
const { cql, retention } = readSettings(process.env, { envFile: '' });
const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
const clocks = createClocks();

serve(
  {
    /** `rate`: samples/s */
    async pace({ shape, rate, forMs }: { shape: Shape; rate: number; forMs: number }) {
      const write = createWriter(shape);
      const latencies = new Histogram();
      let failure: unknown = null;
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

/** A failure ends the round. */
const NO_RETRY = {
  run: <T>(request: () => Promise<T>) => request(),
  wait: (error: unknown) => Promise.reject(error),
  noteAnswer() {},
};

/** Writes the next message. Settles when rows and newest values are committed. */
function createWriter({ devices: count, sensors, samples }: Shape): () => Promise<unknown> {
  const send = createPreparedWrites(client);
  const deps = {
    session: {
      async write({ cql }, params) {
        await client.execute(cql, params);
      },
      async writeMerged(row: PendingRow) {
        await send(row.encode(), row.partition.routing);
      },
    } as Session,
    retry: NO_RETRY,
    logger: { warn() {} },
    watch: { note() {} },
  };
  const rows = new SampleWrites(deps);
  const latest = new LatestWrites(deps);
  const fleet = Array.from({ length: count }, (_, number) => identify(number, sensors));
  const devices = createDevices({ clocks, first: 0, count, samples });

  return () => {
    devices.advance(Date.now());
    const { device, group, ids } = fleet[devices.number] as ReturnType<typeof identify>;
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

function identify(number: number, sensors: number) {
  const { id, bytes: device } = identifyDevice(deviceName(number)) as Identity;
  const ids = Array.from({ length: sensors }, (_, index) => {
    const identity = identifySensor(id, sensorName(index)) as SensorIdentity;
    return identity.bytes;
  });
  return { device, group: groupOf(device, retention.latestGroups), ids };
}
