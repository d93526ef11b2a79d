/** A page of refused messages, with their replay. Marks on devices and the wall lead to it. */
import type { Feature } from '../../feature.ts';
import { MissingDeviceRefusals, RecentDeadLetters, RefusalMark, UnmatchedHint } from './marks.tsx';
import { RefusedDevices, RefusedLegend, RefusedMarks, useRefusedCount } from './wall.tsx';

export const deadLettersFeature: Feature = {
  name: 'dead-letters',
  page: {
    label: 'Dead letters',
    words: 'refused errors replay',
    place: 'navigation',
    load: () => import('./dead-letters.tsx').then(({ DeadLettersView }) => DeadLettersView),
    Badge: RecentDeadLetters,
  },
  refusalsHref: '/dead-letters',
  slots: {
    deviceMark: RefusalMark,
    missingDevice: MissingDeviceRefusals,
    emptyFleet: UnmatchedHint,
    wallMarks: RefusedMarks,
    wallLegend: RefusedLegend,
  },
  standsOut: { isFault: true, useCount: useRefusedCount, List: RefusedDevices },
};
