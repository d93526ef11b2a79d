import { beforeAll, expect, test } from '@jest/globals';
import { identifyDevice, identifySensor } from '../../../schema/ids.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { useTestSystem } from '../../support/system/use.ts';

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const TS = Date.now() - 1000;

/** Names of devices and sensors. The name of a device in a topic has no slash. */
const NAMES = [
  ['cow', 'pulse'],
  ['cow', 'body/left/%2F'],
  ['Kuh 7', 'Körper Temperatur'],
  ['牛', '体温 ❤️'],
  ['100%', 'a?b&c=d+e;f'],
  [UUID, UUID],
  [UUID.toUpperCase(), UUID.toUpperCase()],
  ['x'.repeat(128), 'é'.repeat(64)],
  ['..', '.'],
];

const system = useTestSystem();
beforeAll(async () => {
  const device = await connectDevice(system);
  for (const [index, [name = '', sensor = '']] of NAMES.entries()) {
    await device.measure(name, [{ sensor_id: sensor, ts: TS, value: index }]);
  }
  await device.end();
});

/** @param path below /api/v1, as sent */
const ask = (path: string) => send(system.httpUrl, `/api/v1${path}`);

test.each(NAMES.map(([device = '', sensor = ''], index) => ({ device, sensor, index })))(
  'API path: device $device, sensor $sensor: found by name and by id',
  async ({ device, sensor, index }) => {
    const deviceId = String(identifyDevice(device)?.id);
    const sensorId = String(identifySensor(deviceId, sensor)?.id);
    for (const deviceTerm of [deviceId, encodeURIComponent(device)]) {
      for (const sensorTerm of [sensorId, encodeURIComponent(sensor)]) {
        const path = `/devices/${deviceTerm}/sensors/${sensorTerm}`;
        const answer = await ask(path);
        expect(answer.status).toBe(200);
        expect(JSON.parse(answer.text)).toMatchObject({
          device_id: deviceId,
          sensor_id: sensorId,
          value: index,
        });
        const raw = await ask(`${path}/measurements?from=${TS}`);
        expect(JSON.parse(raw.text).items).toEqual([{ ts: new Date(TS).toISOString(), value: index }]);
      }
      expect(JSON.parse((await ask(`/devices/${deviceTerm}`)).text)).toMatchObject({ device_id: deviceId });
      const { items } = JSON.parse((await ask(`/latest?device=${deviceTerm}`)).text);
      expect(items).toContainEqual(expect.objectContaining({ device_id: deviceId, sensor_id: sensorId }));
    }
  },
);

test.each([
  '/devices/nobody',
  `/devices/${UUID.replace('0', 'f')}`,
  '/devices/nobody/sensors/pulse',
  '/devices/cow/sensors/nothing',
  '/devices/cow/sensors/nothing/measurements',
  // This sensor belongs to another device.
  `/devices/cow/sensors/${UUID}`,
])('GET %s: unknown device or sensor: answers 404', async (path) => {
  expectProblem(await ask(path), 404, 'not_found');
});
