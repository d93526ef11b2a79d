import { expect, test } from '@jest/globals';
import { liveDevice, liveTopic, reachesLive, statsProcess, statsTopic } from '../../../api/live/messages.js';

test('Live topics: a topic: its device is read from it', () => {
  expect(liveTopic('d')).toBe('iot/live/d');
  expect(liveDevice(liveTopic('d'))).toBe('d');
});

test.each(['ingest-1', 'host:8080', 'plant/7', 'Lüftung +#'])(
  'figures of %s have a topic of ASCII',
  (process) => {
    const topic = statsTopic(process);
    expect(topic).toMatch(/^iot\/live\/stats\/[\x21-\x7e]+$/);
    expect(topic.split('/')).toHaveLength(4);
    expect(topic).not.toMatch(/[+#]/);
    expect(statsProcess(topic)).toBe(process);
  },
);

test('Live topics: a topic of no process: it is recognized', () => {
  expect(statsProcess(liveTopic('d'))).toBe(null);
  expect(statsProcess('iot/live/stats/%zz')).toBe('');
});

test.each(['#', '+/#', 'iot/#', 'iot/+/+', '+/+/+', '+/live/#', 'iot/live/#', 'iot/live/+', 'iot/live/d'])(
  '%s reaches live changes',
  (filter) => expect(reachesLive(filter)).toBe(true),
);

test.each(['iot/v1/#', 'iot/v1/+/status', 'spBv1.0/#', '$SYS/#', 'other/+/#', '+/v1/#'])(
  '%s does not',
  (filter) => expect(reachesLive(filter)).toBe(false),
);
