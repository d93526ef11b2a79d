import type { Feature } from '../../feature.ts';
import { SampleFiles } from './sample-files.tsx';

export const exportFeature: Feature = { name: 'export', slots: { sensorFiles: SampleFiles } };
