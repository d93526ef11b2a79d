/** A guide to the first measurement, while the fleet is empty. */
import type { Feature } from '../../feature.ts';
import { FirstSteps } from './first-steps.tsx';

export const firstStepsFeature: Feature = { name: 'first-steps', slots: { emptyFleet: FirstSteps } };
