import { expect, test } from '@jest/globals';
import { announcementOf } from '../../../../api/features/alarms/announced.ts';
import type { Alarm } from '../../../../api/features/alarms/store/episodes.ts';
import { uuidText } from '../../../../schema/ids.ts';

const START = Date.UTC(2026, 10, 21, 12);

const ALARM: Alarm = {
  ...{ device: Buffer.alloc(16, 1), sensor: Buffer.alloc(16, 2), rule: Buffer.alloc(16, 3), start: START },
  ...{ opened: START, cleared: null, peak: 1.5, version: 1, ruleName: 'hot', severity: 'critical' },
  ...{ deviceName: 'pump', sensorName: 'flow', site: null, condition: 'above', unit: 'l/s' },
  ...{ late: false, withdrawn: false, acknowledgedAt: null, acknowledgedBy: null },
  ...{ comment: null, shelvedUntil: null },
};

test('Announcement of an alarm: content: it names the alarm, and its key is the device', () => {
  const { kind, id, item } = announcementOf(ALARM, 'opened', 4) as Extract<
    ReturnType<typeof announcementOf>,
    { item: unknown }
  >;
  expect(kind).toBe('alarm');
  expect(item.key).toBe(uuidText(ALARM.device));
  expect(item.content).toMatchObject({ id, event: 'opened', rule: 'hot', state: 'open', started_at: START });
  for (const name of item.times) expect(Object.keys(item.content)).toContain(name);
});
