/** Writes finished days as Parquet files (setting `STREAM_PARQUET`). */
import { defineFeature } from '../../feature.ts';
import { PARQUET_SETTINGS } from './settings.ts';

export const parquetFeature = defineFeature({
  name: 'parquet',
  settings: [PARQUET_SETTINGS],
  async create(core) {
    const {
      context: { config, periods },
      store,
      health: { clockGuard },
    } = core;
    const { place } = config.of(PARQUET_SETTINGS);
    if (config.role === 'http' || !place) return {};
    const { createParquetOut } = await import('./parquet-out.ts');
    return createParquetOut(core.context, {
      place,
      store,
      clockGuard,
      isPressed: store.health.isPressed,
      pauseMs: periods.stream,
    });
  },
});
