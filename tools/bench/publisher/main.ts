import { Latencies as Histogram } from '../../../simulator/meter.js';
import { pace } from '../load/open-loop.js';
import { createClocks } from '../load/payloads.js';
import { samplesOf } from '../load/shapes.js';
import { serve } from '../process/child.js';
import { createPublisher } from './publisher.js';
import { openWire } from './wire.js';

/** @import { Publisher } from './publisher.js' */
/** @import { Wire } from './wire.js' */

/** @typedef {Pick<Parameters<typeof createPublisher>[0], 'url' | 'shape' | 'connections'>} Load */

// A process that publishes one load at a time, at the request of its parent.
/** @type {Publisher | null} */
let publisher = null;
/** By broker URL. @type {Map<string, Wire>} */
const wires = new Map();
const clocks = createClocks();
let committed = 0;
let pacing = Promise.resolve(0);
let unpace = new AbortController();

/**
 * Latencies until the acknowledgement: `published` counts from the intended time of sending, `delivered` from the delivery by the
 * broker.
 */
const latencies = { published: new Histogram(), delivered: new Histogram() };

/** @param {Load} load */
async function open(load) {
  publisher?.close();
  const wire = wires.get(load.url);
  publisher = await createPublisher({
    ...load,
    clocks,
    onPaced: (device, intended) => wire?.expect(device, intended),
    onBroken(error) {
      console.error(error);
      process.exit(1);
    },
  });
  return publisher;
}

const counts = () => ({ published: publisher?.published ?? 0, committed });

serve({
  /** Starts a load that publishes as fast as `allow` permits. @param {Load} load */
  async start(load) {
    await open(load);
  },

  /** @param {number} messages */
  allow(messages) {
    publisher?.allow(messages);
    return counts();
  },

  counts,

  stop() {
    publisher?.close();
    const last = counts();
    publisher = null;
    return last;
  },

  /**
   * @param {string} brokerUrl
   * @returns {Promise<string>} URL to which a subscriber connects instead, so that its acknowledgements are observed
   */
  async wire(brokerUrl) {
    wires.get(brokerUrl)?.close();
    const wire = await openWire(brokerUrl, (intended, delivered) => {
      const now = performance.now();
      committed++;
      latencies.published.record(now - intended);
      latencies.delivered.record(now - delivered);
    });
    wires.set(brokerUrl, wire);
    return wire.url;
  },

  /** Publishes at a fixed rate, however long commits take. @param {Load & { rate: number, forMs: number }} load `rate`: samples/s */
  async pace({ rate, forMs, ...load }) {
    const current = await open(load);
    committed = 0;
    latencies.published.reset();
    latencies.delivered.reset();
    unpace = new AbortController();
    pacing = pace({
      rate: rate / samplesOf(load.shape),
      forMs,
      send: current.due,
      flush: current.flush,
      signal: unpace.signal,
    });
  },

  /** Settles when all messages are published. */
  paced: () => pacing,

  /** Ends a pace without a fixed end. */
  async unpace() {
    unpace.abort();
    await pacing;
    return counts();
  },

  /** @param {{ reset: boolean }} options true: the next reading starts from zero */
  latencies({ reset }) {
    const reading = { published: latencies.published.read(), delivered: latencies.delivered.read() };
    if (reset) {
      latencies.published.reset();
      latencies.delivered.reset();
    }
    return reading;
  },
});
