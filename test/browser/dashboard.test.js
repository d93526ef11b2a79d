import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import mqtt from 'mqtt';
import { startBrowser } from '../support/browser.js';
import { startTestSystem } from '../support/system.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

const SCREENSHOTS = fileURLToPath(new URL('../../.data/screenshots/', import.meta.url));
const PAGE_ROWS = 25;
const SITES = ['North Meadow', 'South Meadow'];
const DEVICES = ['collar-1', 'collar-2', 'collar-3', 'collar-4'];
const SENSORS = ['ambient', 'belly', 'ear', 'hoof', 'muzzle', 'neck', 'rib', 'tail'];
const SAMPLES = 120;

/** @type {import('../support/system.js').TestSystem} */
let system;
/** @type {import('../support/browser.js').TestBrowser} */
let browser;
/** @type {import('mqtt').MqttClient} */
let client;
/** @type {import('../support/browser.js').OpenPage} */
let opened;
/** @type {import('playwright-core').Page} */
let page;

/** Half of the sensors of each device measure a temperature, half a pulse. @param {number} index */
const typeOf = (index) => (index % 2 === 0 ? 'temperature' : 'pulse');

/** @param {string} device @param {Record<string, unknown> | Record<string, unknown>[]} measurements */
const publish = (device, measurements) =>
  client.publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(measurements), { qos: 1 });

beforeAll(async () => {
  await mkdir(SCREENSHOTS, { recursive: true });
  system = await startTestSystem();
  browser = await startBrowser();
  client = await mqtt.connectAsync(system.mqttUrl);
  for (const [number, device] of DEVICES.entries()) {
    const sensors = SENSORS.map((name, index) => ({
      sensor_id: name,
      name,
      type: typeOf(index),
      unit: typeOf(index) === 'pulse' ? 'beat/min' : 'Cel',
      interval_ms: 1000,
    }));
    const birth = { session: Date.now(), name: device, site: SITES[number % 2], sensors };
    await client.publishAsync(`iot/v1/${device}/birth`, JSON.stringify(birth), { qos: 1 });
    await publish(device, history());
  }
});

/** Two minutes of every sensor, up to now. */
function history() {
  const end = Math.floor(Date.now() / 1000) * 1000;
  return SENSORS.flatMap((sensor_id, index) =>
    Array.from({ length: SAMPLES }, (_, step) => ({
      sensor_id,
      ts: end - (SAMPLES - 1 - step) * 1000,
      value: typeOf(index) === 'pulse' ? 70 + (step % 9) : 38 + Math.round(100 * Math.sin(step / 12)) / 100,
    })),
  );
}

afterAll(async () => {
  await client?.endAsync(true);
  await browser?.stop();
  await system?.stop();
});

beforeEach(async () => {
  opened = await browser.open();
  page = opened.page;
});

afterEach(async () => {
  const { complaints } = opened;
  await opened.close();
  expect(complaints).toEqual([]);
});

