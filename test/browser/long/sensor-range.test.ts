import { expect, test } from '@jest/globals';
import { FURNACE, publishFurnace } from '../../support/payloads/varied-sensors.ts';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const DAY = 86_400_000;

const dashboard = useDashboard({ fill: publishFurnace });

async function open(query: string) {
  await dashboard.visit(`/devices/${FURNACE}/sensors/core${query}`);
  await untilDrawn();
}

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

test('Sensor chart: mouse: dragging zooms, dragging with Shift pans, and the Back button of the browser undoes each step', async () => {
  await open('?range=1y');
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
