import { expect, test } from '@jest/globals';
import { send } from '../../support/http/index.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();
const device = useDevice(system);

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/;
const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) \S/;

async function scrape(): Promise<Array<{ name: string; labels: string; value: number }>> {
  const { headers, text } = await send(system.httpUrl, '/metrics');
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(text.endsWith('\n')).toBe(true);
  const samples = [];
  const typed = new Set();
  for (const line of text.split('\n').filter(Boolean)) {
    if (line.startsWith('#')) {
      expect(line).toMatch(COMMENT);
      const [, kind, name] = COMMENT.exec(line) as RegExpExecArray;
      if (kind === 'TYPE') typed.add(name);
      continue;
    }
    expect(line).toMatch(SAMPLE);
    const [, name = '', labels = '', value] = SAMPLE.exec(line) as RegExpExecArray;
    expect([name, name.replace(/_(bucket|sum|count)$/, '')].some((one) => typed.has(one))).toBe(true);
    samples.push({ name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) });
  }
  return samples;
}

const routes = (samples: Array<{ labels: string }>) =>
  new Set(samples.flatMap(({ labels }) => /route="([^"]*)"/.exec(labels)?.slice(1) ?? []));

test('GET /metrics: more devices and requests: the number of time series stays the same', async () => {
  async function visit(from: number) {
    for (let d = from; d < from + 5; d++) {
      await device.measure(`cow-${d}`, [{ sensor_id: `s${d}`, ts: Date.now(), value: d }]);
      for (const path of [
        `/api/v1/devices/cow-${d}`,
        `/api/v1/devices/nobody-${d}`,
        `/api/v1/devices/cow-${d}/sensors/s${d}`,
        `/api/v1/devices/cow-${d}/sensors/s${d}/measurements?limit=0`,
        `/api/v1/nothing-${d}`,
        `/devices/cow-${d}`,
        `/nothing-${d}`,
        `/%zz${d}`,
      ]) {
        await send(system.httpUrl, path);
      }
      await send(system.httpUrl, `/api/v1/devices/cow-${d}`, { method: 'DELETE' });
    }
    await send(system.httpUrl, '/metrics');
    return scrape();
  }
  const before = await visit(0);
  const after = await visit(5);
  expect(after.filter(({ name }) => name.startsWith('iot_')).length).toBe(
    before.filter(({ name }) => name.startsWith('iot_')).length,
  );
  expect([...routes(after)].sort()).toEqual([
    '/api/v1/devices/:device',
    '/api/v1/devices/:device/sensors/:sensor',
    '/api/v1/devices/:device/sensors/:sensor/measurements',
    '/metrics',
    'other',
  ]);
});
