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

/** Maximum number of unacknowledged messages: enough to keep broker and database busy, and few enough to fit in memory. */
const WINDOW = 32;

/** Time limit for the last acknowledgements when the replay was interrupted, in ms. */
const FAREWELL_MS = 5000;

/**
 * Publishes a recorded data set as one device, as fast as the broker acknowledges. No message is ever dropped, because the file
 * is not read further while the window is full.
 *
 * @param {object} options
 * @param {string} options.path path of a CSV file
 * @param {Survey} options.survey survey of the same file
 * @param {string} options.device name
 * @param {(recorded: number) => number} options.timeline maps a recorded time to the published time, both in epoch ms
 * @param {number} options.speed
 * @param {number} options.rowsPerMessage
 * @param {Broker} options.broker
 * @param {(series: Series[]) => string} options.encode
 * @param {Meter} options.meter
 * @param {Ledger | null} options.ledger
 * @param {(reason: string) => void} options.onTrouble gets the reason why there is no connection
 * @param {(reason: string) => void} options.onRefused gets the reason why the broker refuses the device permanently
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

    /**
     * @param {AbortSignal} signal ends the replay early
     * @returns {Promise<void>} resolves when all messages are acknowledged and the device is offline
     */
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
