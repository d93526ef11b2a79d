import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { INSTALLATION_RIGHTS } from '../../../../api/features/credentials/command/mosquitto.ts';
import { RIGHTS } from '../../../../api/features/sparkplug/rights.ts';

test('Files for Mosquitto: a Sparkplug edge node: may write to its data topics and read its command topics', () => {
  expect(RIGHTS.device('plant/edge')).toEqual([
    'write spBv1.0/plant/NBIRTH/edge',
    'write spBv1.0/plant/NDATA/edge',
    'write spBv1.0/plant/NDEATH/edge',
    'write spBv1.0/plant/DBIRTH/edge/+',
    'write spBv1.0/plant/DDATA/edge/+',
    'write spBv1.0/plant/DDEATH/edge/+',
    'read spBv1.0/plant/NCMD/edge',
    'read spBv1.0/plant/DCMD/edge/+',
  ]);
});

test.each(['pump', '+', '#', 'a+b', 'a/b/c', 'plant/+', '+/edge', '/', 'plant/', '/edge'])(
  'Files for Mosquitto: device name %j is no edge node: no right on topics of edge nodes',
  (name) => expect(RIGHTS.device(name)).toEqual([]),
);

test('Files for Mosquitto: account of Millrace itself: the generated ACL and infra/mosquitto/mosquitto.acl grant the same permissions', () => {
  const [, ofMillrace = ''] = readFileSync('infra/mosquitto/mosquitto.acl', 'utf8').split('user millrace\n');
  const [block = ''] = ofMillrace.split('\n\n');
  const rights = [...INSTALLATION_RIGHTS, ...RIGHTS.installation.map((right) => `topic ${right}`)];
  expect(rights.sort()).toEqual(
    block
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .sort(),
  );
});
