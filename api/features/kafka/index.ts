/** Streams every committed block to Kafka (setting `STREAM_KAFKA`). */
import { KAFKA_SETTINGS } from '../../../schema/kafka/index.ts';
import { defineFeature } from '../../feature.ts';
import { createStreamStore } from './store.ts';

/** `stream`: interval of the check for closed hours whose records in Kafka are incomplete */
const PERIODS_MS = { stream: 10_000 };

export const kafkaFeature = defineFeature({
  name: 'kafka',
  settings: [KAFKA_SETTINGS],
  announces: (config) => config.of(KAFKA_SETTINGS).kafka !== null,
  async create(core) {
    const {
      context: { config, periodsOf },
      store,
      health: { clockGuard },
      ingest,
      publishing: { announced },
    } = core;
    const settings = config.of(KAFKA_SETTINGS);
    const stored = createStreamStore(store.session);
    const streamedUntil = () =>
      Promise.all(Array.from({ length: store.groups }, (_, group) => stored.streamedUntil(group)));
    if (!settings.kafka) return { streamedUntil };
    // Only processes with this setting load the client of Kafka.
    const { StreamOut } = await import('./stream-out.ts');
    const streamOut = new StreamOut(core.context, {
      store,
      clockGuard,
      isPressed: store.health.isPressed,
      outbox: ingest.outbox,
      announced,
      pauseMs: periodsOf(PERIODS_MS).stream,
    });
    store.write.observeBlocks(streamOut.blocks);
    return {
      streamedUntil,
      onCommitted: settings.latest ? streamOut.noteLatest : undefined,
      onRetired(_identity, device) {
        if (device) streamOut.removeLatest(device);
      },
      beat: () => ({ stream: streamOut.state() }),
      async start() {
        await streamOut.begin();
        streamOut.start({ completes: config.role !== 'http' });
      },
      stop: () => streamOut.stop(),
    };
  },
});
