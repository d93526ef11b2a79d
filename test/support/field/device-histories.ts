import { Random } from '../../../simulator/random.js';
import { startMemoryPipeline } from '../system/memory-pipeline.js';

/** @import { MemoryPipeline } from '../system/memory-pipeline.js' */
/** @import { Table } from '../memory-store/tables.js' */

const DAY_MS = 86_400_000;

/** Starts of sessions of a clock that was never set, or was set back. */
const JUMPS = [0, 0, -10 * DAY_MS, -3_600_000, 30 * DAY_MS, Number.NEGATIVE_INFINITY];

/** @typedef {{ kind: 'birth' | 'status' | 'measurements', payload: string }} Packet */

/** A device on its own topics. It records its true state: whether it is connected, and which unit its last birth gave. */
class SimulatedDevice {
  #random;
  #clock;
  #offset = 0;
  #measured = 0;
  /** Whether its messages name sessions. */
  #hasSessions;
  /** The last wills of broken connections that the broker has not published yet. @type {Packet[]} */
  late = [];
  /** Messages on this connection, the newest last. @type {Packet[]} */
  sent = [];
  unit = '';
  isUp = false;
  /** Whether the message that arrived last shows that the device is online. */
  isCertain = false;
  #session = 0;

  /** @param {string} name @param {Random} random @param {() => number} clock epoch ms */
  constructor(name, random, clock) {
    this.name = name;
    this.#random = random;
    this.#clock = clock;
    this.#hasSessions = random.uniform() < 0.7;
  }

  /** @param {string} state @returns {Packet} */
  #status(state) {
    const payload = this.#hasSessions ? JSON.stringify({ state, session: this.#session }) : state;
    return { kind: 'status', payload };
  }

  /** @returns {Packet[]} */
  connect() {
    const jump = Math.floor(this.#random.uniform() * JUMPS.length);
    this.#offset = Number(JUMPS[jump]);
    this.#session = Number.isFinite(this.#offset) ? this.#clock() + this.#offset : 5000;
    this.isUp = true;
    this.isCertain = true;
    this.unit = `u${Math.floor(this.#random.uniform() * 3)}`;
    const session = this.#hasSessions ? { session: this.#session } : {};
    const birth = JSON.stringify({ ...session, sensors: [{ sensor_id: 't', unit: this.unit }] });
    this.sent = [{ kind: 'birth', payload: birth }, this.#status('online')];
    return this.sent;
  }

  /** @returns {Packet} its last will */
  disconnect() {
    this.isUp = false;
    return this.#status('offline');
  }

  /** @param {Packet | undefined} will @returns {boolean} whether it names another session than the present one */
  hasOtherSession(will) {
    return this.#hasSessions && will?.payload !== this.#status('offline').payload;
  }

  /** @returns {Packet} */
  measure() {
    const packet = {
      kind: /** @type {const} */ ('measurements'),
      payload: JSON.stringify({ sensor_id: 't', ts: this.#clock(), value: ++this.#measured }),
    };
    this.sent.push(packet);
    return packet;
  }
}

/**
 * Runs histories of devices on their own topics, interleaved: connections with clocks that jump, last wills that arrive late, messages that come
 * again, and restarts of Millrace. After each measurement the device has to be online, with the unit of its last birth.
 *
 * @param {object} options
 * @param {number} options.seed
 * @param {number} options.devices each has one history
 * @param {number} options.steps of each
 * @param {Map<string, Table>} options.tables of `readMemoryTables`
 * @returns {Promise<string[]>} faults
 */
export async function runDeviceHistories({ seed, devices, steps, tables }) {
  const random = new Random(seed);
  const chance = (/** @type {number} */ share) => random.uniform() < share;
  let now = Date.UTC(2026, 10, 25, 12);
  const clock = () => now;
  /** @type {string[]} */
  const faults = [];
  const all = Array.from({ length: devices }, (_, index) => new SimulatedDevice(`d${index}`, random, clock));

  /** @param {MemoryPipeline['client']} [database] */
  const start = (database) => startMemoryPipeline({ clock, tables, database });
  let pipeline = await start();

  /** @param {SimulatedDevice} device @param {Packet[]} packets @param {boolean} [again] */
  async function publish({ name }, packets, again = false) {
    for (const { kind, payload } of packets) {
      now += Math.floor(random.uniform() * 3);
      await pipeline.accept(`iot/v1/${name}/${kind}`, payload, { dup: again });
    }
  }

  /** @param {SimulatedDevice} device @param {boolean} isOnline @param {string} after */
  async function check({ name, unit }, isOnline, after) {
    const key = pipeline.keyOf(name);
    const row = await pipeline.store.devices.device(key);
    const [sensor] = await pipeline.store.devices.sensors(key);
    const got = { state: row?.state, unit: sensor?.unit };
    const wanted = { state: isOnline ? 'online' : 'offline', unit };
    if (JSON.stringify(got) === JSON.stringify(wanted)) return;
    faults.push(`${name} after ${after}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
  }

  /** @param {SimulatedDevice} device */
  async function act(device) {
    now += Math.floor(random.uniform() * 5000);
    if (!device.isUp) return publish(device, device.connect());
    if (device.late.length > 0 && chance(0.3)) {
      const late = device.late.splice(0, 1);
      await publish(device, late);
      // Only the session in a last will shows that it is of an earlier connection.
      device.isCertain &&= device.hasOtherSession(late[0]);
      if (device.isCertain) await check(device, true, 'the last will of an earlier connection');
      return;
    }
    if (chance(0.25)) {
      const will = device.disconnect();
      if (chance(0.5)) device.late.push(will);
      else {
        await publish(device, [...device.late.splice(0), will]);
        await check(device, false, 'its last will');
      }
      return;
    }
    // The sender or the broker sends the end of its messages again, in order.
    if (chance(0.2)) return publish(device, device.sent.slice(-1 - Math.floor(random.uniform() * 3)), true);
    await publish(device, [device.measure()]);
    device.isCertain = true;
    await check(device, true, 'a measurement');
  }

  for (let step = 0; step < devices * steps; step++) {
    await act(/** @type {SimulatedDevice} */ (all[Math.floor(random.uniform() * devices)]));
    if (!chance(1 / (devices * 5))) continue;
    await pipeline.stop();
    pipeline = await start(pipeline.client);
  }
  await pipeline.stop();
  return faults;
}
