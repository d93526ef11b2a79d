/** Writes finished days as Parquet files (setting `STREAM_PARQUET`). */
import { defineFeature } from '../../feature.ts';

export const parquetFeature = defineFeature({
  name: 'parquet',
  async create(core) {
    const { config, store, clockGuard, periods } = core;
    if (config.role === 'http' || !config.stream.parquet) return {};
    const { createParquetOut } = await import('./parquet-out.ts');
    return createParquetOut(core, {
      store,
      clockGuard,
      isPressed: store.health.isPressed,
      pauseMs: periods.stream,
    });
  },
});
