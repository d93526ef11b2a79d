import { expect, test } from '@jest/globals';
import {
  groupOf,
  identifyDevice,
  identifySensor,
  isName,
  NS,
  uuidBytes,
  uuidText,
} from '../../../schema/ids.ts';

const NIL = '00000000-0000-0000-0000-000000000000';

// The expected values are those of Python: uuid.uuid5(uuid.UUID(NS), name), then uuid.uuid5(device, 'temperature').
test.each([
  ['collar-0001', 'a36cb3c5-2107-5d2a-9ce6-044505754689', '83e00b84-0b8a-55a5-8400-070a94a344bd'],
  ['a', '7ad89d8f-92c4-524f-ae4f-a852eff3813d', '23f5a57f-b71c-5c86-880a-e18a7484894f'],
  ['Größe ☃', 'd8a7e279-64fb-5146-9f60-bcaea22692da', '126041dc-06d7-5e0d-9af4-a82a83c20462'],
  ['x'.repeat(128), '3e037d56-df8a-5f20-b3b6-f7b097d06221', '81b8eac2-6e1b-5dbb-81a4-a954e819a886'],
  ['plant7/line3/press-12', 'c6a196ea-0e17-5574-bcf8-cdeb803aefaf', 'c9937d3e-131e-58c6-8524-b396d345d37b'],
])('Ids: name %s: ids of device and sensor equal those of uuid5 in Python', (name, deviceId, sensorId) => {
  expect(identifyDevice(name)).toEqual({ id: deviceId, bytes: uuidBytes(deviceId), name });
  expect(identifySensor(deviceId, 'temperature')?.id).toBe(sensorId);
});

test('Ids: namespace UUID: unchanged, because all stored ids depend on it', () => {
  expect(NS).toBe('6f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44');
});

test.each([
  ['of version 4', '9b2e5a34-6c1f-4d8e-8f3a-2b7c9d0e1f2a'],
  ['of nothing but zeros', NIL],
  ['of nothing but ones', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ['of no version and variant that RFC 9562 knows', '12345678-1234-0234-0234-123456789abc'],
])('Ids: a device name is a lower-case UUID %s: the UUID is the id', (_, id) => {
  expect(identifyDevice(id)).toEqual({ id, bytes: uuidBytes(id), name: null });
  expect(identifySensor(NIL, id)).toEqual({ id, bytes: uuidBytes(id), name: null });
  expect(uuidText(uuidBytes(id))).toBe(id);
});

test('Ids: the device name is a UUID, the sensor name is not: the sensor id is a uuid5 of its name', () => {
  expect(identifySensor('00000000-0000-0000-0000-000000000001', 'temperature')?.id).toBe(
    'ecfa8e51-4c26-5068-bdd7-7ae480e83305',
  );
});

test.each([
  ['in upper case', '0F1C2F3E-52A4-4D0B-9A57-1D0C3B7E8A44', '7876ddca-1bc6-5c7d-9646-42a0dd86b59b'],
  ['without hyphens', '0f1c2f3e52a44d0b9a571d0c3b7e8a44', undefined],
  ['in braces', '{0f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44}', undefined],
  ['with a space', '0f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44 ', undefined],
])('Ids: a UUID %s: treated as a name, not as an id', (_, text, id) => {
  expect(identifyDevice(text)?.name).toBe(text);
  if (id) expect(identifyDevice(text)?.id).toBe(id);
});

test.each([
  ['128 bytes', 'x'.repeat(128)],
  ['128 bytes of two-byte characters', 'ü'.repeat(64)],
  ['a surrogate pair', '🐄'],
  ['spaces around', ' a '],
  ['characters of MQTT topics', 'a/b+c#d'],
  ['invisible characters', '\u200b\u2060'],
])('Ids: a name with %s: accepted unchanged', (_, name) => {
  expect(isName(name)).toBe(true);
  expect(identifyDevice(name)?.name).toBe(name);
});

test.each([
  ['an empty string', ''],
  ['129 bytes', 'x'.repeat(129)],
  ['65 characters of two bytes', 'ü'.repeat(65)],
  ['NUL', 'a\0'],
  ['a line break', 'a\nb'],
  ['DEL', '\u007f'],
  ['a C1 control', '\u0085'],
  ['a byte order mark', '\ufeffa'],
  ['a byte order mark in the wrong order', 'a\ufffe'],
  ['the replacement character', 'K\ufffdche'],
  ['half a surrogate pair', 'a\ud83d'],
  ['the second half of a surrogate pair', '\udc04a'],
  ['a number', 7],
  ['null', null],
  ['undefined', undefined],
  ['an object with toString', { toString: () => 'a' }],
  ['a list of one name', ['a']],
])('Ids: %s as the name of a device or sensor: refused', (_, text) => {
  expect(isName(text)).toBe(false);
  expect(identifyDevice(text)).toBeNull();
  expect(identifySensor(NIL, text)).toBeNull();
});

// The expected values are those of Python: int.from_bytes(hashlib.sha256(device.bytes).digest()[:4], 'big') % groups.
test.each([
  [NIL, 15, 63],
  ['00000000-0000-0000-0000-000000000001', 0, 16],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', 4, 20],
  ['a36cb3c5-2107-5d2a-9ce6-044505754689', 13, 61],
])('Partition group of a device: id %s: group %p of 16, and group %p of 64', (id, of16, of64) => {
  expect(groupOf(uuidBytes(id), 1)).toBe(0);
  expect(groupOf(uuidBytes(id), 16)).toBe(of16);
  expect(groupOf(uuidBytes(id), 64)).toBe(of64);
});

test.each([
  ['names that count upwards', (i: number) => identifyDevice(`collar-${i}`)?.id],
  ['ids that count upwards', (i: number) => `${NIL.slice(0, -8)}${i.toString(16).padStart(8, '0')}`],
])('Partition group of a device: %s: spread evenly over 16 groups', (_, idOf) => {
  const groups = 16;
  const each = 500;
  const sizes = new Array(groups).fill(0);
  for (let i = 0; i < groups * each; i++) sizes[groupOf(uuidBytes(String(idOf(i))), groups)]++;
  // Five standard deviations of a fair spread; the ids are fixed, so this passes always or never.
  expect(Math.max(...sizes.map((size) => Math.abs(size - each)))).toBeLessThan(5 * Math.sqrt(each));
});
