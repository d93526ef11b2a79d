import { expect, test } from '@jest/globals';
import { fileName } from '../../../api/http/export/index.js';

const ids = { deviceId: 'd-id', sensorId: 's-id' };

test.each([
  [{ deviceName: 'furnace-1', name: 'core' }, 'furnace-1_core.csv'],
  [{ deviceName: 'Mühle 2', name: '温度' }, 'Mühle 2_温度.csv'],
  [{ deviceName: null, name: null }, 'd-id_s-id.csv'],
  [{ deviceName: '../../etc/passwd', name: 'a/b\\c' }, 'etc-passwd_a-b-c.csv'],
  [{ deviceName: '.hidden', name: 'x"; rm -rf $HOME' }, 'hidden_x- rm -rf -HOME.csv'],
  [{ deviceName: '\u202egpj', name: '...' }, 'gpj_-.csv'],
])('%j is called %s', (row, name) => expect(fileName({ ...ids, row }, 'csv')).toBe(name));

test('names as long as may be still fit a file system, and no character is cut in two', () => {
  const name = fileName({ ...ids, row: { deviceName: 'x'.repeat(128), name: '𝄞'.repeat(32) } }, 'ndjson');
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name).toBe(`${'x'.repeat(120)}_${'𝄞'.repeat(30)}.ndjson`);
});
