import { expect, test } from '@jest/globals';
import { SITES } from '../../support/simulator/small-fleet.js';
import { until } from '../../support/until.js';
import { useDashboard } from '../../support/web/dashboard.js';

const DEVICES = ['collar-1', 'collar-2', 'collar-3'];
const SENSORS = ['belly', 'ear', 'neck'];
const MINUTES = 5;
/** Number of sensors: those of `DEVICES`, and one that sent a single value. */
const ALL = DEVICES.length * SENSORS.length + 1;

/** An installation in its first minutes: one sample per second, and no history. */
const dashboard = useDashboard({
  async fill({ announce, publish }) {
    const end = Date.now();
    for (const [number, device] of DEVICES.entries()) {
      const sensors = SENSORS.map((name) => ({ sensor_id: name, name, type: 'temperature', unit: 'Cel' }));
      await announce(device, { site: SITES[number % 2], sensors });
      await publish(
        device,
        SENSORS.flatMap((sensor_id) =>
          Array.from({ length: 60 * MINUTES }, (_, step) => ({
            sensor_id,
            ts: end - (60 * MINUTES - step) * 1000,
            value: 38 + (step % 7) / 10,
          })),
        ),
      );
    }
    await publish('collar-2', { sensor_id: 'ear', ts: end, value: 60 });
    await publish('late', { sensor_id: 'ear', ts: end, value: 38 });
  },
});

const standsOut = () => dashboard.page.getByRole('region', { name: 'What stands out' });

test('Wall of sensors: five minutes of data: cells have colors, an outlier is listed, and a note names judgments provisional', async () => {
  await dashboard.visit('/');
  await standsOut()
    .getByText(`Provisional: ${ALL - 1} sensors are judged`)
    .waitFor();
  await standsOut()
    .getByRole('link', { name: /ear.*collar-2.*60/ })
    .waitFor();
  await until(async () => (await dashboard.paintedColors('.wall-picture canvas')) > 4, { what: 'colors' });
  await dashboard.lookAt('first-hour-wall');
  const { judged, provisional, outliers } = await dashboard.system.get('/outliers');
  expect({ judged, provisional, outliers }).toEqual({ judged: ALL - 1, provisional: ALL - 1, outliers: 1 });
});

test('Sensor page: five minutes of data: the baseline is marked as provisional; a single value: a note asks for 30 values', async () => {
  await dashboard.open({ timezoneId: 'Asia/Kolkata' });
  const baseline = () => dashboard.page.locator('.baseline');
  // A silent sensor is not judged.
  await dashboard.publish('collar-2', { sensor_id: 'ear', ts: Date.now(), value: 60 });
  await dashboard.publish('late', { sensor_id: 'ear', ts: Date.now(), value: 38 });
  await dashboard.visit('/devices/collar-2/sensors/ear');
  await baseline().getByText('provisional: judged by its last hours').waitFor();
  await baseline()
    .filter({ hasText: /^Far above its usual\s+38/ })
    .waitFor();
  await dashboard.lookAt('first-hour-sensor');
  await dashboard.visit('/devices/late/sensors/ear');
  await baseline().getByText('Not judged yet: that needs 30 values').waitFor();
  await dashboard.lookAt('first-hour-sensor-late');
});
