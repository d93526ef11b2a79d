import { decode } from '../../../api/ingest/decode/index.js';
import { MessageBatch } from '../../../api/ingest/decode/message-batch.js';
import { encodeHour, planHours } from '../../../api/store/measurements/hours.js';
import { DevicePartitions } from '../../../api/store/measurements/writes.js';
import { identifyDevice, identifySensor } from '../../../schema/ids.js';
import { DAY_MS } from '../../../schema/rules.js';
import { createClocks, createDevices, deviceName, encodePayloads, writeTime } from '../load/payloads.js';
import { samplesOf } from '../load/shapes.js';
import { serve } from '../process/child.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Shape } from '../load/shapes.js' */

/** JSON of one value: `{"sensor_id", "ts", "value"}` (`plain`), or a map of sensors (`map`). @typedef {'plain' | 'map'} JsonForm */

/** Number of messages between two readings of the clock. */
const STRETCH = 500;

// Measures the work that every message needs: parsing, validation, packing, digest, and the layout of a row.
serve({
  /**
   * @param {{ shape: Shape, forMs: number }} load
   * @returns {number} CPU µs per sample; the first half of the time only warms up
   */
  cost: ({ shape, forMs }) => cpuOf(createWork(shape), forMs) / samplesOf(shape),

  /**
   * @param {{ form: JsonForm, forMs: number }} load messages of one value
   * @returns {number} CPU µs per message
   */
  jsonCost: ({ form, forMs }) => cpuOf(createJsonWork(form), forMs),
});

/** @param {() => void} work for one message @param {number} forMs the first half only warms up @returns {number} CPU µs per message */
function cpuOf(work, forMs) {
  const until = (/** @type {number} */ end) => {
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

/** @param {JsonForm} form @returns {() => void} a function that does the work for one message */
function createJsonWork(form) {
  const store = createStore(1);
  const time = Date.now();
  const payloads = Array.from({ length: STRETCH }, (_, index) => {
    const [ts, value] = [time + index, 20 + index / 100];
    const content = form === 'map' ? { ts, temperature: value } : { sensor_id: 'temperature', ts, value };
    return Buffer.from(JSON.stringify(content));
  });
  let next = 0;
  return () => store(/** @type {Buffer} */ (payloads[next++ % payloads.length]), 0, Date.now());
}

/** @param {Shape} shape @returns {() => void} a function that does the work for one message */
function createWork(shape) {
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
    const payload = /** @type {Buffer} */ (payloads[next++ % payloads.length]);
    writeTime(payload, timeAt, devices.time);
    store(payload, devices.number, now);
  };
}

/**
 * @param {number} devices
 * @returns {(payload: Buffer, device: number, now: number) => void} a function that reads a message and lays out its rows
 */
function createStore(devices) {
  const partitions = new DevicePartitions();
  const identities = Array.from({ length: devices }, (_, number) => {
    const identity = identifyDevice(deviceName(number));
    return /** @type {Identity} */ (identity);
  });
  /** @type {Map<string, Buffer>} ids of the sensors of one device; other devices would cost as much */
  const sensors = new Map();

  /** @param {string} ref */
  function sensorOf(ref) {
    let bytes = sensors.get(ref);
    if (!bytes) {
      bytes = /** @type {Buffer} */ (identifySensor(String(identities[0]?.id), ref)?.bytes);
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
    const { bytes } = /** @type {Identity} */ (identities[device]);
    for (const hour of planHours(series, 1)) encodeHour(partitions.find(bytes, hour.bucket, hour.part), hour);
  };
}
