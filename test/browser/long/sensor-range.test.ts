import { describe, expect, test } from '@jest/globals';
import { FURNACE, publishFurnace, publishNewest } from '../../support/payloads/varied-sensors.ts';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const DAY = 86_400_000;

const dashboard = useDashboard({ fill: publishFurnace });

async function open(sensor: string, query: string = '') {
  await dashboard.visit(`/devices/${FURNACE}/sensors/${sensor}${query}`);
  await untilDrawn();
}

const chart = () => dashboard.page.getByRole('application');
const untilPainted = () =>
  until(async () => (await dashboard.paintedColors('.chart canvas')) > 20, { what: 'a painted chart' });
const untilDrawn = () => dashboard.page.locator('figure.chart-frame[aria-busy="false"]').waitFor();

const textOf = async (locator: string) => (await dashboard.page.locator(locator).first().textContent()) ?? '';
const query = () => new URL(dashboard.page.url()).searchParams;

/** @returns length of the fixed window in the address, in ms; 0 for a live range */
function fixedLength(): number {
  const [from, to] = [query().get('from'), query().get('to')];
  return from && to ? Date.parse(to) - Date.parse(from) : 0;
}

/** The area of the plot between its axes, in pixels of the page. */
async function plot() {
  const box = await dashboard.page.locator('.chart .u-over').boundingBox();
  if (!box) throw new Error('no plot');
  return {
    ...box,
    at: (share: number) => [box.x + share * box.width, box.y + box.height / 2],
  };
}

/** @param to as shares of the width of the plot */
async function drag(from: number, to: number) {
  const { at } = await plot();
  const { mouse } = dashboard.page;
  await mouse.move(Number(at(from)[0]), Number(at(from)[1]));
  await mouse.down();
  await mouse.move(Number(at((from + to) / 2)[0]), Number(at(from)[1]));
  await mouse.move(Number(at(to)[0]), Number(at(to)[1]));
  await mouse.up();
}

const samplesSaid = async (): Promise<number> =>
  Number(/Samples\s*([\d,]+)/.exec(await textOf('.range-figures'))?.[1]?.replaceAll(',', '') ?? Number.NaN);

