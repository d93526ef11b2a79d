import { MillraceError } from '../../common/errors.ts';
import type { Identity } from '../../schema/ids.ts';
import { type Series, sortKeepLast, sortMerge } from '../../schema/packed/series.ts';
import type { MessageBatch } from './decode/message-batch.ts';
import { type Device, type Sensor, sensorOf } from './registry/cache.ts';
import type { Registry } from './registry/index.ts';

/**
 * Resolves the samples of a message that replaces stored ones. Sensors that are not registered are registered, as for any message. A value
 * without a time is refused, because it names no instant.
 * @throws `unknown_device`
 */
export async function resolveReplacement(
  registry: Pick<Registry, 'findNow' | 'register'>,
  identity: Identity,
  batch: MessageBatch,
): Promise<{ device: Device; series: Array<{ sensor: Sensor; samples: Series }> }> {
  for (const ref of [...(batch.untimed?.keys() ?? [])]) batch.refuseSensor(ref, 'bad_timestamp');
  const device = await registry.findNow(identity);
  if (!device) throw new MillraceError('unknown_device');
  const missing = [...batch.sensors.keys()].filter((ref) => !sensorOf(device, ref));
  const registered = missing.length > 0 ? await registry.register(device, missing) : null;
  for (const [ref, code] of registered?.refused ?? []) batch.refuseSensor(ref, code);
  const found: Map<Sensor, Series> = new Map();
  for (const [ref, samples] of batch.sensors) {
    const sensor = registered?.known.get(ref) ?? (sensorOf(device, ref) as Sensor);
    const before = found.get(sensor) ?? { times: [], values: [] };
    found.set(sensor, {
      times: [...before.times, ...samples.times],
      values: [...before.values, ...samples.values],
    });
  }
  const sort = batch.keepsLast ? sortKeepLast : sortMerge;
  const series = Array.from(found, ([sensor, { times, values }]) => ({
    sensor,
    samples: sort(times, values),
  }));
  return { device, series };
}
