import { expect, test } from '@jest/globals';
import { fileName } from '../../../../api/features/export/samples.ts';

const ids = { deviceId: 'd-id', sensorId: 's-id' };

test.each([
  [{ deviceName: 'oven-1', name: 'core' }, 'oven-1_core.csv'],
  [{ deviceName: 'Mühle 2', name: '温度' }, 'Mühle 2_温度.csv'],
  [{ deviceName: null, name: null }, 'd-id_s-id.csv'],
  [{ deviceName: '../../etc/passwd', name: 'a/b\\c' }, 'etc-passwd_a-b-c.csv'],
  [{ deviceName: '.hidden', name: 'x"; rm -rf $HOME' }, 'hidden_x- rm -rf -HOME.csv'],
  [{ deviceName: '\u202egpj', name: '...' }, 'gpj_-.csv'],
])('Export of %j: file name %s', (row, name) => expect(fileName({ ...ids, row }, 'csv')).toBe(name));

test('File name of an export: longest device and sensor names: at most 255 bytes, and no character is split', () => {
  const name = fileName({ ...ids, row: { deviceName: 'x'.repeat(128), name: '𝄞'.repeat(32) } }, 'ndjson');
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name).toBe(`${'x'.repeat(120)}_${'𝄞'.repeat(30)}.ndjson`);
});
