import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MillraceError } from '../../../common/errors.ts';
import { type Flag, usageError } from '../../../common/flags.ts';
import { PERIODS_MS } from '../../../common/periods.ts';
import type { Config } from '../../../common/settings/config.ts';
import { createStatusLine } from '../../../common/status-line.ts';
import { openDatabase } from '../../database.ts';
import type { IngestSlots, StartMode } from '../../feature.ts';
import { createIngest } from '../../ingest/index.ts';
import { createContext } from '../../observability/index.ts';
import { createSubscriber, unsubscribe } from './source/index.ts';

const CHECK_EVERY_MS = 100;

/** If the session gets no message for this time, its queue counts as empty. */
const QUIET_MS = 5000;

/** In ms. Messages that are not finished by then stay in the session. */
const SETTLE_MS = 2000;

/**
 * Empties and ends the session of a process that will not come back. The external broker keeps assigning messages to
 * an offline member of a shared subscription, so the session must not stay. Returns the number of its messages.
 * @throws `bad_settings`, `broker_away`, `session_taken`, `no_session`; `failed` after a stop: the session is kept
 */
async function drainSession(deps: {
  config: Config;
  version: string;
  logger: Logger;
  /** `reached` settles when this process has to end early */
  end: { reached: Promise<unknown>; fail: (error: Error) => void };
  onStatus: (text: string) => void;
  /** a missing session counts as an empty one */
  orNone: boolean;
  slots: IngestSlots;
}): Promise<number> {
  const { config, version, logger, end, onStatus, orNone, slots } = deps;
  const { mqtt } = config;
  if (!mqtt.url) {
    throw new MillraceError(
      'bad_settings',
      'MQTT_URL must be set for --drain: the embedded broker has no sessions.',
    );
  }
  const context = createContext({ config, version, logger });
  const database = await openDatabase(context, slots);
  const { store } = database;
  const ingest = createIngest(context, { ...database, ...slots });
  const { progress } = ingest;
  let settled = 0;
  let receivedAt = performance.now();
  const subscriber = createSubscriber({
    mqtt,
    parseTopic: ingest.topics.contract.parse,
    presence: null,
    subscriptions: ingest.topics.subscriptions,
    handleMessage: async (message) => {
      receivedAt = performance.now();
      const outcome = await ingest.handleMessage(message);
      settled++;
      return outcome;
    },
    clock: Date.now,
    logger,
    onFatal: end.fail,
    keepAliveMs: PERIODS_MS.keepAlive,
    arrange: unsubscribe,
  });
  let stopped = false;
  const stop = () => {
    stopped = true;
  };
  end.reached.then(stop, stop);

  async function untilQuiet() {
    while (!stopped && performance.now() - receivedAt < QUIET_MS) {
      await sleep(CHECK_EVERY_MS);
      if (progress.unsettled > 0 || !subscriber.check().ok) receivedAt = performance.now();
      const waiting = ingest.isStuck ? ', the database does not take them' : '';
      onStatus(`${mqtt.clientId}: ${settled} messages settled, ${progress.unsettled} under way${waiting}`);
    }
  }

  /**
   * Silence alone proves nothing, because the network may be the cause. So the broker must also answer a request, which it does after all
   * earlier messages.
   */
  async function untilEmpty() {
    while (!stopped) {
      await untilQuiet();
      const before = receivedAt;
      const answered = await Promise.race([subscriber.roundTrip(), sleep(QUIET_MS, false, { ref: false })]);
      if (answered && before === receivedAt) return;
      receivedAt = performance.now();
    }
  }

  let isEmpty = false;
  try {
    await ingest.start();
    // `start()` makes a session if there is none. It returns whether there was a session before.
    isEmpty = !(await subscriber.start());
    if (isEmpty && !orNone) throw noSession(mqtt);
    receivedAt = performance.now();
    if (!isEmpty) await Promise.race([untilEmpty(), end.reached]);
    isEmpty ||= !stopped;
  } finally {
    subscriber.quiesce();
    await progress.untilSettled({ withinMs: SETTLE_MS, isHopeless: () => ingest.isStuck });
    await ingest.drain();
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

const noSession = ({ url, clientId }: Config['mqtt']) =>
  new MillraceError(
    'no_session',
    `The broker at ${url} (MQTT_URL) has no session of ${clientId}. Check MQTT_CLIENT_ID. If it is correct, the session has expired or was ended before.`,
  );

const FLAGS = {
  drain: {
    type: 'switch',
    help: 'empties the session of MQTT_CLIENT_ID at the broker, ends it, and is done',
  },
  'or-none': {
    type: 'switch',
    help: 'with --drain: no session is no failure; for a job that may be tried again when it was done',
  },
} satisfies Record<string, Flag>;

export const DRAIN: StartMode = {
  flags: FLAGS,
  isWanted({ drain, 'or-none': orNone }) {
    // Without this check a job that lacks --drain would start a normal process.
    if (orNone && !drain) throw usageError('npm start --', ['--or-none needs --drain']);
    return Boolean(drain);
  },
  async run(options, flags) {
    const statusLine = createStatusLine(process.stderr);
    const orNone = Boolean(flags['or-none']);
    const settled = await drainSession({ ...options, onStatus: statusLine.update, orNone });
    statusLine.clear();
    const { clientId, url } = options.config.mqtt;
    statusLine.print(`${clientId}: ${settled} messages settled; its session at ${url} is ended.`);
  },
};