/** @param {string} path */
const visit = (path) => page.goto(system.httpUrl + path);
const rows = () => page.locator('table.sensors tbody tr:not(.waiting)');
/** @param {string} device @param {string} sensor */
const rowOf = (device, sensor) => rows().filter({ hasText: device }).filter({ hasText: sensor });
/** @param {number} count */
const untilRows = (count) => until(async () => (await rows().count()) === count, { what: `${count} rows` });
/** @param {import('playwright-core').Locator} locator */
const textOf = async (locator) => (await locator.textContent()) ?? '';
/** @param {string} name */
const screenshot = (name) => page.screenshot({ path: `${SCREENSHOTS}${name}.png`, fullPage: true });
/** @returns {Promise<string[]>} which sensors the page shows */
const shown = () =>
  rows()
    .locator('a.row-link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));

describe('the fleet', () => {
  test('shows the latest values under the figures of the pipeline', async () => {
    await visit('/');
    await untilRows(PAGE_ROWS);
    await page
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    const row = rows().first();
    expect(await textOf(row.locator('.value'))).toMatch(/^\d+(\.\d+)?\s*(°C|bpm)$/);
    expect(await textOf(row.locator('.age'))).toMatch(/^(now|\d+ (s|min))$/);
    const figures = page.getByLabel('The pipeline now');
    await until(async () => /Samples stored\s*\d/.test(await textOf(figures)), { what: 'figures' });
    expect(await textOf(figures)).toMatch(/Time to commit[\s\S]*ms p50[\s\S]*In flight[\s\S]*Refused\s*0/);
  });

  test('a value published by MQTT shows in its row by itself', async () => {
    await visit('/?name=belly');
    await untilRows(DEVICES.length);
    await publish('collar-2', { sensor_id: 'belly', ts: Date.now() + 1000, value: 123 });
    await rowOf('collar-2', 'belly').getByText('123', { exact: true }).waitFor();
    expect(await textOf(rowOf('collar-3', 'belly'))).not.toContain('123');
  });

  test('is filtered by type, site and the beginning of a name; the address keeps it', async () => {
    await visit('/');
    await untilRows(PAGE_ROWS);
    await page.getByLabel('Type', { exact: true }).fill('pulse');
    await untilRows((DEVICES.length * SENSORS.length) / 2);
    expect(new Set(await rows().locator('.col-type').allTextContents())).toEqual(new Set(['pulse']));

    await page.getByLabel('Site', { exact: true }).fill('South Meadow');
    await page.keyboard.press('Enter');
    await untilRows((DEVICES.length * SENSORS.length) / 4);
    await page.getByLabel('Name', { exact: true }).fill('be');
    await untilRows(2);
    expect(new URL(page.url()).search).toBe('?type=pulse&site=South+Meadow&name=be');
    await page.reload();
    await untilRows(2);

    await page.getByLabel('Name', { exact: true }).fill('nobody');
    await page.getByRole('heading', { name: 'No sensor matches' }).waitFor();
    await page.getByRole('link', { name: 'Show all sensors' }).click();
    await untilRows(PAGE_ROWS);
  });

  test('the next page has the rest, none twice; the way back and a reload work', async () => {
    const rest = DEVICES.length * SENSORS.length - PAGE_ROWS;
    await visit('/');
    await untilRows(PAGE_ROWS);
    const first = await shown();
    await page.getByRole('button', { name: 'Next' }).click();
    await untilRows(rest);
    expect(new Set([...first, ...(await shown())]).size).toBe(PAGE_ROWS + rest);
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.reload();
    await untilRows(rest);
    await page.getByRole('button', { name: 'Previous' }).click();
    await untilRows(PAGE_ROWS);
    expect(await shown()).toEqual(first);
    await page.goBack();
    await untilRows(rest);
  });

  test('a sensor that is new joins the page by itself', async () => {
    await visit('/?name=zz');
    await page.getByRole('heading', { name: 'No sensor matches' }).waitFor();
    await publish('collar-9', { sensor_id: 'zz-new', ts: Date.now(), value: 7 });
    await untilRows(1);
  });

  test('a page that is no longer valid says so and leads back', async () => {
    await visit('/?cursor=made-up');
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await untilRows(PAGE_ROWS);
    // The browser itself notes the 400 that was meant to come.
    expect(opened.complaints.splice(0)).toEqual([expect.stringContaining('400')]);
  });
});

describe('a sensor', () => {
  test('is reached from its row by keyboard, draws its chart, and writes out the same', async () => {
    await visit('/?name=ear');
    await untilRows(DEVICES.length);
    await rowOf('collar-1', 'ear').locator('a.row-link').press('Enter');
    await page.getByRole('heading', { name: 'ear', level: 1 }).waitFor();
    await page.getByText('1 h', { exact: true }).click();
    const statistics = page.getByLabel('Statistics of what is shown');
    await until(async () => /Samples\s*120/.test(await textOf(statistics)), { what: 'all samples' });
    expect(await textOf(statistics)).toMatch(/Lowest\s*37\.00\s*°C[\s\S]*Highest\s*39\.00\s*°C/);
    await until(async () => (await paintedColours()) > 20, { what: 'a chart that is drawn' });
    expect(await page.locator('table.samples tbody tr').count()).toBeGreaterThan(5);
  });

  test('goes on live, and keeps its range in the address', async () => {
    await visit('/devices/collar-4/sensors/tail?range=1m');
    const newest = page.locator('table.samples tbody tr').first();
    await newest.waitFor();
    await publish('collar-4', { sensor_id: 'tail', ts: Date.now() + 1000, value: 155.5 });
    await page.locator('.now').getByText('155.5', { exact: true }).waitFor();
    await newest.getByText('155.5').waitFor();
    await page.getByText('15 min', { exact: true }).click();
    await until(async () => page.url().endsWith('?range=15m'), { what: 'the range in the address' });
    await until(async () =>
      /Highest\s*155\.5/.test(await textOf(page.getByLabel('Statistics of what is shown'))),
    );
  });

  test('that is not known is said to be so', async () => {
    await visit('/devices/collar-4/sensors/wing');
    await page.getByRole('alert').waitFor();
    expect(opened.complaints.splice(0)).toEqual([expect.stringContaining('404')]);
  });
});

test('a device shows its sensors, whether it is there, and where', async () => {
  await visit('/devices/collar-3');
  await untilRows(SENSORS.length);
  await page.getByRole('heading', { name: 'collar-3', level: 1 }).waitFor();
  expect(await textOf(page.locator('.facts'))).toMatch(/Online[\s\S]*North Meadow/);
  await publish('collar-3', { sensor_id: 'neck', ts: Date.now() + 1000, value: 41.25 });
  await rows().filter({ hasText: 'neck' }).getByText('41.25').waitFor();
});

describe('the look', () => {
  test.each(/** @type {const} */ (['light', 'dark']))('follows the system: %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await visit('/');
    await untilRows(PAGE_ROWS);
    expect(await isDark()).toBe(colorScheme === 'dark');
    await screenshot(`fleet-${colorScheme}`);
    await visit('/devices/collar-1/sensors/ambient');
    await until(async () => (await paintedColours()) > 20, { what: 'a chart that is drawn' });
    await screenshot(`sensor-${colorScheme}`);
    await visit('/devices/collar-1');
    await untilRows(SENSORS.length);
    await screenshot(`device-${colorScheme}`);
  });

  test('is chosen by hand and remembered', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await visit('/');
    await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
    expect(await isDark()).toBe(true);
    await page.reload();
    expect(await isDark()).toBe(true);
    expect(await page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true);
  });

  test.each(['/', '/devices/collar-1', '/devices/collar-1/sensors/ambient'])(
    'fits a phone: %s',
    async (path) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await visit(path);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await page.locator('table tbody tr:not(.waiting)').first().waitFor();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      await screenshot(`phone${path.replaceAll('/', '-').replace(/-$/, '')}`);
    },
  );

  test.each([320, 360, 390, 430])('keeps what the header says apart on a screen of %d', async (width) => {
    await page.setViewportSize({ width, height: 844 });
    await visit('/');
    await page.locator('.connection', { hasText: 'Live' }).waitFor();
    const parts = await page.locator('.header-inner > *').evaluateAll((elements) =>
      elements.map((element) => {
        const { left } = element.getBoundingClientRect();
        return { left, right: left + element.scrollWidth };
      }),
    );
    expect(parts).toHaveLength(3);
    const ends = parts.map(({ right }) => Math.floor(right));
    expect(ends).toEqual(ends.map((end, i) => Math.min(end, parts[i + 1]?.left ?? width)));
  });
});

test('times are said in UTC on demand', async () => {
  await opened.close();
  opened = await browser.open({ timezoneId: 'Asia/Kolkata' });
  page = opened.page;
  await visit('/devices/collar-1/sensors/ambient');
  const head = page.locator('table.samples thead');
  await head.getByText('UTC+5:30').waitFor();
  await page.getByRole('radio', { name: 'UTC' }).check({ force: true });
  await head.getByText(/UTC$/).waitFor();
});

/** @returns {Promise<boolean>} */
function isDark() {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    if (!canvas) throw new Error('no canvas');
    canvas.fillStyle = getComputedStyle(document.body).backgroundColor;
    canvas.fillRect(0, 0, 1, 1);
    return (canvas.getImageData(0, 0, 1, 1).data[0] ?? 0) < 128;
  });
}

/** @returns {Promise<number>} different colours on the chart: 1 where nothing is drawn */
function paintedColours() {
  return page.evaluate(() => {
    const canvas = /** @type {HTMLCanvasElement | null} */ (document.querySelector('.chart canvas'));
    const picture = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(picture ? new Uint32Array(picture.data.buffer) : []).size;
  });
}
