import { describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { publishRefusals } from '../../../support/refusals.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard({
  system: { settings: { AUTO_REGISTER: 'true' } },
  fill: publishRefusals,
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
