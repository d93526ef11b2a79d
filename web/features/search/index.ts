/** The search in the header: pages, devices, sensors and sites. */
import type { Feature } from '../../feature.ts';
import { Search } from './search.tsx';

export const searchFeature: Feature = { name: 'search', slots: { headerAction: Search } };
