import { decode } from '../../api/ingest/decode/index.js';
import { MessageBatch } from '../../api/ingest/decode/message-batch.js';
import { LatestWriter } from '../../api/ingest/latest-writer.js';
import { createSampleWrites } from '../../api/store/measurements/writes.js';
import { identifyDevice, identifySensor } from '../../schema/ids.js';
import { MESSAGE_ROW_BYTES, partsFor, SAMPLE_ROW_BYTES } from '../../schema/rules.js';
import { encodeSenml } from '../../simulator/payloads/senml.js';
import { createRandom } from '../../simulator/random.js';
import { createRowWrites } from '../../tools/bench/variants/row-writes.js';
import { samplesPerMessage } from '../../tools/sizing/traffic.js';

/** @import { Write } from '../../api/store/sending/write-merger.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { Fleet } from '../../tools/sizing/traffic.js' */

/** Begin of the simulated hours, in epoch ms. */
const START = Date.UTC(2026, 10, 21);

const WRITES = { packed: createSampleWrites, rows: createRowWrites };

/**
 * Counts messages, rows and bytes of a small fleet in some hours. The simulator's code encodes the messages. The code of ingest decodes,
 * splits and packs them into rows. They are counted where the driver would send them. Each device begins at a
 * different time.
 *
 * @param {Fleet} fleet a small one
 * @param {'packed' | 'rows'} variant
 * @param {number} hours
 */
export async function simulate(fleet, variant, hours) {
  const counted = { messages: 0, payload: 0, samples: 0, rowBytes: 0 };
  const sent = { requests: 0, rows: 0, partitions: new Set() };
  const latest = { requests: 0, rows: 0 };
  const store = WRITES[variant](countingSession(sent));
  const writer = new LatestWriter({
    store: /** @type {any} */ ({
      /** @param {number} _ @param {() => unknown[]} take */
      async write(_, take) {
        const taken = take();
        latest.requests++;
        latest.rows += taken.length;
      },
    }),
    retry: /** @type {any} */ ({ run: (/** @type {() => unknown} */ work) => work() }),
    logger: /** @type {any} */ (null),
  });

  for (const message of messagesOf(fleet, hours)) {
    const { device, payload } = message;
    const series = read(device, payload);
    counted.messages++;
    counted.payload += payload.length;
    for (const hour of store.plan(series, partsFor(fleet.sensorsPerDevice))) {
      const rows = store.encode(device.bytes, hour);
      for (const { from, to } of hour.pieces) counted.samples += to - from;
      for (const { params } of rows) {
        counted.rowBytes +=
          variant === 'packed'
            ? MESSAGE_ROW_BYTES + /** @type {Buffer} */ (params.at(-1)).length
            : SAMPLE_ROW_BYTES;
      }
      await store.commit(device.bytes, hour, () => rows);
    }
    await writer.write(/** @type {any} */ (device), series.map(newestOf));
  }
  return { ...counted, sent, latest };
}

/** @param {{ requests: number, rows: number, partitions: Set<unknown> }} sent */
const countingSession = (sent) =>
  /** @type {any} */ ({
    /** @param {Write} write */
    writeMerged({ name, take, routing }) {
      return this.writeBatch(name, take, routing);
    },
    /** @param {string} _ @param {() => unknown[]} take @param {Buffer} routing */
    async writeBatch(_, take, routing) {
      // The rows may come from other writes as well, which `take` merges.
      const taken = take();
      sent.requests++;
      sent.rows += taken.length;
      sent.partitions.add(routing.toString('hex'));
    },
  });

/** @param {Fleet} fleet @param {number} hours */
function* messagesOf(fleet, hours) {
  const random = createRandom(14);
  const samples = samplesPerMessage(fleet);
  const everyMs = samples * fleet.intervalMs;
  for (let number = 0; number < fleet.sensors / fleet.sensorsPerDevice; number++) {
    const device = deviceOf(`device-${number}`, fleet.sensorsPerDevice);
    const phase = Math.floor(random.between(0, everyMs));
    for (let ts = START + phase; ts < START + hours * 3_600_000; ts += everyMs) {
      const series = device.names.map((name) => ({
        name,
        samples: Array.from({ length: samples }, (_, index) => ({
          ts: ts + index * fleet.intervalMs,
          value: Math.round(random.between(1500, 2500)) / 100,
        })),
      }));
      yield { device, payload: Buffer.from(encodeSenml(series)) };
    }
  }
}

/** @param {string} name @param {number} sensors */
function deviceOf(name, sensors) {
  const { id, bytes } = /** @type {Identity} */ (identifyDevice(name));
  const names = Array.from({ length: sensors }, (_, index) => `sensor-${String(index).padStart(2, '0')}`);
  const known = names.map((sensor) => ({ ...identifySensor(id, sensor), ts: null, value: null }));
  return { id, bytes, group: 0, names, byName: new Map(names.map((sensor, i) => [sensor, known[i]])) };
}

/** @param {ReturnType<typeof deviceOf>} device @param {Buffer} payload */
function read(device, payload) {
  const anyTime = { receivedAt: START, oldest: 0, newest: Number.MAX_SAFE_INTEGER, relative: false };
  const batch = new MessageBatch(anyTime);
  decode(payload, undefined, batch);
  return [...batch.sensors].map(([name, { times, values }]) => {
    const known = /** @type {any} */ (device.byName.get(name));
    return { known, sensor: /** @type {Buffer} */ (known.bytes), times, values };
  });
}

/** @param {ReturnType<typeof read>[number]} series */
const newestOf = ({ known, times, values }) => ({
  sensor: known,
  ts: Number(times.at(-1)),
  value: Number(values.at(-1)),
});
