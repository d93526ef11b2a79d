import { expect, test } from '@jest/globals';
import { offlineEntry } from '../../../../../web/features/stands-out/list.tsx';

test('What stands out: offline device: the number of its sensors is shown only after all sensors of the fleet are loaded', () => {
  const device = {
    id: 'a',
    name: 'a',
    site: null,
    presence: 'offline' as const,
    sensors: [],
    isInOrder: true,
  };
  expect(offlineEntry(device, false).text).toBe('');
  expect(offlineEntry(device, true).text).toBe('0 sensors');
});
