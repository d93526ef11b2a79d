import { expect, test } from '@jest/globals';
import { parseMappings } from '../../../../api/ingest/mappings/index.ts';
import { useDashboard } from '../../../support/web/dashboard.ts';

const dashboard = useDashboard();

const UPLINK = JSON.stringify({
  ts: 1_795_348_840,
  state: 'ON',
  climate: { temperature: 21.5, humidity: '43' },
});

test('Unmatched topics: message on an unknown topic: its payload is shown, and a topic mapping is proposed on request', async () => {
  const { client, page } = dashboard;
  await client.publishAsync('farm/barn-7/climate', UPLINK, { qos: 1 });
  await client.publishAsync('zigbee2mqtt/kitchen', '{"temperature":20,"linkquality":60}', { qos: 1 });
  await dashboard.visit('/dead-letters');
  const table = page.getByRole('table', { name: 'Unmatched topics, the newest first' });
  await table.getByText(UPLINK).waitFor();

  await page.getByRole('button', { name: 'Propose a mapping for farm/barn-7/climate' }).press('Enter');
  const draft = page.getByRole('region', { name: 'Mapping for farm/barn-7/climate', exact: true });
  const text = (await draft.textContent()) ?? '';
  const [mapping] = parseMappings(text, 'the draft');
  expect(mapping?.patterns.map((pattern) => pattern.text)).toEqual(['farm/{device}/climate']);
  for (const part of ['/climate/temperature', '/climate/humidity', '/state', 'unit: s']) {
    expect(text).toContain(part);
  }
  const command = page.getByRole('region', { name: 'Command for farm/barn-7/climate', exact: true });
  expect(await command.textContent()).toContain(`--topic 'farm/barn-7/climate' --payload '${UPLINK}'`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy Mapping for farm/barn-7/climate' }).click();
  await page.getByText('Copied').first().waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);

  await page.getByRole('button', { name: 'Propose a mapping for zigbee2mqtt/kitchen' }).click();
  const preset = page.getByRole('region', { name: 'Mapping for zigbee2mqtt/kitchen', exact: true });
  expect(await preset.textContent()).toContain('- use: zigbee2mqtt');
  await dashboard.lookAt('unmatched-proposal');
});
