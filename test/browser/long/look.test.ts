import { describe, expect, test } from '@jest/globals';
import { publishNewSamples, publishSmallFleet } from '../../support/simulator/small-fleet.ts';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const dashboard = useDashboard({ fill: publishSmallFleet });

test.each([
  ['fleet', '/'],
  ['wall', '/?full'],
  ['device', '/devices/collar-1'],
  ['sensor', '/devices/collar-1/sensors/ambient'],
])(
  'Printed dashboard: %s page with the dark theme chosen: black on white, without controls',
  async (name, path) => {
    await publishNewSamples(dashboard);
    await dashboard.page.emulateMedia({ colorScheme: 'dark' });
    await dashboard.visit('/');
    await dashboard.openDisplayMenu();
    await dashboard.page.getByRole('radio', { name: 'Dark' }).check({ force: true });
    await until(isDark, { what: 'the dark theme' });
    await dashboard.visit(path);
    const content = 'table tbody tr:not(.waiting), .wall[data-full="true"] .wall-counts b';
    await dashboard.page.locator(content).first().waitFor();
    await dashboard.lookAtPaper(name);
  },
);

describe('Appearance', () => {
  test('Page header on a phone: the arrow at the right edge is pressed: the last view scrolls into view, and stays there', async () => {
    const { page } = dashboard;
    await page.setViewportSize({ width: 390, height: 844 });
    await dashboard.visit('/');
    const ARROW = '.navigation-more[data-side="right"]';
    await page.locator(ARROW).waitFor();
    await until(
      async () => {
        // A click of Playwright would first scroll the row to the arrow.
        await page.evaluate((arrow) => document.querySelector<HTMLElement>(arrow)?.click(), ARROW);
        return Number((await partsOf('.navigation-manual'))[0]?.right) <= 390;
      },
      { what: 'the last view within the screen' },
    );
    await page.locator('.navigation-more[data-side="left"]').waitFor();
    // A number in a link grows. The row stays where the user scrolled it.
    const moved = await page.locator('.navigation').evaluate(async (row) => {
      const before = row.scrollLeft;
      row.querySelector('a[href="/alarms"]')?.append('1,000');
      for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
      return row.scrollLeft - before;
    });
    expect(moved).toBe(0);
  });

  test.each([320, 360, 390, 430])(
    'Page header: screen %d pixels wide: no element overlaps another',
    async (width) => {
      await dashboard.page.setViewportSize({ width, height: 844 });
      await dashboard.visit('/');
      await dashboard.page.locator('.connection', { hasText: 'Live' }).waitFor();
      // The first row has the name, the connection and the choices. The second row has the views, and can scroll.
      const choices = await partsOf('.header-inner > :not(.navigation)');
      expect(choices).toHaveLength(3);
      expect(overlaps([...choices, { left: width, right: width }])).toEqual([]);
      const views = await partsOf('.navigation > a:visible');
      expect(views).toHaveLength(8);
      expect(overlaps(views)).toEqual([]);

      await dashboard.visit('/credentials');
      await dashboard.page.locator('.navigation > a[aria-current]', { hasText: 'Credentials' }).waitFor();
      const [current] = await partsOf('.navigation > a[aria-current]');
      expect(current?.left).toBeGreaterThanOrEqual(0);
      expect(current?.right).toBeLessThanOrEqual(width);
    },
  );
});

test('Forms in dialogs: opened on several pages: titles, labels, gaps and buttons look the same', async () => {
  const { page } = dashboard;
  const looks: unknown[] = [];
  // The styles of each page before stay loaded.
  await dashboard.visit('/dead-letters');
  for (const [view, name] of [
    ['Credentials', 'Issue a credential…'],
    ['Assets', 'Create an asset…'],
    ['Alarms', 'Add a rule…'],
    [null, 'Correct values…'],
  ] as const) {
    if (view) await page.locator('.navigation').getByRole('link', { name: view }).click();
    else await dashboard.visit('/devices/collar-1/sensors/ambient');
    await page.getByRole('button', { name }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.dialog-field').first().waitFor();
    looks.push(await dialog.evaluate(lookOf));
    await dashboard.lookAt(`form-${view ?? 'Corrections'}`);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
  }
  expect(looks.slice(1)).toEqual(looks.slice(1).map(() => looks[0]));
});

/** @returns the look of the first fields of a form */
function lookOf(dialog: Element) {
  const styleOf = (selector: string) => {
    const { fontSize, fontWeight } = getComputedStyle(dialog.querySelector(selector) as Element);
    return { fontSize, fontWeight };
  };
  const edges = (selector: string) => dialog.querySelector(selector)?.getBoundingClientRect();
  return {
    title: styleOf('h2'),
    label: styleOf('.dialog-field > label'),
    gap: Number(edges('.dialog-field > label + *')?.top) - Number(edges('.dialog-field > label')?.bottom),
    height: edges('.dialog-field > :is(input, select)')?.height,
    marks:
      dialog.querySelectorAll('form .required').length === dialog.querySelectorAll('form :required').length,
    isDisabled: (dialog.querySelector('[type="submit"]') as HTMLButtonElement).disabled,
  };
}

test.each([
  '/alarms',
  '/credentials',
  '/compare',
  '/assets',
  '/corrections',
  '/import',
  '/changes',
  '/pipeline',
])('Page %s: each of its boxes is 24 pixels below what stands above', async (path) => {
  await dashboard.visit(path);
  await dashboard.page.locator('main > .panel').first().waitFor();
  const gaps = await dashboard.page.locator('main > .panel').evaluateAll((panels) =>
    panels.map((panel) => {
      let above = panel.previousElementSibling;
      while (above && above.getBoundingClientRect().height === 0) above = above.previousElementSibling;
      return panel.getBoundingClientRect().top - Number(above?.getBoundingClientRect().bottom);
    }),
  );
  expect(gaps.filter((gap) => Math.round(gap) !== 24)).toEqual([]);
});

const partsOf = (selector: string): Promise<Array<{ left: number; right: number }>> =>
  dashboard.page.locator(selector).evaluateAll((elements) =>
    elements.map((element) => {
      const { left } = element.getBoundingClientRect();
      return { left, right: left + element.scrollWidth };
    }),
  );

/** @param parts from left to right @returns parts that overlap the next part */
const overlaps = (parts: Array<{ left: number; right: number }>): Array<{ left: number; right: number }> =>
  parts.filter(
    ({ right }, n) => Math.floor(right) > Math.ceil(parts[n + 1]?.left ?? Number.POSITIVE_INFINITY),
  );

function isDark(): Promise<boolean> {
  return dashboard.page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    if (!canvas) throw new Error('no canvas');
    canvas.fillStyle = getComputedStyle(document.body).backgroundColor;
    canvas.fillRect(0, 0, 1, 1);
    return (canvas.getImageData(0, 0, 1, 1).data[0] ?? 0) < 128;
  });
}
