import { Latencies as Histogram } from '../../../simulator/meter.ts';
import { pace } from '../load/open-loop.ts';
import { createClocks } from '../load/payloads.ts';
import { samplesOf } from '../load/shapes.ts';
import { serve } from '../process/child.ts';
import { Publisher } from './publisher.ts';
import { openWire, type Wire } from './wire.ts';

type Load = Pick<Parameters<typeof Publisher.open>[0], 'url' | 'shape' | 'connections'>;

// A process that publishes one load at a time, at the request of its parent.
let publisher: Publisher | null = null;
/** By broker URL. */
const wires: Map<string, Wire> = new Map();
const clocks = createClocks();
let committed = 0;
let pacing = Promise.resolve(0);
let unpace = new AbortController();

/**
 * Latencies until the acknowledgement: `published` counts from the intended time of sending, `delivered` from the delivery by the
 * broker.
 */
const latencies = { published: new Histogram(), delivered: new Histogram() };

async function open(load: Load) {
  publisher?.close();
  const wire = wires.get(load.url);
  publisher = await Publisher.open({
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
  /** Publishes as fast as `allow` permits. */
  async start(load: Load) {
    await open(load);
  },

  allow(messages: number) {
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

  /** A subscriber connects to this URL instead, so that its acknowledgements are observed. */
  async wire(brokerUrl: string): Promise<string> {
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

  /** Publishes at a fixed rate, however long commits take. `rate`: samples/s */
  async pace({ rate, forMs, ...load }: Load & { rate: number; forMs: number }) {
    const current = await open(load);
    committed = 0;
    latencies.published.reset();
    latencies.delivered.reset();
    unpace = new AbortController();
    pacing = pace({
      rate: rate / samplesOf(load.shape),
      forMs,
      send: (intended) => current.due(intended),
      flush: () => current.flush(),
      signal: unpace.signal,
    });
  },

  paced: () => pacing,

  /** Ends a pace without a fixed end. */
  async unpace() {
    unpace.abort();
    await pacing;
    return counts();
  },

  /** `reset`: the next reading starts from zero */
  latencies({ reset }: { reset: boolean }) {
    const reading = { published: latencies.published.read(), delivered: latencies.delivered.read() };
    if (reset) {
      latencies.published.reset();
      latencies.delivered.reset();
    }
    return reading;
  },
});
