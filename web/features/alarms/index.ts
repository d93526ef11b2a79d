/** Alarm rules, open alarms and their marks on devices, charts and the wall. */
import type { Feature } from '../../feature.ts';
import { AlarmMark, OpenAlarms, RuleButton, UnreadAlarms } from './marks.tsx';
import { ALARM_EVENT } from './open-alarms.ts';
import { AlarmMarks, AlarmsOnWall, useOpenCount } from './wall.tsx';

export const alarmsFeature: Feature = {
  name: 'alarms',
  page: {
    label: 'Alarms',
    words: 'rules alerts notifications',
    place: 'navigation',
    load: () => import('./alarms.tsx').then(({ AlarmsView }) => AlarmsView),
    Badge: OpenAlarms,
  },
  events: [ALARM_EVENT],
  slots: {
    deviceNote: UnreadAlarms,
    deviceMark: AlarmMark,
    sensorButton: RuleButton,
    wallMarks: AlarmMarks,
  },
  standsOut: {
    isFirst: true,
    isFault: false,
    useCount: useOpenCount,
    reading: 'Reading the open alarms…',
    List: AlarmsOnWall,
  },
  details: () => import('./bands.tsx'),
};
