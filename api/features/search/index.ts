/** Sites, devices and sensors by any part of their names. */
import { defineFeature } from '../../feature.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';

export const searchFeature = defineFeature({ name: 'search', schemas: SCHEMAS, routes });
