import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import { visitBlock } from '../../../schema/packed/block.ts';
import type { Series } from '../../../schema/packed/series.ts';
import type { Steps } from '../../background/index.ts';
import { allParts, type Store } from '../../store/index.ts';
import type { PackingObserver } from './pack-sensor-hour.ts';

/** In the order of reading. A time may occur more than once. */
type SensorSamples = { sensor: SensorBytes; times: number[]; values: number[] };

interface DeviceSamples {
  sensors: Map<string, SensorSamples>;
  /** rows that this process cannot read; they may hold samples of any sensor */
  unreadable: number;
}

/**
 * Reads part by part. If the number of parts has grown during the hour, a sensor may be in several parts, so all parts are read together.
 */
export async function* readDeviceHour({
  store,
  steps,
  observer,
  device,
  hour,
}: {
  store: Pick<Store['packing'], 'blockPage'>;
  steps: Steps;
  observer: Pick<PackingObserver, 'onUnreadable'>;
  device: DeviceBytes;
  hour: number;
}): AsyncGenerator<DeviceSamples, void> {
  let gathered = noSamples();
  const counts = await readPart(gathered, 0);
  const others = allParts(counts);
  const disjoint = counts.length === 1 && gathered.sensors.size === 0 && gathered.unreadable === 0;
  for (const part of others) {
    if (disjoint) gathered = noSamples();
    await readPart(gathered, part);
    if (disjoint) yield gathered;
  }
  if (!disjoint) yield gathered;

  /** @returns each number of parts over which sensors of the hour were spread */
  async function readPart(into: DeviceSamples, part: number): Promise<number[]> {
    let after: string | undefined;
    const before = into.unreadable;
    const found: Set<number> = new Set();
    do {
      const { blocks, parts, next } = await steps.run(() => store.blockPage(device, hour, part, after));
      for (const blob of blocks) collect(into, hour, blob);
      for (const count of parts) found.add(count);
      after = next;
    } while (after);
    if (into.unreadable > before) observer.onUnreadable({ device, hour }, into.unreadable - before);
    return [...found];
  }
}

const noSamples = (): DeviceSamples => ({ sensors: new Map(), unreadable: 0 });

function collect(into: DeviceSamples, hour: number, blob: Buffer) {
  const read: Array<{ sensor: SensorBytes; series: Series }> = [];
  try {
    visitBlock(hour, blob, (sensor, series) => read.push({ sensor, series: series() }));
  } catch (error) {
    // Bytes that are no block cause a RangeError. One broken row must not stop packing, so the row is only counted.
    if (!(error instanceof RangeError)) throw error;
    into.unreadable++;
    return;
  }
  for (const { sensor, series } of read) {
    const id = sensor.toString('hex');
    let collected = into.sensors.get(id);
    if (!collected) {
      // The id is copied, because it is a slice of the whole block and would keep the block in memory.
      collected = { sensor: Buffer.from(sensor), times: [], values: [] };
      into.sensors.set(id, collected);
    }
    for (let i = 0; i < series.times.length; i++) {
      collected.times.push(series.times[i] as number);
      collected.values.push(series.values[i] as number);
    }
  }
}
