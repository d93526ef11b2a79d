import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDevice } from '../device.js';
import { createDeadline } from '../waits.js';
import { createClockwork } from './clockwork.js';
import { createSchedule } from './schedule.js';

/** Unacknowledged messages of one device; more than a constrained device would keep, and enough for a slow link. */
const WINDOW = 8;

/** Connections opened at once, and the pause before the next of them: brokers have a short queue for newcomers. */
const CONNECTS = { atOnce: 20, pauseMs: 20 };

/** How long the end waits for acknowledgements. */
const FAREWELL_MS = 5000;

/**
 * Devices that measure every interval and publish a batch every batch interval, until they are stopped.
 *
 * @param {object} options
 * @param {import('./herd.js').SimulatedDevice[]} options.herd
 * @param {import('../mqtt/connection.js').Broker} options.broker
 * @param {(series: import('../payloads/index.js').Series[]) => string} options.encode
 * @param {{ intervalMs: number, batchMs: number, buffer: number }} options.pace buffer: most unsent batches of a device
 * @param {import('../meter.js').Meter} options.meter
 * @param {(reason: string) => void} options.onTrouble why a device has no connection just now
 * @param {(reason: string) => void} options.onRefused the broker will not have a device
 */
export function createFleet({ herd, broker, encode, pace, meter, onTrouble, onRefused }) {
  // Two simulators may play the same devices against one broker: with client ids alone by name they would forever
  // throw each other out (MQTT 3.1.1, [MQTT-3.1.4-2]).
  const run = randomBytes(3).toString('hex');
  const members = herd.map((simulated) => ({
    series: simulated.sensors.map(({ name, unit, read }) => ({
      name,
      unit,
      read,
      /** @type {import('../payloads/index.js').Sample[]} */ samples: [],
    })),
    device: createDevice({
      description: simulated,
      broker,
      clientId: `${simulated.name}-${run}`,
      encode,
      limits: { buffer: pace.buffer, window: WINDOW },
      meter,
      onTrouble,
      onRefused,
    }),
  }));
  const schedule = createSchedule({ devices: herd.length, ...pace });
  const clockwork = createClockwork({
    schedule,
    intervalMs: pace.intervalMs,
    onDue(index, ts) {
      const member = /** @type {typeof members[number]} */ (members[schedule.device(index)]);
      for (const { samples, read } of member.series) samples.push({ ts, value: read() });
      meter.made(member.series.length);
      if (schedule.endsBatch(index)) publishBatch(member);
    },
  });
  let stopping = false;
  /** @type {Promise<void>} */
  let connecting = Promise.resolve();

  /** @param {typeof members[number]} member */
  function publishBatch({ device, series }) {
    if (series.every(({ samples }) => samples.length === 0)) return;
    device.publish(series);
    for (const one of series) one.samples = [];
  }

  async function connectAll() {
    for (const [index, { device }] of members.entries()) {
      if (stopping) return;
      device.start();
      if ((index + 1) % CONNECTS.atOnce === 0) await sleep(CONNECTS.pauseMs);
    }
  }

  return {
    start() {
      connecting = connectAll();
      clockwork.start();
    },

    /** @returns {number} devices that have a connection */
    connected: () => members.filter(({ device }) => device.connected).length,

    /** Publishes what is measured, waits for its acknowledgement, but not for long, and disconnects. */
    async stop() {
      stopping = true;
      clockwork.stop();
      await connecting;
      const deadline = createDeadline(FAREWELL_MS);
      await Promise.all(
        members.map((member) => {
          publishBatch(member);
          return member.device.stop(deadline.passed);
        }),
      );
      deadline.cancel();
    },
  };
}
