import { Random } from '../../../simulator/random.ts';
import type { Table } from '../memory-store/tables.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../system/memory-pipeline.ts';

const DAY_MS = 86_400_000;

/** Starts of sessions of a clock that was never set, or was set back. */
const JUMPS = [0, 0, -10 * DAY_MS, -3_600_000, 30 * DAY_MS, Number.NEGATIVE_INFINITY];

type Packet = { kind: 'birth' | 'status' | 'measurements'; payload: string };

/** A device on its own topics. It records its true state: whether it is connected, and which unit its last birth gave. */
class SimulatedDevice {
  declare name: string;

  #random;
  #clock;
  #offset = 0;
  #measured = 0;
  /** Whether its messages name sessions. */
  #hasSessions;
  /** The last wills of broken connections that the broker has not published yet. */
  late: Packet[] = [];
  /** Messages on this connection, the newest last. */
  sent: Packet[] = [];
  unit = '';
  isUp = false;
  /** Whether the message that arrived last shows that the device is online. */
  isCertain = false;
  #session = 0;

  /** @param clock epoch ms */
  constructor(name: string, random: Random, clock: () => number) {
    this.name = name;
    this.#random = random;
    this.#clock = clock;
    this.#hasSessions = random.uniform() < 0.7;
  }

  #status(state: string): Packet {
    const payload = this.#hasSessions ? JSON.stringify({ state, session: this.#session }) : state;
    return { kind: 'status', payload };
  }

  connect(): Packet[] {
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

  disconnect(): Packet {
    this.isUp = false;
    return this.#status('offline');
  }

  /** @returns whether it names another session than the present one */
  hasOtherSession(will: Packet | undefined): boolean {
    return this.#hasSessions && will?.payload !== this.#status('offline').payload;
  }

  measure(): Packet {
    const packet = {
      kind: 'measurements' as const,
      payload: JSON.stringify({ sensor_id: 't', ts: this.#clock(), value: ++this.#measured }),
    };
    this.sent.push(packet);
    return packet;
  }
}

/**
 * Runs histories of devices on their own topics, interleaved: connections with clocks that jump, last wills that arrive late, messages that
 * come again, and restarts of Millrace. After each measurement the device has to be online, with the unit of its last birth.
 * @returns faults
 */
export async function runDeviceHistories({
  seed,
  devices,
  steps,
  tables,
}: {
  seed: number;
  /** each has one history */
  devices: number;
  /** of each */
  steps: number;
  /** of `readMemoryTables` */
  tables: Map<string, Table>;
}): Promise<string[]> {
  const random = new Random(seed);
  const chance = (share: number) => random.uniform() < share;
  let now = Date.UTC(2026, 10, 25, 12);
  const clock = () => now;
  const faults: string[] = [];
  const all = Array.from({ length: devices }, (_, index) => new SimulatedDevice(`d${index}`, random, clock));

  const start = (database?: MemoryPipeline['client']) => startMemoryPipeline({ clock, tables, database });
  let pipeline = await start();

  async function publish({ name }: SimulatedDevice, packets: Packet[], again: boolean = false) {
    for (const { kind, payload } of packets) {
      now += Math.floor(random.uniform() * 3);
      await pipeline.accept(`iot/v1/${name}/${kind}`, payload, { dup: again });
    }
  }

  async function check({ name, unit }: SimulatedDevice, isOnline: boolean, after: string) {
    const key = pipeline.keyOf(name);
    const row = await pipeline.store.devices.device(key);
    const [sensor] = await pipeline.store.devices.sensors(key);
    const got = { state: row?.state, unit: sensor?.unit };
    const wanted = { state: isOnline ? 'online' : 'offline', unit };
    if (JSON.stringify(got) === JSON.stringify(wanted)) return;
    faults.push(`${name} after ${after}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
  }

  async function act(device: SimulatedDevice) {
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
    await act(all[Math.floor(random.uniform() * devices)] as SimulatedDevice);
    if (!chance(1 / (devices * 5))) continue;
    await pipeline.stop();
    pipeline = await start(pipeline.client);
  }
  await pipeline.stop();
  return faults;
}
