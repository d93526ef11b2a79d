import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { PERIODS_MS } from '../../common/periods.js';
import { openDatabase } from '../database.js';
import { createIngest } from '../ingest/index.js';
import { createSubscriber, unsubscribe } from '../mqtt/external/index.js';
import { createContext } from '../observability/index.js';

/** @import { Logger } from 'pino' */
/** @import { Periods } from '../../common/periods.js' */
/** @import { Config } from '../../common/settings/config.js' */

/** How often to check whether the session is empty, in ms. */
const CHECK_EVERY_MS = 100;

/** After a stop, time for messages in progress, in ms. The others stay in the session. */
const SETTLE_MS = 2000;

/**
 * Empties the session of a process at an external broker, and ends it. Use it for a process that will not come back. The broker keeps
 * assigning messages to an offline member of a shared subscription, so its session must not stay.
 *
 * @param {object} deps
 * @param {Config} deps.config
 * @param {string} deps.version
 * @param {Logger} deps.logger
 * @param {{ reached: Promise<unknown>, fail: (error: Error) => void }} deps.end when this process has to end early
 * @param {(text: string) => void} deps.onStatus
 * @param {boolean} deps.orNone a missing session counts as an empty one
 * @param {Periods} [deps.periods]
 * @returns {Promise<number>} messages of the session
 * @throws {MillraceError} `bad_settings`, `broker_away`, `session_taken`, `no_session`, `failed` after a stop: the session is kept
 */
export async function drainSession(deps) {
  const { config, version, logger, end, onStatus, orNone, periods = PERIODS_MS } = deps;
  const { mqtt } = config;
  if (!mqtt.url) {
    throw new MillraceError(
      'bad_settings',
      'MQTT_URL must be set for --drain: the embedded broker has no sessions.',
    );
  }
  const context = createContext({ config, version, logger });
  const database = await openDatabase(context);
  const { store } = database;
  const ingest = createIngest(context, database);
  const { progress } = ingest;
  let settled = 0;
  let receivedAt = performance.now();
  const subscriber = createSubscriber({
    mqtt,
    host: null,
    mapped: ingest.mappings.filters,
    handleMessage: async (message) => {
      receivedAt = performance.now();
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
    while (!stopped && performance.now() - receivedAt < periods.quiet) {
      await sleep(CHECK_EVERY_MS);
      if (progress.unsettled > 0 || !subscriber.check().ok) receivedAt = performance.now();
      const waiting = ingest.isStuck ? ', the database does not take them' : '';
      onStatus(`${mqtt.clientId}: ${settled} messages settled, ${progress.unsettled} under way${waiting}`);
    }
  }

  /** The network may be the reason for the silence. So the broker must answer a request, after all messages that it had to send. */
  async function untilEmpty() {
    while (!stopped) {
      await untilQuiet();
      const before = receivedAt;
      const answered = await Promise.race([
        subscriber.roundTrip(),
        sleep(periods.quiet, false, { ref: false }),
      ]);
      if (answered && before === receivedAt) return;
      receivedAt = performance.now();
    }
  }

  let isEmpty = false;
  try {
    await ingest.start();
    // After `start()` there is a session in any case. It returns whether there was one before.
    isEmpty = !(await subscriber.start());
    if (isEmpty && !orNone) throw noSession(mqtt);
    receivedAt = performance.now();
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
    `The broker at ${url} (MQTT_URL) has no session of ${clientId}. Check MQTT_CLIENT_ID. If it is correct, the session has expired or was ended before.`,
  );
