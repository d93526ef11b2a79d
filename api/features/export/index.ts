/** Samples and lists as files: CSV, NDJSON, Parquet and Arrow of a sensor, of many sensors, or as a data set. */
import { defineFeature } from '../../feature.ts';
import { counted } from '../../observability/index.ts';
import { FORMATS } from './formats.ts';
import { routes } from './routes.ts';

export const exportFeature = defineFeature({
  name: 'export',
  routes,
  formats: FORMATS,
  create: ({ context: { metrics } }) => ({
    deps: {
      exportedSamples: counted(
        metrics.declare.counter(
          'iot_export_samples_total',
          'Samples that left in exports, by format',
          'format',
        ),
        'format',
        ['csv', 'ndjson', 'parquet', 'arrow'],
      ),
    },
  }),
});
