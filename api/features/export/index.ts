/** The samples of many sensors as one Parquet or Arrow file, or as a data set of Parquet files. */
import { defineFeature } from '../../feature.ts';
import { routes } from './routes.ts';

export const exportFeature = defineFeature({ name: 'export', routes });
