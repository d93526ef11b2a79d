import { Latencies as Histogram } from '../../../simulator/meter.ts';
import { pace } from '../load/open-loop.ts';
import { createClocks } from '../load/payloads.ts';
import { type Shape, samplesOf } from '../load/shapes.ts';
import { serve } from '../process/child.ts';
import { type AckProxy, openAckProxy } from './ack-proxy.ts';
import { Publisher } from './publisher.ts';

type Load = { url: string; shape: Shape };

// A process that publishes one load at a time, at the request of its parent.
let publisher: Publisher | null = null;
const proxies: Map<string, AckProxy> = new Map();
const clocks = createClocks();
let committed = 0;
let pacing = Promise.resolve(0);
let unpace = new AbortController();

/** From the intended time until the acknowledgement. */
const latencies = new Histogram();

async function open({ url, shape }: Load) {
  publisher?.close();
  const proxy = proxies.get(url);
  publisher = await Publisher.open({
    url,
    shape,
    clocks,
    onPaced: (device, intended) => proxy?.expect(device, intended),
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
    publisher = null;
  },

  /** A subscriber connects to this URL instead, so that its acknowledgements are observed. */
  async observe(brokerUrl: string): Promise<string> {
    proxies.get(brokerUrl)?.close();
    const proxy = await openAckProxy(brokerUrl, (intended) => {
      committed++;
      latencies.record(performance.now() - intended);
    });
    proxies.set(brokerUrl, proxy);
    return proxy.url;
  },

  async pace({ rate, forMs, ...load }: Load & { rate: number; forMs: number }) {
    const current = await open(load);
    committed = 0;
    latencies.reset();
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

  async unpace() {
    unpace.abort();
    await pacing;
    return counts();
  },

  /** Since the last call, or the start of the load. */
  takeLatencies() {
    const taken = latencies.read();
    latencies.reset();
    return taken;
  },
});
