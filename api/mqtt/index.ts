import type { Periods } from '../../common/periods.ts';
import type { Accounts } from '../access/accounts.ts';
import type { OwnCertificate } from '../access/tls/certificate-reload.ts';
import type { Ingest } from '../ingest/index.ts';
import type { HandleMessage } from '../ingest/pipeline.ts';
import type { BrokerClients } from '../live/index.ts';
import type { Context } from '../observability/index.ts';
import type { Check } from '../observability/readiness.ts';
import { createBroker } from './embedded/index.ts';

export { Acknowledgements, Deliveries, Pubacks, replacementOf } from './acknowledgements.ts';

/** Later messages stay unacknowledged, and their senders send them again. */
const DRAIN_MS = 2000;

/** The embedded broker has closed its connections by then. */
const WILLS_MS = 1000;

export interface SourceDeps {
  /** null: no TLS */
  tls: OwnCertificate | null;
  handleMessage: HandleMessage;
  ingest: Pick<Ingest, 'room' | 'progress' | 'isStuck' | 'abort' | 'drain' | 'topics'>;
  accounts: Accounts;
  periods: Pick<Periods, 'unsettled' | 'keepAlive'>;
  onFatal: (error: Error) => void;
  /** missing: the embedded broker */
  openSource?: OpenSource | undefined;
}

/** Receives messages, and acknowledges each when `handleMessage` resolves. */
export interface Source {
  start: () => Promise<unknown>;
  send: (topic: string, payload: Buffer, retain?: boolean, waited?: number) => void;
  /** receives no further messages */
  quiesce: () => void;
  stop: () => Promise<void>;
  check: () => Check;
  followers: BrokerClients['followers'] | null;
  port: number;
}

export type OpenSource = (context: Context, deps: SourceDeps) => Source;

/** An orderly stop still sends every acknowledgement that is possible. */
export function createMessageSource(context: Context, deps: SourceDeps) {
  const { config, clock, logger, metrics } = context;
  const { tls, handleMessage, ingest, accounts, periods, openSource } = deps;
  const { progress } = ingest;
  const source: Source =
    openSource?.(context, deps) ??
    createBroker({
      mqtt: config.mqtt,
      tls,
      accounts,
      topics: ingest.topics,
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
      // Afterwards no failed request is repeated.
      await ingest.drain();
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
