import { describe, expect, test } from '@jest/globals';
import { useDashboard } from '../../support/web/dashboard.ts';

/** A name with markup, which the browser would run if the page did not escape it. */
const MARKUP = '<img class=forged src=x onerror=alert(1)>';

const dashboard = useDashboard({
  async fill({ announce, publish }) {
    await announce(MARKUP, {
      site: MARKUP,
      sensors: [{ sensor_id: MARKUP, name: MARKUP, type: MARKUP.slice(0, 20), unit: '<b class=forged>' }],
    });
    await publish(MARKUP, [{ sensor_id: MARKUP, ts: Date.now(), value: 1 }]);
  },
});

test('Dashboard view: rendering throws an error: a message with Try again is shown, and other views can be opened', async () => {
  await dashboard.page.addInitScript(() => {
    const { observe } = ResizeObserver.prototype;
    ResizeObserver.prototype.observe = function (element) {
      if (element.closest('main')) throw new Error('broken on purpose');
      observe.call(this, element);
    };
  });
  await dashboard.visit('/');
  await dashboard.page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
  await dashboard.page.getByRole('link', { name: /^Dead letters/ }).click();
  await dashboard.page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
  expect(dashboard.takeComplaints().join()).toContain('broken on purpose');
});

describe('Markup in names: shown as text', () => {
  const DEVICE = `/devices/${encodeURIComponent(MARKUP)}`;
  test.each(['/?show=devices', DEVICE, `${DEVICE}/sensors/${encodeURIComponent(MARKUP)}`])(
    'Dashboard page %s: a name has markup: shown as text',
    async (path) => {
      await dashboard.visit(path);
      await dashboard.page.locator('main').getByText(MARKUP).first().waitFor();
      expect(await dashboard.page.locator('.forged').count()).toBe(0);
    },
  );
});
