import { createClocks } from '../load/devices.js';
import { createLatencies } from '../load/latencies.js';
import { pace } from '../load/pace.js';
import { samplesOf } from '../load/shapes.js';
import { serve } from '../process/service.js';
import { openConnection } from './connection.js';
import { createLoop } from './loop.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Loop } from './loop.js' */

// The database's own limit: a process that writes a load without MQTT, parsing or a driver.
const { BENCH_CONTACT_POINT = '', BENCH_KEYSPACE = '', BENCH_GROUPS = '' } = process.env;
const connection = await openConnection(BENCH_CONTACT_POINT);

const clocks = createClocks();
let inFlight = 128;
let before = 0;
/** @type {Loop | null} */
let loop = null;
let running = false;

/** @param {Shape} shape */
async function open(shape) {
  before += loop?.committed ?? 0;
  loop = await createLoop({
    connection,
    keyspace: BENCH_KEYSPACE,
    groups: Number(BENCH_GROUPS),
    shape,
    clocks,
    onError(error) {
      console.error(error);
      process.exit(1);
    },
  });
  return loop;
}

const settled = async () => {
  while (loop && loop.unsettled > 0) await new Promise(setImmediate);
};

serve({
  committed: () => before + (loop?.committed ?? 0),

  /** @param {number} most */
  inFlight(most) {
    inFlight = most;
  },

  /** @param {Shape} shape as fast as it is committed */
  async begin(shape) {
    const current = await open(shape);
    running = true;
    const next = () => {
      if (running) current.write(next);
    };
    for (let at = 0; at < inFlight; at++) next();
  },

  async end() {
    running = false;
    await settled();
  },

  /** @param {{ shape: Shape, rate: number, forMs: number }} load `rate`: samples/s */
  async paced({ shape, rate, forMs }) {
    const current = await open(shape);
    const latencies = createLatencies();
    await pace({
      rate: rate / samplesOf(shape),
      forMs,
      send: (intended) => current.write(() => latencies.record(performance.now() - intended)),
    });
    await settled();
    return latencies.read();
  },
});
