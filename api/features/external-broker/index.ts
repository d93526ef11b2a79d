/** An external broker (setting `MQTT_URL`): messages arrive by a persistent session, and live changes by a connection of their own. */
import { defineFeature } from '../../feature.ts';
import { DRAIN } from './drain.ts';
import { createSubscriber } from './source/index.ts';
import { BrokerTransport } from './transport.ts';

export const externalBrokerFeature = defineFeature({
  name: 'external-broker',
  externalBroker: {
    openSource({ config, clock, logger }, { ingest: { topics }, handleMessage, periods, onFatal }) {
      return createSubscriber({
        mqtt: config.mqtt,
        parseTopic: topics.contract.parse,
        presence: topics.presence,
        subscriptions: topics.subscriptions,
        handleMessage,
        onInterrupted: topics.interrupt,
        clock,
        logger,
        onFatal,
        keepAliveMs: periods.keepAlive,
      });
    },
    openTransport: ({ config: { mqtt }, logger, metrics }, options) =>
      new BrokerTransport({ mqtt, logger, metrics, ...options }),
  },
  startMode: DRAIN,
});
