import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const MINUTE_MS = 60_000;
const SECONDS = 60;

const dashboard = useDashboard({ system: { periods: { assets: 50, assetSites: 20 } } });

const tiles = () => dashboard.page.locator('.asset-tile .asset-name').allTextContents();
const tile = (name: string) => dashboard.page.locator('.asset-tile').filter({ hasText: name });
const dialog = (name: string) => dashboard.page.getByRole('dialog', { name });
const button = (name: string) => dashboard.page.getByRole('button', { name });
const message = (text: string) => dashboard.page.getByRole('status').getByText(text).waitFor();

/** Opens the page of an asset. */
async function open(path: string) {
  await dashboard.visit(`/assets?path=${encodeURIComponent(path)}`);
  await dashboard.page.getByRole('heading', { level: 1, name: path.split('/').at(-1) ?? '' }).waitFor();
}

/** Publishes a minute of samples that ends some minutes ago. */
async function announce(device: string, site: string | null, minutesAgo: number = 0) {
  const sensors = ['temperature', 'pulse'].map((name) => ({
    sensor_id: name,
    name,
    type: name,
    unit: name === 'pulse' ? 'beat/min' : 'Cel',
    interval_ms: 1000,
  }));
  await dashboard.announce(device, { ...(site !== null && { site }), sensors });
  const end = Date.now() - minutesAgo * MINUTE_MS;
  await dashboard.publish(
    device,
    Array.from({ length: SECONDS }, (_, second) => [
      { sensor_id: 'temperature', ts: end - second * 1000, value: 21 + Math.sin(second / 9) },
      { sensor_id: 'pulse', ts: end - second * 1000, value: 70 + (second % 7) },
    ]).flat(),
  );
}

test('Assets page: no assets: it explains the first step; a tree of two levels is created by keyboard', async () => {
  const { page } = dashboard;
  dashboard.expectComplaints(/status of 409/);
  await dashboard.visit('/assets');
  await page.getByRole('heading', { name: 'There are no assets yet' }).waitFor();
  await dashboard.lookAt('assets-none');
  await button('Create the first asset').click();
  await dashboard.untilFocused(dialog('Create an asset').getByLabel('Name'));
  await dashboard.lookAt('assets-create');
  await page.keyboard.type('Plant 1');
  await page.keyboard.press('Enter');
  await message('Plant 1 is created.');
  await tile('Plant 1').click();
  await page.getByRole('heading', { level: 1, name: 'Plant 1' }).waitFor();
  await dashboard.untilFocused(page.locator('#main'));
  for (const name of ['Hall 1', 'Hall 2']) {
    await button('Create an asset').click();
    await dashboard.untilFocused(dialog('Create an asset in Plant 1').getByLabel('Name'));
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await message(`Plant 1/${name} is created.`);
  }
  await until(async () => (await tiles()).join() === 'Hall 1,Hall 2', { what: 'both tiles' });
  await button('Create an asset').click();
  await dashboard.untilFocused(dialog('Create an asset in Plant 1').getByLabel('Name'));
  await page.keyboard.type('Hall 1');
  await page.keyboard.press('Enter');
  await dialog('Create an asset in Plant 1').getByText('This name is taken').waitFor();
});

test('Assets page: devices announce their sites: tiles with the worst first, and charts of all sensors of a type', async () => {
  const { page } = dashboard;
  await announce('press-1', 'Plant 1/Hall 1');
  await announce('press-2', 'Plant 1/Hall 1');
  await announce('oven-1', 'Plant 1/Hall 2', 10);
  await open('Plant 1');
  await until(async () => (await tile('Hall 2').textContent())?.includes('2 sensors silent') === true, {
    what: 'the silent sensors of Hall 2',
  });
  expect(await tiles()).toEqual(['Hall 2', 'Hall 1']);
  await tile('Hall 1').getByText('All in order').waitFor();
  await tile('Hall 1').getByText('2 devices · 4 sensors').waitFor();
  for (const type of ['temperature', 'pulse'])
    await page.getByLabel(`${type} of Plant 1 over time`, { exact: true }).waitFor();
  await until(async () => (await page.locator('.asset-chart .chart-over').count()) === 0, {
    what: 'the points of all charts',
  });
  await dashboard.expectNoViolation();
  await dashboard.lookAt('assets');
  await tile('Hall 1').click();
  const members = page.getByRole('region', { name: 'Devices and sensors here' });
  await members.getByRole('link', { name: 'press-2' }).waitFor();
  await dashboard.untilRows(4);
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Plant 1' }).waitFor();
  await dashboard.expectNoViolation();
  await dashboard.lookAt('assets-hall');
});

test('Assets page: a device is moved by keyboard: the old asset is without it, and its page names the new place', async () => {
  const { page } = dashboard;
  await open('Plant 1/Hall 1');
  await button('Move… press-2').click();
  const moving = dialog('Move press-2');
  await dashboard.untilFocused(moving.getByRole('combobox'));
  await page.keyboard.type('plant hall');
  await moving.getByRole('option', { name: 'Plant 1/Hall 2' }).waitFor();
  await dashboard.lookAt('assets-move');
  await page.keyboard.press('Enter');
  await until(async () => (await moving.locator('.asset-target').count()) === 0, { what: 'a choice' });
  await page.keyboard.press('Enter');
  await message('press-2 is at Plant 1/Hall 2.');
  await page.getByRole('link', { name: 'press-2' }).first().waitFor({ state: 'detached' });
  await dashboard.visit('/devices/press-2/sensors/pulse');
  const place = page.getByRole('region', { name: 'Place', exact: true });
  await place.getByRole('link', { name: 'Hall 2' }).waitFor();
  await dashboard.lookAt('assets-place');
  await place.getByRole('link', { name: 'Plant 1' }).click();
  await tile('Hall 2').getByText('2 devices').waitFor();
});

