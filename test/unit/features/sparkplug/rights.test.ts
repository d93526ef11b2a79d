import { expect, test } from '@jest/globals';
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
