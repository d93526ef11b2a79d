/** Marks newest values that are unusual for the hour, and ranks the sensors of a large fleet. */
import type { Feature } from '../../feature.ts';
import { describe, judge, nothingFar, OLD_VALUES } from './deviation.ts';
import { FarOff, Legend, useFarCount } from './far-off.tsx';
import { GroupWall, groupingOf, Ranking } from './group-wall.tsx';

export const baselinesFeature: Feature = {
  name: 'baselines',
  judgment: {
    judge,
    describe,
    calm: { old: OLD_VALUES, textOf: nothingFar },
    Legend,
    groupingOf,
    GroupWall,
    Ranking,
  },
  standsOut: { isFault: true, useCount: useFarCount, List: FarOff },
  details: () => import('./note.tsx'),
};
