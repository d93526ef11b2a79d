/** Streams every committed block to Kafka (setting `STREAM_KAFKA`). */
import { defineFeature } from '../../feature.ts';

export const kafkaFeature = defineFeature({
  name: 'kafka',
  async create(core) {
    const { config, store, clockGuard, ingest, announced, periods } = core;
    if (!config.stream.kafka) return {};
    // Only processes with this setting load the client of Kafka.
    const { StreamOut } = await import('./stream-out.ts');
    const streamOut = new StreamOut(core, {
      store,
      clockGuard,
      isPressed: store.health.isPressed,
      outbox: ingest.outbox,
      announced,
      pauseMs: periods.stream,
    });
    store.write.observeBlocks(streamOut.blocks);
    return {
      onCommitted: config.stream.latest ? streamOut.noteLatest : undefined,
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
