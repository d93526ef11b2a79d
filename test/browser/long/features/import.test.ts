// cspell:ignore Kühlhaus Messort Uhrzeit Chlhaus
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { useDirectory } from '../../../support/directory.ts';
import { until } from '../../../support/until.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

/** This file of 2.4 MB is imported in two pieces. The invalid line is in the second piece. */
const ROWS = 60_000;
const BEGIN = Date.now() - 40 * 86_400_000;
const BAD_ROW = 58_000;

const dashboard = useDashboard();
const directory = useDirectory('import');
let file = '';
beforeAll(() => {
  file = join(directory, 'old.csv');
  const rows = Array.from({ length: ROWS }, (_, row) =>
    row === BAD_ROW ? 'yesterday,1,' : `${new Date(BEGIN + row * 1000).toISOString()},${row / 8},Hall A`,
  );
  writeFileSync(file, `ts,temperature,site\n${rows.join('\n')}\n`);
});

test('Import page: CSV file with an invalid line: the button Test only counts samples, the button Import stores them and lists the refused line', async () => {
  const { page, system } = dashboard;
  await dashboard.visit('/?show=devices');
  await dashboard.visit('/import');
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByLabel('Device', { exact: true }).fill('old-logger');
  await page.getByRole('button', { name: 'Test' }).click();
  const stored = ROWS - 1;
  const count = stored.toLocaleString('en-US');
  await page.getByText(`${count} samples would be stored, 1 refused`).waitFor();
  await page.getByRole('cell', { name: 'old-logger' }).first().waitFor();
  await page.getByRole('cell', { name: 'Hall A' }).first().waitFor();
  expect((await system.get('/devices')).items).toEqual([]);
  await dashboard.lookAt('import-test');

  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText(`${count} samples stored, 1 refused`).waitFor();
  const row = page.locator('.import-table tbody tr');
  // The first line names the columns.
  expect(await row.first().locator('td').allTextContents()).toEqual([
    String(BAD_ROW + 2),
    'bad_timestamp',
    'column `ts`: `yesterday` must be whole epoch milliseconds or ISO 8601',
  ]);
  await dashboard.lookAt('import');
  expect((await system.get('/devices?site=Hall%20A')).items).toMatchObject([{ name: 'old-logger' }]);
  const { points } = await system.get(
    `/devices/old-logger/sensors/temperature/series?from=${BEGIN}&to=${BEGIN + ROWS * 1000}&points=1`,
  );
  expect(points.reduce((sum: number, { count: of }: { count: number }) => sum + of, 0)).toBe(stored);
  // The link still leads to the device of this import after another name is typed.
  await page.getByLabel('Device', { exact: true }).fill('another');
  await page.getByRole('link', { name: 'Show old-logger' }).click();
  await page.getByRole('heading', { name: 'old-logger' }).waitFor();
  const range = new URL(page.url()).searchParams;
  const [from, to] = ['from', 'to'].map((name) => Date.parse(range.get(name) ?? ''));
  const length = ROWS * 1000;
  expect(from).toBeGreaterThan(BEGIN - length / 10);
  expect(from).toBeLessThan(BEGIN);
  expect(to).toBeGreaterThan(BEGIN + length - 1000);
  expect(to).toBeLessThan(BEGIN + length * 1.1);
  await until(async () => (await dashboard.paintedColors('.signals canvas')) > 1, { what: 'the chart' });
  // Nobody knows whether it should send, so it is not said to be online, and its age is no warning.
  await page.getByText('were imported from a file').waitFor();
  await page.locator('.facts .age[data-expected="false"]').waitFor();
  await page.locator('.signal-value .age[data-expected="false"]').waitFor();
  await dashboard.lookAt('import-device');
});
