import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createLatencies } from '../load/open-loop.js';
import { loadOf } from '../load/shapes.js';
import { startObserving } from '../measure/machine.js';
import { alternate, medianOf } from '../measure/rounds.js';
import { openConnection } from '../publisher/connection.js';
import { createPackets } from '../publisher/packets.js';
import { figure, othersOf, stealOf } from '../report/table.js';

/** @import { Latencies } from '../load/open-loop.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Part } from './index.js' */

/** One sample a message: most messages, and so the hardest flood. */
const LOAD = '1x1';

/** Enough for a p99 of each run: each of them sends a message a second. */
const QUIET_DEVICES = 100;

/** The device that floods has so many messages unacknowledged: more than a connection may have unsettled. */
const UNACKNOWLEDGED = 1000;
const FLOOD_DEVICE = 0;

/** A run lasts so many times as long as one of a comparison. */
const LONGER = 3;

/** The greatest ratio of the p99 of another device during a flood to its p99 alone. */
const MAX_RATIO = 2;

/** @typedef {'alone' | 'flooded'} Name */

/**
 * Devices that send a message a second to the embedded broker, alone and next to one that floods.
 *
 * @type {Part<Round<Name, Measured>[]>}
 */
export const fairness = {
  name: 'fairness',
  title: `Quiet devices next to one that floods, embedded broker, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD);
    const pipeline = await environment.embedded('fairness');
    const quiet = await connectQuietDevices({
      url: pipeline.url,
      shape,
      first: FLOOD_DEVICE + 1,
      count: QUIET_DEVICES,
    });
    await quiet.measure(flags.warmMs);

    /** @param {Name} name @returns {Promise<Measured>} */
    async function measure(name) {
      const flood = name === 'flooded' ? await startFlood(pipeline.url, shape) : null;
      await sleep(flags.warmMs);
      const observed = await startObserving({ ...pipeline.pids, database: environment.database });
      const before = await pipeline.committed();
      const latencies = await quiet.measure(flags.runMs * LONGER);
      const samples = (await pipeline.committed()) - before;
      const { steal, others } = await observed();
      await flood?.terminate();
      await quiet.measure(flags.warmMs);
      return { ...latencies, samples, steal, others };
    }

    const rounds = await alternate({
      names: /** @type {Name[]} */ (['alone', 'flooded']),
      rounds: flags.rounds,
      onStatus: status,
      measure,
    });
    quiet.close();
    return rounds;
  },

  tables: (rounds) => {
    const ratio = medianOf(rounds, ({ alone, flooded }) => flooded.p99 / alone.p99);
    return [
      {
        head: [
          'PUBACK of a quiet device',
          'p50 ms',
          'p99 ms',
          'max ms',
          'samples committed',
          'steal',
          'others',
        ],
        rows: /** @type {Name[]} */ (['alone', 'flooded']).map((name) => [
          name,
          .../** @type {const} */ (['p50', 'p99', 'max', 'samples']).map((key) =>
            figure(medianOf(rounds, (results) => results[name][key])),
          ),
          stealOf(rounds),
          othersOf(rounds),
        ]),
      },
      {
        head: ['', 'ratio', 'wanted', 'met'],
        rows: [
          ['p99 flooded / alone', figure(ratio), `at most ${MAX_RATIO}`, ratio <= MAX_RATIO ? 'yes' : 'no'],
        ],
      },
    ];
  },
};

/** @param {string} url @param {Shape} shape @returns {Promise<Worker>} */
async function startFlood(url, shape) {
  const worker = new Worker(new URL('../publisher/flood.js', import.meta.url), {
    workerData: { url, shape, device: FLOOD_DEVICE, unacknowledged: UNACKNOWLEDGED },
  });
  await once(worker, 'online');
  return worker;
}

/** @typedef {Latencies & { samples: number, steal: number, others: number }} Measured */

/** Each device sends one message in this time, in ms. */
const INTERVAL_MS = 1000;

/**
 * Devices with a connection each that send a message a second, evenly spread over the second.
 *
 * @param {object} options
 * @param {string} options.url mqtt://host:port
 * @param {Shape} options.shape of a message
 * @param {number} options.first number of the first device
 * @param {number} options.count of devices
 */
async function connectQuietDevices({ url, shape, first, count }) {
  const latencies = createLatencies();
  const packets = createPackets(shape);
  /** @type {Array<{ sentAt: number | null, send: () => void, close: () => void }>} */
  const devices = [];
  for (let index = 0; index < count; index++) {
    const bytes = Buffer.alloc(packets.most);
    const connection = await openConnection({
      url,
      clientId: `quiet-${index}`,
      onAcknowledged() {
        if (device.sentAt !== null) latencies.record(performance.now() - device.sentAt);
        device.sentAt = null;
      },
      onDrain: () => {},
      onBroken(error) {
        throw error;
      },
    });
    const device = {
      sentAt: /** @type {number | null} */ (null),
      close: () => connection.close(),
      send() {
        // One that still waits for its PUBACK is late already: its latency is recorded when it comes.
        if (device.sentAt !== null) return;
        device.sentAt = performance.now();
        const length = packets.write(bytes, 0, { number: first + index, time: Date.now() }, 1);
        connection.send(bytes.subarray(0, length));
      },
    };
    devices.push(device);
  }

  return {
    /** @param {number} forMs @returns {Promise<Latencies>} from the send to the PUBACK */
    async measure(forMs) {
      latencies.reset();
      const began = performance.now();
      for (let sent = 0; ; sent++) {
        const due = began + (sent * INTERVAL_MS) / devices.length;
        if (due >= began + forMs) break;
        await sleep(Math.max(0, due - performance.now()));
        devices[sent % devices.length]?.send();
      }
      while (devices.some(({ sentAt }) => sentAt !== null)) await sleep(10);
      return latencies.read();
    },
    close() {
      for (const device of devices) device.close();
    },
  };
}
