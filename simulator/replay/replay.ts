import { randomBytes } from 'node:crypto';
import { MAX_SAMPLES_PER_MESSAGE } from '../../schema/rules.ts';
import { createDevice } from '../device.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Meter } from '../meter.ts';
import type { Broker } from '../mqtt/connection.ts';
import type { Series } from '../payloads/index.ts';
import { createDeadline } from '../timeouts.ts';
import { readBatches, type Skipped } from './samples.ts';
import type { Survey } from './survey.ts';

/** Unacknowledged messages: enough to keep broker and database busy, and few enough to fit in memory. */
const WINDOW = 32;

/** For the last acknowledgements when the replay was interrupted. */
const FAREWELL_MS = 5000;

/**
 * One device publishes as fast as the broker acknowledges. No message is ever dropped, because the file is not read further while the
 * window is full.
 */
export function createReplay(options: {
  path: string;
  survey: Survey;
  device: string;
  /** from recorded to published time, both in epoch ms */
  timeline: (recorded: number) => number;
  speed: number;
  rowsPerMessage: number;
  broker: Broker;
  encode: (series: Series[]) => string;
  meter: Meter;
  ledger: Ledger | null;
  onTrouble: (reason: string) => void;
  /** the broker refuses the device permanently */
  onRefused: (reason: string) => void;
}) {
  const { path, survey, timeline, rowsPerMessage, speed, encode } = options;
  const skipped: Skipped = { empty: 0, unreadable: 0, untimed: 0, colliding: 0 };
  const device = createDevice({
    ...options,
    description: describe(options.device, survey, speed),
    clientId: `${options.device}-${randomBytes(3).toString('hex')}`,
    limits: { messages: WINDOW, bytes: Number.POSITIVE_INFINITY, window: WINDOW },
  });

  async function publishAll(signal: AbortSignal) {
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

    connected: (): boolean => device.connected,

    /** Resolves when all messages are acknowledged and the device is offline. @param signal ends the replay early */
    async run(signal: AbortSignal): Promise<void> {
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

function describe(name: string, { columns, rows, first, last }: Survey, speed: number) {
  const intervalMs = Math.round((last - first) / Math.max(1, rows - 1) / speed);
  const sensors = columns.map((column) => ({
    name: column.name,
    type: column.name,
    ...(intervalMs > 0 ? { intervalMs } : {}),
  }));
  return { name, sensors };
}
