import { setTimeout as sleep } from 'node:timers/promises';
import { createClocks, createDevices, deviceName, STEP_MS, sensorName, tagOf } from '../load/payloads.ts';
import type { Shape } from '../load/shapes.ts';
import { type Connection, openConnection } from '../publisher/connection.ts';
import { createPackets } from '../publisher/packets.ts';

/** Maximum number of messages without the broker's PUBACK. */
const WINDOW = 500;

/** No load uses these devices, so their samples are read back quickly. */
export const FIRST_DEVICE = 90_000;

const TICK_MS = 10;
const RECONNECT_MS = 100;

const LAST_PUBACK_MS = 5000;

/** Finds acknowledged messages that are not stored. */
export class Ledger {
  #shape;
  /** In the order of sending, which is also the order of the PUBACKs (MQTT 3.1.1, 4.6). */
  #pending: Array<{ device: number; time: number }> = [];
  #acknowledged: Array<{ device: number; time: number }> = [];

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  get pending() {
    return this.#pending.length;
  }

  get acknowledged() {
    return this.#acknowledged.length * this.#shape.sensors * this.#shape.samples;
  }

  /** @param time of the first sample, epoch ms */
  send(device: number, time: number) {
    this.#pending.push({ device, time });
  }

  acknowledge(count: number) {
    this.#acknowledged.push(...this.#pending.splice(0, count));
  }

  /** After a lost connection, the broker has not acknowledged the pending messages. */
  forget() {
    this.#pending = [];
  }

  /** @param stored sensor names as at the peers @returns number of acknowledged samples that are not stored */
  missing(stored: Iterable<[sensor: string, time: number]>): number {
    const known = new Set();
    for (const [sensor, time] of stored) known.add(`${sensor}@${time}`);
    let missing = 0;
    for (const { device, time } of this.#acknowledged) {
      for (let sensor = 0; sensor < this.#shape.sensors; sensor++) {
        const tag = tagOf(deviceName(device), sensorName(sensor));
        for (let at = 0; at < this.#shape.samples; at++) {
          if (!known.has(`${tag}@${time + at * STEP_MS}`)) missing++;
        }
      }
    }
    return missing;
  }
}

/** Reconnects to a broker that was killed, and sends no message twice. @returns ends the run when all sent messages are acknowledged */
export async function publishByLedger({
  url,
  shape,
  rate,
  ledger,
}: {
  url: string;
  shape: Shape;
  /** messages/s */
  rate: number;
  ledger: Ledger;
}): Promise<() => Promise<void>> {
  const packets = createPackets(shape);
  const devices = createDevices({
    clocks: createClocks(),
    first: FIRST_DEVICE,
    count: shape.devices,
    samples: shape.samples,
  });
  let connection: Connection | null = null;
  let over = false;
  let id = 0;
  let due = 0;
  let last = performance.now();

  async function connect() {
    while (!over && !connection) {
      connection = await openConnection({
        url,
        clientId: 'bench-ledger',
        onAcknowledged: (count) => ledger.acknowledge(count),
        onDrain: () => {},
        onBroken,
      }).catch(() => null);
      if (!connection) await sleep(RECONNECT_MS);
    }
  }

  function onBroken() {
    connection = null;
    ledger.forget();
    connect().catch(() => {}); // The function retries by itself until the run is over.
  }

  function publish() {
    const now = performance.now();
    due = Math.min(due + ((now - last) * rate) / 1000, WINDOW);
    last = now;
    const count = Math.min(Math.floor(due), WINDOW - ledger.pending);
    if (!connection || count <= 0) return;
    due -= count;
    const chunk = Buffer.allocUnsafe(count * packets.most);
    let at = 0;
    for (let message = 0; message < count; message++) {
      devices.advance(Date.now());
      id = (id % 65_535) + 1;
      at = packets.write(chunk, at, devices, id);
      ledger.send(devices.number, devices.time);
    }
    connection.send(chunk.subarray(0, at));
  }

  await connect();
  const timer = setInterval(publish, TICK_MS);
  return async () => {
    clearInterval(timer);
    const deadline = Date.now() + LAST_PUBACK_MS;
    while (ledger.pending > 0 && Date.now() < deadline) await sleep(TICK_MS);
    over = true;
    connection?.close();
  };
}
