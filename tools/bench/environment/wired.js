import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { samplesOf } from '../load/shapes.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Latencies } from '../load/latencies.js' */
/** @import { Broker } from './broker.js' */
/** @import { Child } from '../process/child.js' */
/** @import { Line } from './pipeline.js' */

const LOOK_MS = 200;

/** No commit at all for so long, in ms: what is missing will not come. */
const STUCK_MS = 30_000;

/**
 * A line whose ingest process reaches its broker through the publisher's wire: so the latency of each message is known.
 *
 * @param {object} parts
 * @param {Line} parts.line
 * @param {Broker} parts.broker
 * @param {Child} parts.publisher
 * @param {number} parts.connections
 * @param {Config['cql']} parts.cql where it stores
 */
export const createWired = ({ cql, ...parts }) => ({
  ...parts.line,
  cql,
  pace: createPace(parts),

  /** @returns {Promise<Reading>} since the last call */
  latencies: () => parts.publisher.ask('latencies', { reset: true }),
});

/** @param {Pick<Parameters<typeof createWired>[0], 'line' | 'broker' | 'publisher' | 'connections'>} parts */
export const createPace =
  ({ line, broker, publisher, connections }) =>
  /**
   * Publishes at a fixed rate, and waits until all is committed.
   *
   * @param {Shape} shape
   * @param {object} options
   * @param {number} options.rate samples/s
   * @param {number} options.forMs
   * @param {(counts: { published: number, committed: number }) => Promise<void> | void} [options.onLook] called often
   * @returns {Promise<{ published: number, latency: Reading }>} `published`: samples
   * @throws {MillraceError} `failed`: something was never acknowledged
   */
  async (shape, { rate, forMs, onLook = () => {} }) => {
    await publisher.ask('pace', { url: broker.url, shape, connections, rate, forMs });
    let publishing = true;
    const over = publisher.ask('paced').then(() => {
      publishing = false;
    });
    let counts = { published: 0, committed: 0 };
    let movedAt = Date.now();
    do {
      await sleep(LOOK_MS);
      const now = await publisher.ask('counts');
      if (now.committed > counts.committed) movedAt = Date.now();
      counts = now;
      await onLook(counts);
      if (Date.now() - movedAt > STUCK_MS) {
        const missing = counts.published - counts.committed;
        throw new MillraceError('failed', `${line.name}: ${missing} messages are not acknowledged.`);
      }
    } while (publishing || counts.committed < counts.published);
    await over;
    const latency = await publisher.ask('latencies', { reset: false });
    await publisher.ask('stop');
    return { published: counts.published * samplesOf(shape), latency };
  };

/** @typedef {{ published: Latencies, delivered: Latencies }} Reading */

/** @typedef {ReturnType<typeof createPace>} Pace */

/** @typedef {ReturnType<typeof createWired>} Wired */
