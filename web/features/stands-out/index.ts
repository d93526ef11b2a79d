/** The list next to the wall: offline devices, silent sensors, and entries of other features. */
import type { Feature } from '../../feature.ts';
import { StandsOutNextToWall } from './list.tsx';

export const standsOutFeature: Feature = { name: 'stands-out', slots: { wallSide: StandsOutNextToWall } };
