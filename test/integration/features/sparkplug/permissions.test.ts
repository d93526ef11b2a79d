import { expect, test } from '@jest/globals';
import { isTaken, trySubscribe, useCredentials } from '../../../support/features/credentials/index.ts';
import { useTestSystem } from '../../../support/system/use.ts';

const system = useTestSystem({
  settings: { MQTT_AUTH: 'true', MQTT_USERNAME: 'operator', MQTT_PASSWORD: 'the password of the operator' },
});
const credentials = useCredentials(system);

test('MQTT account of a Sparkplug edge node: may publish for its devices, and may subscribe only to its own commands', async () => {
  const edge = await credentials.connectAs('plant/edge-1');
  expect(await trySubscribe(edge, 'spBv1.0/plant/NCMD/edge-1')).toBe(true);
  expect(await trySubscribe(edge, 'spBv1.0/STATE/+')).toBe(true);
  for (const filter of ['spBv1.0/plant/NCMD/+', 'spBv1.0/plant/NCMD/edge-2', 'spBv1.0/#']) {
    expect(await trySubscribe(edge, filter)).toBe(false);
  }
  for (const topic of ['spBv1.0/plant/NDATA/edge-1', 'spBv1.0/plant/DDATA/edge-1/press']) {
    expect(await isTaken(edge, topic, 'no protobuf')).toBe(true);
  }
});
