import { describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const HOUR = 3_600_000;
/** A name with two spaces in a row and one at its end, which HTML does not display. */
const SPACED = 'press  2 ';
/** A name with markup, which the browser would run if the page did not escape it. */
const MARKUP = '<img class=forged src=x onerror=alert(1)>';

const dashboard = useDashboard({
  async fill({ announce, publish }) {
    const now = Date.now();
    for (const device of ['press-1', SPACED]) {
      await announce(device, { name: device, sensors: [{ sensor_id: 'force', type: 'force', unit: 'N' }] });
    }
    await announce(MARKUP, {
      site: MARKUP,
      sensors: [{ sensor_id: MARKUP, name: MARKUP, type: MARKUP.slice(0, 20), unit: '<b class=forged>' }],
    });
    await publish(MARKUP, [{ sensor_id: MARKUP, ts: now, value: 1 }]);
    const samples = Array.from({ length: 60 }, (_, index) => ({
      sensor_id: 'force',
      ts: now - index * 1000,
      value: index,
    }));
    await publish('press-1', samples);
    for (let message = 0; message < 60; message += 1) {
      await publish('press-1', [{ sensor_id: 'force', ts: 'never', value: message }]);
    }
  },
});

const setWrong = (wrongMs: number) =>
  dashboard.page.addInitScript((wrong) => {
    const Right = Date;
    globalThis.Date = class extends Right {
      constructor(...given: unknown[]) {
        super(...((given.length > 0 ? given : [Right.now() + wrong]) as [string]));
      }
      static now = () => Right.now() + wrong;
    } as never;
  }, wrongMs);

describe('Wrong clock', () => {
  test.each([HOUR, -HOUR])(
    'Sensor page: browser clock is wrong by %d ms: the live chart shows a new sample, minutes old at most',
    async (wrongMs) => {
      await setWrong(wrongMs);
      await dashboard.visit('/devices/press-1/sensors/force?range=15m');
      const figures = dashboard.page.locator('.range-figures');
      await until(async () => /Samples\s*[1-9]/.test((await figures.textContent()) ?? ''), {
        what: 'samples in the live chart',
      });
      await dashboard.publish('press-1', { sensor_id: 'force', ts: Date.now(), value: 1234 });
      await until(async () => ((await figures.textContent()) ?? '').includes('1,234'), {
        what: 'the new sample',
      });
      expect(await dashboard.page.locator('.title .age').first().textContent()).toMatch(/now|\d+ (s|min)/);
    },
  );
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
    'Dashboard page %s: a name with markup is shown as text',
    async (path) => {
      await dashboard.visit(path);
      await dashboard.page.locator('main').getByText(MARKUP).first().waitFor();
      expect(await dashboard.page.locator('.forged').count()).toBe(0);
    },
  );
});
