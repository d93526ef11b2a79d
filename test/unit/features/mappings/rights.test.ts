import { expect, test } from '@jest/globals';
import { Mappings, parseMappings } from '../../../../api/features/mappings/mappings.ts';
import { rightsOf } from '../../../../api/features/mappings/rights.ts';

const FILE = `mappings:
  - { name: farm, topic: 'farm/{device}/up', values: [{ pointer: /v }] }
  - { name: lines, topic: lines/+, device: { pointer: /id }, values: [{ pointer: /v }] }
  - { name: config, topic: 'config/{device}', describes: { unit: V, type: voltage } }
`;
const { installation, device } = rightsOf(new Mappings(parseMappings(FILE, 'mappings.yaml')));

test('Files for Mosquitto: mapped topics: the installation may read all of them', () => {
  expect(installation).toEqual(['read farm/+/up', 'read lines/+', 'read config/+']);
});

test('Files for Mosquitto: mapped topics whose level names the device: the device may write to them', () => {
  expect(device?.('pump')).toEqual(['write farm/pump/up', 'write config/pump']);
});

test.each(['+', '#', 'a+b', 'a/b/c', 'plant/edge', '/', 'pump ', ' pump'])(
  'Files for Mosquitto: device name %j is no level of a topic, or Mosquitto trims it: no right on mapped topics',
  (name) => expect(device?.(name)).toEqual([]),
);
