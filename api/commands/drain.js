import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { PERIODS_MS } from '../../common/periods.js';
import { connectPipeline } from '../ingest/connect.js';
import { createSubscriber } from '../mqtt/external/index.js';
import { unsubscribe } from '../mqtt/external/subscriptions.js';

/** @import { Logger } from 'pino' */
/** @import { Periods } from '../../common/periods.js' */
/** @import { Config } from '../../common/settings/config.js' */

/** How often it is looked whether the session is empty, in ms. */
const LOOK_EVERY_MS = 100;

/** What is being settled when it is stopped gets this long, in ms; the rest stays in the session. */
const SETTLE_MS = 2000;

/**
 * Empties the session that a process has at an external broker, and ends it: for a process that is not to come back.
 * An offline member of a shared subscription goes on getting its share, so its session must not be left behind.
 *
 * @param {object} parts
 * @param {Config} parts.config
 * @param {string} parts.version
 * @param {Logger} parts.logger
 * @param {{ reached: Promise<unknown>, fail: (error: Error) => void }} parts.end when this process has to end before
 * @param {(text: string) => void} parts.onStatus
 * @param {boolean} parts.orNone no session is as good as an empty one
 * @param {Periods} [parts.periods]
 * @returns {Promise<number>} messages that it held
 * @throws {MillraceError} `bad_settings`, `broker_away`, `session_taken`, `no_session`, `failed` when it was stopped: the session is kept
 */
export async function drainSession(parts) {
  const { config, version, logger, end, onStatus, orNone, periods = PERIODS_MS } = parts;
  const { mqtt } = config;
  if (!mqtt.url) {
    throw new MillraceError(
      'bad_settings',
      'MQTT_URL must be set for --drain: the embedded broker has no sessions.',
    );
  }
  const { store, ingest } = await connectPipeline({ config, version, logger });
  const { progress } = ingest;
  let settled = 0;
  let heardAt = performance.now();
  const subscriber = createSubscriber({
    mqtt,
    host: null,
    handleMessage: async (message) => {
      heardAt = performance.now();
      const outcome = await ingest.handleMessage(message);
      settled++;
      return outcome;
    },
    clock: Date.now,
    logger,
    onFatal: end.fail,
    keepAliveMs: periods.keepAlive,
    arrange: unsubscribe,
  });
  let stopped = false;
  const stop = () => {
    stopped = true;
  };
  end.reached.then(stop, stop);

  async function untilQuiet() {
    while (!stopped && performance.now() - heardAt < periods.quiet) {
      await sleep(LOOK_EVERY_MS);
      if (progress.unsettled > 0 || !subscriber.check().ok) heardAt = performance.now();
      const waiting = ingest.isStuck ? ', the database does not take them' : '';
      onStatus(`${mqtt.clientId}: ${settled} messages settled, ${progress.unsettled} under way${waiting}`);
    }
  }

  /** Silence may be the network's: so the broker has to answer, behind everything that it had to send before. */
  async function untilEmpty() {
    while (!stopped) {
      await untilQuiet();
      const heard = heardAt;
      const answered = await Promise.race([
        subscriber.roundTrip(),
        sleep(periods.quiet, false, { ref: false }),
      ]);
      if (answered && heard === heardAt) return;
      heardAt = performance.now();
    }
  }

  let isEmpty = false;
  try {
    await ingest.start();
    // The one that is there from now on is ours, and empty.
    isEmpty = !(await subscriber.start());
    if (isEmpty && !orNone) throw noSession(mqtt);
    heardAt = performance.now();
    if (!isEmpty) await Promise.race([untilEmpty(), end.reached]);
    isEmpty ||= !stopped;
  } finally {
    subscriber.quiesce();
    await progress.untilSettled({ withinMs: SETTLE_MS, isHopeless: () => ingest.isStuck });
    ingest.abort();
    await subscriber.stop({ endSession: isEmpty });
    await store.close();
  }
  if (isEmpty) return settled;
  throw new MillraceError(
    'failed',
    `Stopped before the end: the broker keeps the session of ${mqtt.clientId}.`,
  );
}

/** @param {Config['mqtt']} mqtt */
const noSession = ({ url, clientId }) =>
  new MillraceError(
    'no_session',
    `The broker at ${url} (MQTT_URL) has no session of ${clientId}. Check MQTT_CLIENT_ID; where it is right, the session has expired, or was ended before.`,
  );