test('Assets page: drag: a new tile waits until the drop, and the dialog opens with the new place', async () => {
  const { page } = dashboard;
  await announce('mixer-1', 'Plant 1');
  await page.clock.install();
  await open('Plant 1');
  const middleOf = async (element: Locator) => {
    await element.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await element.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    return [x + width / 2, y + height / 2] as const;
  };
  const hall = tile('Hall 1');
  const members = page.getByRole('region', { name: 'Devices and sensors here' });
  const [x, y] = await middleOf(members.getByRole('row').filter({ hasText: 'mixer-1' }));
  await page.mouse.move(x, y);
  await page.mouse.down();
  // The drag begins before the page scrolls.
  await page.mouse.move(x + 8, y + 8, { steps: 4 });
  const before = await middleOf(hall);
  await page.mouse.move(...before, { steps: 5 });
  await page.locator('.asset-tile[data-drop="over"]').waitFor();
  await announce('saw-1', 'Plant 1/Hall 0');
  const children = `${dashboard.system.httpUrl}/api/v1/assets/Plant%201/children`;
  await until(async () => (await (await fetch(children)).text()).includes('Hall 0'), { what: 'Hall 0' });
  const read = page.waitForResponse((answer) => answer.url().includes('/children'));
  await page.clock.fastForward(31_000);
  expect(await (await read).text()).toContain('Hall 0');
  // For the clock of the page, the API was silent for 31 s.
  await page.getByText('The API has not answered').waitFor({ state: 'detached' });
  expect(await middleOf(hall)).toEqual(before);
  await page.mouse.up();
  const moving = dialog('Move mixer-1');
  expect(await moving.getByRole('combobox', { name: 'New place' }).inputValue()).toBe('Plant 1/Hall 1');
  await tile('Hall 0').waitFor();
  await moving.getByRole('button', { name: 'Move' }).click();
  await message('mixer-1 is at Plant 1/Hall 1.');
  await tile('Hall 0').dragTo(page.getByRole('link', { name: 'Assets' }).last());
  expect(await dialog('Move Hall 0').getByRole('combobox', { name: 'New parent' }).inputValue()).toBe(
    'Top level',
  );
  await page.keyboard.press('Enter');
  await message('Plant 1/Hall 0 is moved.');
  await tile('Hall 0').waitFor({ state: 'detached' });
});

/** A drawing without a size of its own, and with a script. */
const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg"><script>top.document.title = 'script'</script>
  <g fill="none" stroke="#345"><rect x="6" y="6" width="280" height="130"/><path d="M110 6v60M190 136V80M6 80h70"/></g>
  <text x="16" y="30" font-size="14" fill="#345">Hall 1</text></svg>`;

test('Plan: a picture with sensors: placed by keyboard and by drag, it shows newest values, and its script never runs', async () => {
  const { page } = dashboard;
  await open('Plant 1/Hall 1');
  await button('Add a picture').click();
  await page.getByLabel('SVG, PNG, JPEG or WebP').setInputFiles({
    name: 'hall.svg',
    mimeType: 'image/svg+xml',
    buffer: Buffer.from(DRAWING),
  });
  await dialog('Picture of Hall 1').getByRole('button', { name: 'Store' }).click();
  await message('Hall 1 has a new picture.');
  const picture = page.locator('.plan-picture');
  await until(async () => Number((await picture.boundingBox())?.height) > 200, { what: 'a visible picture' });
  await button('Place sensors').click();
  const field = page.getByLabel('Sensor', { exact: true });
  await dashboard.untilFocused(field);
  const mark = (sensor: string) => picture.getByRole('button', { name: `${sensor} of press-1` });
  for (const sensor of ['temperature', 'pulse']) {
    await field.fill(`press-1 / ${sensor}`);
    await mark(sensor).waitFor();
  }
  await mark('temperature').focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('ArrowUp');
  await picture.getByRole('button', { name: '60 % from the left, 49 % from the top' }).waitFor();
  const room = await picture.boundingBox();
  const { x, y } = (await mark('pulse').boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(x + 5, y + 5);
  await page.mouse.down();
  await page.mouse.move(x + 5 - Number(room?.width) / 4, y + 5 + Number(room?.height) / 4, { steps: 4 });
  await page.mouse.up();
  await picture.getByRole('button', { name: '25 % from the left, 65 % from the top' }).waitFor();
  await dashboard.lookAt('assets-plan-edit');
  await button('Store').click();
  await dashboard.untilFocused(button('Place sensors'));
  const value = picture.getByRole('link', { name: 'temperature' });
  await value.getByText('21').waitFor();
  await dashboard.publish('press-1', { sensor_id: 'temperature', value: 35 });
  await value.getByText('35').waitFor();
  expect(await page.title()).toBe('Hall 1 · Millrace');
  await dashboard.expectNoViolation();
  await dashboard.lookAt('assets-plan');
  await page.reload();
  await picture.getByRole('link', { name: 'pulse' }).click();
  await page.waitForURL('**/devices/press-1/sensors/pulse');
});
