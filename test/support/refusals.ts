import type { Dashboard } from './web/dashboard.ts';

/** A payload that runs code if it is not shown as text, and hides characters if they are not escaped. */
const HOSTILE =
  '[{"sensor_id":"<img src=x onerror=alert(1)>","value":"</pre><script>alert(2)</script>\u202e","note":"\u0007"}]';

/** SenML as CBOR: `[{n: "t", v: "hot"}, {n: "u", v: 1}]`. */
const SENML_CBOR = Buffer.from('82a20061740263686f74a20061750201', 'hex');

/** Bytes that are no valid payload in any format. */
const NOISE = Buffer.from('00ff13374142', 'hex');

const HOUR_MS = 3_600_000;

/** Publishes measurements that are refused for many reasons, next to valid ones. */
export async function publishRefusals({ announce, client, publish }: Dashboard) {
  const sensors = [{ sensor_id: 'inside', type: 'temperature', unit: 'Cel' }];
  await announce('furnace', { site: 'Works', sensors });
  const now = Date.now();
  const good = { sensor_id: 'inside', ts: now, value: 812.5 };
  await publish('furnace', [good, { ...good, value: 'hot' }, { ...good, ts: 'noon' }]);
  await publish('furnace', [{ ...good, ts: now + HOUR_MS }]);
  await publish('furnace', [{ ...good, ts: 1 }, { ...good, ts: 2 }, good]);
  const many = Array.from({ length: 140 }, (_, i) => ({ ...good, ts: now - i, value: i % 7 ? null : i }));
  await publish('oven', many);
  for (const [device, payload] of [
    ['furnace', HOSTILE],
    ['mill', SENML_CBOR],
    ['mill', NOISE],
    ['mill', '{"sensor_id": "x", "value": NaN}'],
    ['long', `[{"value": 1}]${' '.repeat(70_000)}`],
  ] as const) {
    await client.publishAsync(`iot/v1/${device}/measurements`, payload, { qos: 1 });
  }
}
