import { describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { type Dashboard, SCREEN, useDashboard } from '../../support/web/dashboard.ts';
import { watchCanvasTexts } from '../../support/web/legibility.ts';

const SITES = ['Barn', 'Dairy', 'North Meadow', 'South Meadow'];

const deviceName = (number: number) => `meter-${number}`;
const sensorName = (number: number) => `probe-${number}`;

/**
 * Publishes devices at four sites, each with a value of each of its sensors.
 * @param fleet `sensors`: of each
 */
async function publishFleet(
  { announce, publish }: Pick<Dashboard, 'announce' | 'publish'>,
  { devices, sensors }: { devices: number; sensors: number },
) {
  const names = Array.from({ length: sensors }, (_, index) => sensorName(index + 1));
  const publishDevice = async (index: number) => {
    const device = deviceName(index + 1);
    await announce(device, {
      site: SITES[index % SITES.length],
      sensors: names.map((name) => ({ sensor_id: name, name, type: 'temperature', unit: 'Cel' })),
    });
    const ts = Date.now();
    await publish(
      device,
      names.map((name, sensor) => ({ sensor_id: name, ts, value: 20 + sensor / 10 })),
    );
  };
  await Promise.all(Array.from({ length: devices }, (_, index) => publishDevice(index)));
}

/** Opens a page on a screen of 4K, and notes what it writes on canvases. */
async function visitScreen(dashboard: Dashboard, path: string) {
  await watchCanvasTexts(dashboard.page);
  await dashboard.page.setViewportSize(SCREEN);
  await dashboard.visit(path);
}

async function untilWall({ page, paintedColors }: Dashboard, count: string) {
  await page.locator('.wall-counts b', { hasText: count }).waitFor();
  await until(async () => (await paintedColors('.wall-picture canvas')) > 1, {
    what: 'a wall that is drawn',
  });
}

const canvasTexts = ({ page }: Dashboard): Promise<string[]> =>
  page.evaluate(() => [...Reflect.get(window, 'canvasTexts').keys()]);

const fits = ({ page }: Dashboard): Promise<boolean> =>
  page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.wall, .wall-room')].every(
      (element) => element.scrollHeight <= element.clientHeight + 1,
    ),
  );

describe('25 sensors', () => {
  const dashboard = useDashboard({
    fill: (opened) => publishFleet(opened, { devices: 5, sensors: 5 }),
  });

  test.each([
    ['fleet', '/'],
    ['wall', '/?full'],
  ])(
    '4K screen: %s page of 25 sensors: cards have legible names, and nothing is wider than the screen',
    async (name, path) => {
      await visitScreen(dashboard, path);
      await untilWall(dashboard, '25 sensors');
      const names = [1, 2, 3, 4, 5].flatMap((number) => [deviceName(number), sensorName(number)]);
      await until(
        async () => {
          const drawn = await canvasTexts(dashboard);
          return names.every((text) => drawn.includes(text));
        },
        { what: 'cards with the names of all sensors and devices' },
      );
      await dashboard.lookAtScreen(`25-sensors-${name}`);
      if (name === 'wall') await until(() => fits(dashboard), { what: 'a wall that does not scroll' });
    },
  );

  test('4K screen: sensor page: chart axes are legible, and the sample table stands next to the chart', async () => {
    await visitScreen(dashboard, `/devices/${deviceName(1)}/sensors/${sensorName(1)}`);
    await dashboard.page.locator('table.samples tbody tr').first().waitFor();
    await until(async () => (await canvasTexts(dashboard)).length > 0, { what: 'axes with labels' });
    const [chart, table] = await Promise.all(
      ['.chart-panel', '.sample-panel'].map((part) => dashboard.page.locator(part).boundingBox()),
    );
    expect(Number(table?.x)).toBeGreaterThan(Number(chart?.x) + Number(chart?.width));
    await dashboard.lookAtScreen('sensor');
  });
});