describe('Zoom from a year to a minute and back', () => {
  test('Sensor chart: mouse: dragging zooms, dragging with Shift pans, and the Back button of the browser undoes each step', async () => {
    await open('core', '?range=1y');
    await drag(0.2, 0.3);
    await until(() => fixedLength() > 30 * DAY && fixedLength() < 43 * DAY, { what: 'a tenth of a year' });
    await untilDrawn();
    await drag(0.5, 0.6);
    await until(() => fixedLength() > 0 && fixedLength() < 4.5 * DAY, { what: 'a tenth of that' });
    await untilDrawn();
    const { from, to } = Object.fromEntries(query());
    await dashboard.page.keyboard.down('Shift');
    await drag(0.3, 0.8);
    await dashboard.page.keyboard.up('Shift');
    const length = Date.parse(String(to)) - Date.parse(String(from));
    const moved = () => Date.parse(String(from)) - Date.parse(String(query().get('from')));
    // The pointer moves by half a window, and the window moves with it.
    await until(() => moved() > 0.45 * length && moved() < 0.55 * length, { what: 'an earlier window' });
    expect(fixedLength()).toBe(length);
    await dashboard.page.goBack();
    await until(() => query().get('from') === from, { what: 'the window before' });
    await dashboard.page.goBack();
    await dashboard.page.goBack();
    await until(() => query().get('range') === '1y', { what: 'the year' });
    await until(async () => (await samplesSaid()) > 3_000, { what: 'the samples of the year' });
  });

  test('Sensor chart: mouse wheel: with Ctrl, the chart zooms at the pointer; without Ctrl, the page scrolls', async () => {
    await open('core', '?range=1y');
    const { at } = await plot();
    const [x, y] = at(0.5);
    await dashboard.page.mouse.move(Number(x), Number(y));
    await dashboard.page.mouse.wheel(0, 200);
    await until(() => dashboard.page.evaluate(() => window.scrollY > 100), { what: 'a page that scrolls' });
    expect(query().get('range')).toBe('1y');
    await dashboard.page.evaluate(() => window.scrollTo(0, 0));
    await dashboard.page.mouse.move(Number(x), Number(y));
    await dashboard.page.keyboard.down('Control');
    for (let turn = 0; turn < 4; turn += 1) await dashboard.page.mouse.wheel(0, -250);
    await dashboard.page.keyboard.up('Control');
    await until(() => fixedLength() > 0 && fixedLength() < 60 * DAY, { what: 'a narrow window' });
    const middle = (Date.parse(String(query().get('from'))) + Date.parse(String(query().get('to')))) / 2;
    expect(Math.abs(Date.now() - 182.5 * DAY - middle)).toBeLessThan(3 * DAY);
    await dashboard.page.getByRole('button', { name: 'Back to now' }).press('Enter');
    await until(() => query().get('range') === '1y', { what: 'now' });
    // The pressed button disappears, so the focus moves to the next control.
    await dashboard.page.locator('.window-bar input[value="1y"]:focus').waitFor({ state: 'attached' });
  });

  test('Sensor chart: touch screen: one finger pans the range, two fingers zoom the range', async () => {
    await open('core', '?range=1d');
    const { at } = await plot();
    const debug = await dashboard.page.context().newCDPSession(dashboard.page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...shares: number[]) =>
      debug.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: shares.map((share, id) => ({ x: Number(at(share)[0]), y: Number(at(share)[1]), id })),
      });
    await touch('touchStart', 0.2);
    await touch('touchMove', 0.4);
    await touch('touchMove', 0.7);
    await touch('touchEnd');
    await until(() => fixedLength() === DAY, { what: 'a day before' });
    await until(() => Date.now() - Date.parse(String(query().get('to'))) > 0.4 * DAY, {
      what: 'half a day before',
    });
    await untilDrawn();
    await touch('touchStart', 0.4, 0.6);
    await touch('touchMove', 0.3, 0.7);
    await touch('touchMove', 0.1, 0.9);
    await touch('touchEnd');
    await until(() => fixedLength() < 0.35 * DAY && fixedLength() > 0.15 * DAY, { what: 'a quarter of it' });
  });
});

test('Sensor chart: arrow keys: screen readers announce value and time of the sample at the cursor', async () => {
  await publishNewest(dashboard, 'core');
  await open('core', '?range=15m');
  await untilPainted();
  await chart().focus();
  const readout = dashboard.page.locator('.readout');
  const said = () => textOf('.chart-frame [role=status]');
  expect(await said()).toBe('');
  expect(await dashboard.page.locator('.chart-frame').locator('output, [aria-live]').count()).toBe(0);
  await dashboard.page.keyboard.press('ArrowLeft');
  await readout.waitFor();
  await until(async () => /°C, \d{4}-/.test(await said()), { what: 'value and time, said' });
  const newest = await readout.textContent();
  await dashboard.page.keyboard.press('ArrowLeft');
  await until(async () => (await readout.textContent()) !== newest, { what: 'another sample' });
  await dashboard.page.keyboard.press('Home');
  await dashboard.page.keyboard.press('End');
  await until(async () => (await readout.textContent()) === newest, { what: 'the newest again' });
});

test('Sensor chart: the request for another range fails: the problem is shown, statistics stay, and Try again draws the chart', async () => {
  await open('core', '?range=1h');
  dashboard.expectComplaints(/ERR_FAILED/);
  await dashboard.page.route('**/series?**', (route) => route.abort());
  await dashboard.page.getByText('6 h', { exact: true }).click();
  await dashboard.page.getByRole('alert').waitFor();
  expect(await samplesSaid()).toBeGreaterThan(0);
  await dashboard.page.unroute('**/series?**');
  await dashboard.page.getByRole('button', { name: 'Try again' }).click();
  await untilDrawn();
  await until(async () => (await dashboard.page.getByRole('alert').count()) === 0);
});
