/** Writes finished days as Parquet files (setting `STREAM_PARQUET`). */
import { defineFeature } from '../../feature.ts';
import { PARQUET_SETTINGS } from './settings.ts';

/** `stream`: interval of the check for finished days whose files are incomplete */
const PERIODS_MS = { stream: 10_000 };

export const parquetFeature = defineFeature({
  name: 'parquet',
  settings: [PARQUET_SETTINGS],
  async create(core) {
    const {
      context: { config, periodsOf },
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
      pauseMs: periodsOf(PERIODS_MS).stream,
    });
  },
});
