import pino from 'pino';
import { decode } from '../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../api/ingest/decode/message-batch.ts';
import { PendingHour, SampleWrites } from '../../../api/store/measurements/writes.ts';
import type { PendingRow } from '../../../api/store/sending/pending-rows.ts';
import { Retry } from '../../../api/store/sending/retry.ts';
import { type Identity, identifyDevice, identifySensor } from '../../../schema/ids.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import { MESSAGE_ROW_BYTES } from '../../../schema/rules.ts';
import type { Fleet } from '../../../schema/sizes.ts';
import { encodeSenml } from '../../../simulator/payloads/senml.ts';
import { createRandom } from '../../../simulator/random.ts';
import { samplesPerMessage } from '../../../tools/sizing/formula.ts';

/** Begin of the simulated hours, in epoch ms. */
const START = Date.UTC(2026, 10, 21);

/**
 * Counts messages, rows and bytes of a small fleet in some hours. The simulator's code encodes the messages. The code of ingest decodes,
 * splits and packs them into rows. They are counted where the driver would send them. Each device begins at a different time.
 * @param fleet a small one
 */
export async function simulate(fleet: Fleet, hours: number) {
  const counted = { messages: 0, samples: 0, rowBytes: 0, partitions: new Set() };
  const logger = pino({ level: 'silent' });
  const samples = new SampleWrites({
    session: countingSession(counted),
    retry: new Retry({ logger, onRetry: () => {} }),
    watch: { note() {} } as never,
  });

  for (const { device, payload } of messagesOf(fleet, hours)) {
    counted.messages++;
    await samples.write({ ...device, sensors: { size: fleet.sensorsPerDevice } }, read(device, payload));
  }
  return counted;
}

const countingSession = (counted: { samples: number; rowBytes: number; partitions: Set<unknown> }) =>
  ({
    write: async () => {},
    async writeMerged(row: PendingRow<unknown>) {
      if (!(row instanceof PendingHour)) return;
      counted.partitions.add(row.partition.routing.toString('hex'));
      for (const { params } of row.encode()) {
        const block = params.at(-1) as Buffer;
        counted.rowBytes += MESSAGE_ROW_BYTES + block.length;
        counted.samples += samplesIn(block);
      }
    },
  }) as never;

function samplesIn(block: Buffer): number {
  let count = 0;
  visitBlock(START, block, (_, series) => {
    count += series().values.length;
  });
  return count;
}

function* messagesOf(fleet: Fleet, hours: number) {
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

function deviceOf(name: string, sensors: number) {
  const { id, bytes } = identifyDevice(name) as Identity;
  const names = Array.from({ length: sensors }, (_, index) => `sensor-${String(index).padStart(2, '0')}`);
  const byName = new Map(names.map((sensor) => [sensor, identifySensor(id, sensor)?.bytes]));
  return { id, bytes, names, byName };
}

function read(device: ReturnType<typeof deviceOf>, payload: Buffer) {
  const anyTime = { receivedAt: START, oldest: 0, newest: Number.MAX_SAFE_INTEGER, relative: false };
  const batch = new MessageBatch(anyTime);
  decode(payload, undefined, batch);
  return [...batch.sensors].map(([name, { times, values }]) => {
    const sensor = device.byName.get(name) as Buffer;
    return { sensor, times, values };
  });
}
