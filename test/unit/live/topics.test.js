import { expect, test } from '@jest/globals';
import { liveDevice, liveTopic, reachesLive } from '../../../api/live/topics.js';

test('a topic says whose changes it carries', () => {
  expect(liveTopic('d')).toBe('iot/live/d');
  expect(liveDevice(liveTopic('d'))).toBe('d');
});

test.each(['#', '+/#', 'iot/#', 'iot/+/+', '+/+/+', '+/live/#', 'iot/live/#', 'iot/live/+', 'iot/live/d'])(
  '%s reaches live changes',
  (filter) => expect(reachesLive(filter)).toBe(true),
);

test.each(['iot/v1/#', 'iot/v1/+/status', 'spBv1.0/#', '$SYS/#', 'other/+/#', '+/v1/#'])(
  '%s does not',
  (filter) => expect(reachesLive(filter)).toBe(false),
);
