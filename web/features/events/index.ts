/** Births, online and offline events of a device, as a list and as a band above its charts. */
import type { Feature } from '../../feature.ts';

export const eventsFeature: Feature = { name: 'events', details: () => import('./panel.tsx') };
