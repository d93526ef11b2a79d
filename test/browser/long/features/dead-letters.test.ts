import { describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { settleWatch } from '../../../support/contract/watch.ts';
import { publishRefusals, writePastDeadLetters } from '../../../support/refusals.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const HOUR_MS = 3_600_000;
/** Time needed to publish all refusals. They must fall into the same hour. */
const FILL_MS = 20_000;
let filledAt = 0;

const dashboard = useDashboard({
  system: { settings: { AUTO_REGISTER: 'true' } },
  async fill(filled) {
    await until(() => Date.now() % HOUR_MS < HOUR_MS - FILL_MS, { what: 'the next hour' });
    filledAt = Date.now();
    await publishRefusals(filled);
    await writePastDeadLetters(filled.system);
  },
});

const rows = () => dashboard.page.locator('.dead-letters tbody tr:not(.waiting)');
const rowOf = (device: string, code: string) =>
  rows().filter({ hasText: device }).filter({ hasText: code }).first();
const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';

describe('Dead letters', () => {
  test('Dead letters page: refused measurements: counted by refusal code, with the meaning of the code and advice', async () => {
    await dashboard.visit('/dead-letters');
    await dashboard.page.getByText(/^[\d,]+ refusals$/).waitFor();
    const counts = dashboard.page.getByRole('table', { name: 'Refusals by code' });
    const row = counts.getByRole('row').filter({ hasText: 'not_numeric' });
    const count = async () => {
      const { items } = await dashboard.system.get('/dead-letters/summary');
      return items.reduce(
        (sum: number, { codes }: { codes: Record<string, number> }) => sum + (codes['not_numeric'] ?? 0),
        0,
      );
    };
    await until(async () => (await textOf(row.locator('.number'))) === String(await count()), {
      what: 'the count',
    });
    expect(await textOf(row)).toContain('The value is not a number. Send a number without quotes.');
    await dashboard.page.locator('.navigation-count').waitFor();
  });

  test('Dead letters page: the API has no mappings: refusals are shown, and neither unmatched topics nor a problem', async () => {
    const address = '**/api/v1/unmatched-topics';
    const problem = { type: 'about:blank', title: 'Not found', status: 404, code: 'not_found' };
    await dashboard.page.route(address, (route) =>
      route.fulfill({ status: 404, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    dashboard.expectComplaints(/status of 404/);
    try {
      const answered = dashboard.page.waitForResponse(address);
      await dashboard.visit('/dead-letters');
      await answered;
      await dashboard.page.getByText(/^[\d,]+ refusals$/).waitFor();
      await dashboard.page.locator('#unmatched-topics').waitFor({ state: 'detached' });
      expect(await dashboard.page.locator('[data-tone="warn"]').count()).toBe(0);
    } finally {
      await dashboard.page.unroute(address);
    }
    // The document of a complete API does not describe this answer.
    await expect(settleWatch()).rejects.toThrow('GET /api/v1/unmatched-topics answered 404');
    await dashboard.visit('/dead-letters');
    await dashboard.page.locator('#unmatched-topics').waitFor();
  });

  test('Dead letters page: keyboard only: the bar of an hour shows counts by code, and Enter lists its dead letters', async () => {
    await dashboard.visit('/dead-letters');
    const plot = dashboard.page.getByRole('img', { name: /^Refusals over time/ });
    const readout = dashboard.page.locator('.bars-readout');
    // A new hour may have begun since the refusals were published. Then its bar is the last one.
    const hours = () => Math.floor(Date.now() / HOUR_MS) - Math.floor(filledAt / HOUR_MS);
    await plot.focus();
    await until(
      async () => {
        await dashboard.page.keyboard.press('End');
        for (let hour = hours(); hour > 0; hour--) await dashboard.page.keyboard.press('ArrowLeft');
        return /120 not_numeric|122 not_numeric/.test(await textOf(readout));
      },
      { what: 'the text of the bar' },
    );
    await dashboard.page.keyboard.press('Enter');
    await until(() => new URL(dashboard.page.url()).searchParams.has('at'), {
      what: 'an hour in the address',
    });
    await until(async () => (await rows().count()) === 9, { what: 'the dead letters of this hour' });
    // The filter is removed, so that the list shows the whole day.
    await dashboard.page.locator('.chip').click();
    await until(async () => (await rows().count()) > 9, { what: 'the dead letters of the day' });
  });
});

describe('Dead letter', () => {
  test('Dead letter page: payload with markup: shown as text, no script runs, invisible characters are escaped', async () => {
    await dashboard.visit('/dead-letters');
    await dashboard.page.evaluate(() => {
      window.alert = () => document.body.setAttribute('data-ran', 'true');
    });
    await rowOf('furnace', 'malformed').getByRole('link').first().click();
    const payload = dashboard.page.getByLabel('Payload as text');
    await payload.waitFor();
    expect(await textOf(payload)).toBe(
      '[{"sensor_id":"<img src=x onerror=alert(1)>","value":"</pre><script>alert(2)</script>\\u202e","note":"\\u0007"}]',
    );
    expect(await dashboard.page.locator('main img, main script').count()).toBe(0);
    expect(await dashboard.page.locator('body').getAttribute('data-ran')).toBe(null);
    await dashboard.page.getByText('It is no JSON').waitFor();
  });
});
