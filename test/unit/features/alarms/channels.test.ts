import { expect, test } from '@jest/globals';
import { readAlarm } from '../../../../api/features/alarms/channels.ts';

test('Live alarms: a message from the broker: only its known members are passed on; without an alarm it is refused', () => {
  const message = { event: 'opened', alarm: { alarm_id: 'a' } };
  expect(readAlarm({ ...message, more: 1 } as object)).toEqual(message);
  expect(readAlarm({ event: 'opened' })).toBeNull();
  expect(readAlarm({ alarm: { alarm_id: 'a' } })).toBeNull();
});
