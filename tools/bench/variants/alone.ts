import { decode } from '../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../api/ingest/decode/message-batch.ts';
import { encodeHour, planHours } from '../../../api/store/measurements/hours.ts';
import { DevicePartitions } from '../../../api/store/measurements/writes.ts';
import { type Identity, identifyDevice, identifySensor } from '../../../schema/ids.ts';
import { DAY_MS } from '../../../schema/rules.ts';
import { createClocks, createDevices, deviceName, encodePayloads, writeTime } from '../load/payloads.ts';
import { type Shape, samplesOf } from '../load/shapes.ts';
import { serve } from '../process/child.ts';

/** `plain`: `{"sensor_id", "ts", "value"}`; `map`: a map of sensors */
export type JsonForm = 'plain' | 'map';

const STRETCH = 500;

// Measures the work that every message needs: parsing, validation, packing, digest, and the layout of a row.
serve({
  /** CPU µs per sample. The first half of the time only warms up. */
  cost: ({ shape, forMs }: { shape: Shape; forMs: number }): number =>
    cpuOf(createWork(shape), forMs) / samplesOf(shape),

  /** CPU µs per message of one value. */
  jsonCost: ({ form, forMs }: { form: JsonForm; forMs: number }): number =>
    cpuOf(createJsonWork(form), forMs),
});

/** CPU µs per message. The first half of the time only warms up. */
function cpuOf(work: () => void, forMs: number): number {
  const until = (end: number) => {
    let messages = 0;
    for (; performance.now() < end; messages += STRETCH) for (let at = 0; at < STRETCH; at++) work();
    return messages;
  };
  until(performance.now() + forMs / 2);
  const before = process.cpuUsage();
  const messages = until(performance.now() + forMs / 2);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / messages;
}

/** The work for one message. */
function createJsonWork(form: JsonForm): () => void {
  const store = createStore(1);
  const time = Date.now();
  const payloads = Array.from({ length: STRETCH }, (_, index) => {
    const [ts, value] = [time + index, 20 + index / 100];
    const content = form === 'map' ? { ts, temperature: value } : { sensor_id: 'temperature', ts, value };
    return Buffer.from(JSON.stringify(content));
  });
  let next = 0;
  return () => store(payloads[next++ % payloads.length] as Buffer, 0, Date.now());
}

/** The work for one message. */
function createWork(shape: Shape): () => void {
  const store = createStore(shape.devices);
  const { payloads, timeAt } = encodePayloads(shape);
  const devices = createDevices({
    clocks: createClocks(),
    first: 0,
    count: shape.devices,
    samples: shape.samples,
  });
  let next = 0;
  return () => {
    const now = Date.now();
    devices.advance(now);
    const payload = payloads[next++ % payloads.length] as Buffer;
    writeTime(payload, timeAt, devices.time);
    store(payload, devices.number, now);
  };
}

/** Reads a message and lays out its rows. */
function createStore(devices: number): (payload: Buffer, device: number, now: number) => void {
  const partitions = new DevicePartitions();
  const identities = Array.from({ length: devices }, (_, number) => {
    const identity = identifyDevice(deviceName(number));
    return identity as Identity;
  });
  /** Ids of the sensors of one device; other devices would cost as much. */
  const sensors: Map<string, Buffer> = new Map();

  function sensorOf(ref: string) {
    let bytes = sensors.get(ref);
    if (!bytes) {
      bytes = identifySensor(String(identities[0]?.id), ref)?.bytes as Buffer;
      sensors.set(ref, bytes);
    }
    return bytes;
  }

  return (payload, device, now) => {
    const batch = new MessageBatch({
      receivedAt: now,
      oldest: now - DAY_MS,
      newest: now + DAY_MS,
      relative: true,
    });
    decode(payload, undefined, batch);
    const series = [];
    for (const [ref, { times, values }] of batch.sensors)
      series.push({ sensor: sensorOf(ref), times, values });
    const { bytes } = identities[device] as Identity;
    for (const hour of planHours(series, 1)) encodeHour(partitions.find(bytes, hour.bucket, hour.part), hour);
  };
}
