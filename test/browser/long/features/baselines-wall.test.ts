import { describe, expect, test } from '@jest/globals';
import { writeSmallFleetUsual } from '../../../support/features/baselines-small-fleet.ts';
import {
  DEVICES,
  publishNewSamples,
  publishSmallFleet,
  SENSORS,
} from '../../../support/simulator/small-fleet.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const HOUR_MS = 3_600_000;
/** Number of cells: the sensors of `publishSmallFleet`, and the three sensors below. */
const ALL = DEVICES.length * SENSORS.length + 3;

const dashboard = useDashboard({
  system: { periods: { baselines: 200 } },
  async fill(opened) {
    await publishSmallFleet(opened);
    await writeSmallFleetUsual(opened);
    await opened.announce('gone-1', {
      site: 'Barn',
      sensors: [{ sensor_id: 'ear', name: 'ear', type: 'temperature' }],
    });
    await opened.publish('gone-1', { sensor_id: 'ear', ts: Date.now(), value: 38 });
    await opened.client.publishAsync('iot/v1/gone-1/status', 'offline', { qos: 1 });
    await opened.announce('quiet-1', {
      sensors: [{ sensor_id: 'ear', name: 'ear', type: 'temperature', interval_ms: 1000 }],
    });
    await opened.publish('quiet-1', { sensor_id: 'ear', ts: Date.now() - HOUR_MS, value: 38 });
    await opened.announce('quiet-2', {
      site: 'Barn',
      sensors: [{ sensor_id: 'ear', name: 'ear', type: 'temperature' }],
    });
  },
});

const wall = () => dashboard.page.getByRole('application', { name: /All sensors/ });
const card = () => dashboard.page.locator('.wall-card');
const standsOut = () => dashboard.page.getByRole('region', { name: 'What stands out' });

async function visit(path: string = '/') {
  await dashboard.visit(path);
  await dashboard.page.locator('.wall-counts').getByText(`${ALL} sensors`).waitFor();
  await until(async () => (await dashboard.paintedColors('.wall-picture canvas')) > 4, {
    what: 'a wall that is drawn',
  });
}

async function walkTo(text: RegExp) {
  await wall().focus();
  await dashboard.page.keyboard.press('Home');
  for (let steps = 0; steps < ALL; steps += 1) {
    if (text.test((await card().textContent()) ?? '')) return;
    await dashboard.page.keyboard.press('PageDown');
  }
  throw new Error(`no device's first cell matches ${text}`);
}

describe('Wall', () => {
  test('Wall of sensors: keyboard only: the cursor reaches a sensor, and Enter opens the page of that sensor', async () => {
    await visit();
    await wall().focus();
    await dashboard.page.keyboard.press('End');
    await card().getByText('quiet-1').waitFor();
    await dashboard.page.keyboard.press('Home');
    await card().getByText('gone-1').waitFor();
    await dashboard.page.keyboard.press('PageDown');
    await card().getByText('quiet-2').waitFor();
    await walkTo(/ambient\s*collar-1/);
    await dashboard.page.keyboard.press('ArrowRight');
    const name = await card().locator('.wall-card-name b').textContent();
    expect(name).not.toBe('ambient');
    expect(await dashboard.page.locator('.wall-picture [role=status]').textContent()).toContain(
      `${name} of collar-1`,
    );
    await dashboard.page.keyboard.press('Enter');
    await dashboard.page.getByRole('heading', { name: String(name), level: 1 }).waitFor();
  });

  test('Wall of sensors: button Full screen: full screen can be left by a button, and no accessibility rule is violated', async () => {
    await publishNewSamples(dashboard);
    await visit();
    await standsOut()
      .getByRole('link', { name: /Silent 1/ })
      .waitFor();
    await dashboard.lookAt('wall');
    await dashboard.page.getByRole('button', { name: 'Full screen' }).click();
    await dashboard.page.getByRole('button', { name: 'Leave full screen' }).waitFor();
    await dashboard.expectAccessible();
  });
});
