import { randomBytes } from 'node:crypto';
import { MAX_SAMPLES_PER_MESSAGE } from '../../schema/rules.js';
import { createDevice } from '../device.js';
import { createDeadline } from '../timeouts.js';
import { readBatches } from './samples.js';

/** @import { Ledger } from '../ledger/ledger.js' */
/** @import { Meter } from '../meter.js' */
/** @import { Broker } from '../mqtt/connection.js' */
/** @import { Series } from '../payloads/index.js' */
/** @import { Skipped } from './samples.js' */
/** @import { Survey } from './survey.js' */

/** Unacknowledged messages: enough to keep a broker and a database busy, little enough to hold in memory. */
const WINDOW = 32;

/** Time limit for the last acknowledgements when the replay was interrupted, in ms. */
const FAREWELL_MS = 5000;

/**
 * Publishes a recorded data set as one device, as fast as it is acknowledged. Nothing is ever dropped: reading the file
 * waits while the window is full.
 *
 * @param {object} options
 * @param {string} options.path of a CSV file
 * @param {Survey} options.survey of that file
 * @param {string} options.device name
 * @param {(recorded: number) => number} options.timeline
 * @param {number} options.speed
 * @param {number} options.rowsPerMessage
 * @param {Broker} options.broker
 * @param {(series: Series[]) => string} options.encode
 * @param {Meter} options.meter
 * @param {Ledger | null} options.ledger
 * @param {(reason: string) => void} options.onTrouble why there is no connection just now
 * @param {(reason: string) => void} options.onRefused the broker refuses the device permanently
 */
export function createReplay(options) {
  const { path, survey, timeline, rowsPerMessage, speed, encode } = options;
  /** @type {Skipped} */
  const skipped = { empty: 0, unreadable: 0, untimed: 0, colliding: 0 };
  const device = createDevice({
    ...options,
    description: describe(options.device, survey, speed),
    clientId: `${options.device}-${randomBytes(3).toString('hex')}`,
    limits: { messages: WINDOW, bytes: Number.POSITIVE_INFINITY, window: WINDOW },
  });

  /** @param {AbortSignal} signal */
  async function publishAll(signal) {
    const rowsPerBatch = Math.max(
      1,
      Math.min(rowsPerMessage, Math.floor(MAX_SAMPLES_PER_MESSAGE / survey.columns.length)),
    );
    signal.addEventListener('abort', device.release, { once: true });
    for await (const series of readBatches(path, survey, { timeline, rowsPerBatch, skipped })) {
      if (!signal.aborted) await device.whenPendingAtMost(WINDOW - 1);
      if (signal.aborted) return;
      device.publish({ series, payload: encode(series) });
    }
    await device.whenPendingAtMost(0);
  }

  return {
    skipped,

    /** @returns {boolean} */
    connected: () => device.connected,

    /** @param {AbortSignal} signal ends it early @returns {Promise<void>} when all is acknowledged and the device offline */
    async run(signal) {
      device.start();
      try {
        await publishAll(signal);
      } finally {
        const deadline = createDeadline(FAREWELL_MS);
        await device.stop(deadline.passed);
        deadline.cancel();
      }
    },
  };
}

/** @param {string} name @param {Survey} survey @param {number} speed */
function describe(name, { columns, rows, first, last }, speed) {
  const intervalMs = Math.round((last - first) / Math.max(1, rows - 1) / speed);
  const sensors = columns.map((column) => ({
    name: column.name,
    type: column.name,
    ...(intervalMs > 0 ? { intervalMs } : {}),
  }));
  return { name, sensors };
}
