import type { Periods } from '../../common/periods.ts';
import type { Accounts } from '../access/accounts.ts';
import type { OwnCertificate } from '../access/tls/certificate-reload.ts';
import type { Ingest } from '../ingest/index.ts';
import type { HandleMessage } from '../ingest/pipeline.ts';
import type { Context } from '../observability/index.ts';
import { createBroker } from './embedded/index.ts';
import { createSubscriber } from './external/index.ts';

/** Later messages stay unacknowledged, and their senders send them again. */
const DRAIN_MS = 2000;

/** The embedded broker has closed its connections by then. */
const WILLS_MS = 1000;

/** Both sources acknowledge a message when `handleMessage` resolves. An orderly stop still sends every acknowledgement that is possible. */
export function createMessageSource(
  context: Context,
  deps: {
    /** null: no TLS */
    tls: OwnCertificate | null;
    handleMessage: HandleMessage;
    ingest: Pick<Ingest, 'room' | 'progress' | 'isStuck' | 'abort' | 'topics'>;
    accounts: Accounts;
    periods: Periods;
    onFatal: (error: Error) => void;
  },
) {
  const { config, clock, logger, metrics } = context;
  const { tls, handleMessage, ingest, accounts, periods, onFatal } = deps;
  const { mqtt } = config;
  const { progress, topics } = ingest;
  const source = mqtt.url
    ? createSubscriber({
        mqtt,
        parseTopic: topics.contract.parse,
        presence: topics.presence,
        subscriptions: topics.subscriptions,
        handleMessage,
        onInterrupted: topics.interrupt,
        clock,
        logger,
        onFatal,
        keepAliveMs: periods.keepAlive,
      })
    : createBroker({
        mqtt,
        tls,
        accounts,
        topics,
        maxMessageBytes: config.ingest.maxMessageBytes,
        handleMessage,
        room: ingest.room,
        clock,
        logger,
        metrics,
      });

  return {
    checks: { broker: () => source.check(), acknowledgements: () => progress.check(periods.unsettled) },

    start: () => source.start(),

    send: (topic: string, payload: Buffer, retain?: boolean, waited?: number) =>
      source.send(topic, payload, retain, waited),

    /** Settles unsettled messages if possible, and leaves the others unacknowledged. */
    async stop() {
      source.quiesce();
      await progress.untilSettled({ withinMs: DRAIN_MS, isHopeless: () => ingest.isStuck });
      const { unsettled } = progress;
      if (unsettled > 0)
        logger.warn({ unsettled }, 'messages stay unacknowledged; their senders send them again');
      ingest.abort();
      await source.stop();
      await progress.untilSettled({ withinMs: WILLS_MS });
    },

    followers: source.followers,

    /** 0 with an external broker */
    get mqttPort(): number {
      return source.port;
    },
  };
}

export type MessageSource = ReturnType<typeof createMessageSource>;
