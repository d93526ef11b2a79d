import { beforeEach, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import type { Locator } from 'playwright-core';
import { useDashboard } from '../../../support/web/dashboard.ts';

const USERNAME = 'millrace';
const PASSWORD = 'the secret of the installation';
const READER = 'the-token-of-a-reader';
const ADMIN = 'the token that is good for everything';

const dashboard = useDashboard({
  system: {
    settings: {
      API_TOKEN: ADMIN,
      READ_TOKENS: READER,
      MQTT_AUTH: 'true',
      MQTT_USERNAME: USERNAME,
      MQTT_PASSWORD: PASSWORD,
    },
  },
});

/** The browser console lists each refused request. */
beforeEach(() => dashboard.expectComplaints(/status of (401|403|409)/));

async function open(token: string) {
  await dashboard.visit('/credentials');
  await dashboard.page.getByLabel('Token').fill(token);
  await dashboard.page.keyboard.press('Enter');
}

const rowOf = (account: string) =>
  dashboard.page.locator('table.account-table tbody tr:not(.waiting)').filter({ hasText: account });
const dialog = (name: string) => dashboard.page.getByRole('dialog', { name });
const textOf = async (locator: Locator) => (await locator.textContent()) ?? '';
const shownSecret = async () => textOf(dashboard.page.getByLabel('Secret', { exact: true }));

/** @returns the return code of the CONNACK */
async function connects(username: string, password: string): Promise<number> {
  try {
    const client = await mqtt.connectAsync(dashboard.system.mqttUrl, {
      username,
      password,
      reconnectPeriod: 0,
    });
    await client.endAsync(true);
    return 0;
  } catch (error) {
    return (error as { code: number }).code;
  }
}

async function askFor(account: string) {
  await dashboard.page.getByRole('button', { name: 'Issue a credential' }).click();
  await dashboard.untilFocused(dialog('Issue a credential').getByLabel(/^Account:/));
  await dashboard.page.keyboard.type(account);
}

async function issue(account: string, devices: string = ''): Promise<string> {
  await askFor(account);
  await dashboard.page.getByLabel('Further devices').fill(devices);
  await dialog('Issue a credential').getByRole('button', { name: 'Issue', exact: true }).click();
  await dialog(`The secret of ${account}`).waitFor();
  const secret = await shownSecret();
  expect(secret.length).toBeGreaterThan(15);
  return secret;
}

async function closeSecret() {
  await dashboard.page.getByRole('button', { name: 'I have copied it' }).click();
  await dashboard.page.getByRole('dialog').waitFor({ state: 'detached' });
}

test('Credentials page: a credential is issued: its secret is shown once, can be copied, and connects over MQTT', async () => {
  await open(ADMIN);
  await dashboard.page.getByRole('heading', { name: 'No device has a credential' }).waitFor();
  await dashboard.lookAt('credentials-none');
  const secret = await issue('pump', 'valve-1\n\n valve-2 ');
  await dashboard.lookAt('credentials-secret');
  // Escape must not lose the secret.
  await dashboard.page.keyboard.press('Escape');
  expect(await shownSecret()).toBe(secret);
  const command = dashboard.page.getByLabel('Command for MQTT', { exact: true });
  expect(await textOf(command)).toContain(`-u pump -P ${secret}`);
  await dashboard.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await dashboard.page.getByRole('button', { name: 'Copy Secret' }).click();
  await dashboard.page.getByRole('status').getByText('Copied').waitFor();
  expect(await dashboard.page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await closeSecret();

  await rowOf('pump').getByText('valve-1, valve-2').waitFor();
  expect(await dashboard.page.content()).not.toContain(secret);
  expect(await connects('pump', secret)).toBe(0);
  await dashboard.lookAt('credentials');
});
