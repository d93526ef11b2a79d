import pino from 'pino';
import { decode } from '../../../api/ingest/decode/index.js';
import { MessageBatch } from '../../../api/ingest/decode/message-batch.js';
import { PendingHour, SampleWrites } from '../../../api/store/measurements/writes.js';
import { Retry } from '../../../api/store/sending/retry.js';
import { identifyDevice, identifySensor } from '../../../schema/ids.js';
import { visitBlock } from '../../../schema/packed/block.js';
import { MESSAGE_ROW_BYTES } from '../../../schema/rules.js';
import { encodeSenml } from '../../../simulator/payloads/senml.js';
import { createRandom } from '../../../simulator/random.js';
import { samplesPerMessage } from '../../../tools/sizing/formula.js';

/** @import { PendingRow } from '../../../api/store/sending/pending-rows.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Fleet } from '../../../schema/sizes.js' */

/** Begin of the simulated hours, in epoch ms. */
const START = Date.UTC(2026, 10, 21);

/**
 * Counts messages, rows and bytes of a small fleet in some hours. The simulator's code encodes the messages. The code of ingest decodes,
 * splits and packs them into rows. They are counted where the driver would send them. Each device begins at a different time.
 *
 * @param {Fleet} fleet a small one
 * @param {number} hours
 */
export async function simulate(fleet, hours) {
  const counted = { messages: 0, samples: 0, rowBytes: 0, partitions: new Set() };
  const logger = pino({ level: 'silent' });
  const samples = new SampleWrites({
    session: countingSession(counted),
    retry: new Retry({ logger, onRetry: () => {} }),
    watch: /** @type {any} */ ({ note() {} }),
  });

  for (const { device, payload } of messagesOf(fleet, hours)) {
    counted.messages++;
    await samples.write({ ...device, sensors: { size: fleet.sensorsPerDevice } }, read(device, payload));
  }
  return counted;
}

/** @param {{ samples: number, rowBytes: number, partitions: Set<unknown> }} counted */
const countingSession = (counted) =>
  /** @type {any} */ ({
    write: async () => {},
    /** @param {PendingRow<any>} row */
    async writeMerged(row) {
      if (!(row instanceof PendingHour)) return;
      counted.partitions.add(row.partition.routing.toString('hex'));
      for (const { params } of row.encode()) {
        const block = /** @type {Buffer} */ (params.at(-1));
        counted.rowBytes += MESSAGE_ROW_BYTES + block.length;
        counted.samples += samplesIn(block);
      }
    },
  });

/** @param {Buffer} block @returns {number} */
function samplesIn(block) {
  let count = 0;
  visitBlock(START, block, (_, series) => {
    count += series().values.length;
  });
  return count;
}

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
  const byName = new Map(names.map((sensor) => [sensor, identifySensor(id, sensor)?.bytes]));
  return { id, bytes, names, byName };
}

/** @param {ReturnType<typeof deviceOf>} device @param {Buffer} payload */
function read(device, payload) {
  const anyTime = { receivedAt: START, oldest: 0, newest: Number.MAX_SAFE_INTEGER, relative: false };
  const batch = new MessageBatch(anyTime);
  decode(payload, undefined, batch);
  return [...batch.sensors].map(([name, { times, values }]) => {
    const sensor = /** @type {Buffer} */ (device.byName.get(name));
    return { sensor, times, values };
  });
}
