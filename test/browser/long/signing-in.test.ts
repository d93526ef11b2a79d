import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startTcpProxy } from '../../support/http/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { useDashboard } from '../../support/web/dashboard.ts';

const ADMIN = 'the token that is good for everything';
const READER = 'the-token-of-a-reader';
const HOUR_MS = 3_600_000;

/** Lead of the API clock in ms. Only the end of sessions depends on this clock. */
let ahead = 0;

const dashboard = useDashboard({
  system: {
    settings: { API_TOKEN: ADMIN, READ_TOKENS: READER, SESSION_HOURS: '1' },
    clock: () => Date.now() + ahead,
  },
  async fill({ announce, publish }) {
    await announce('boiler', { site: 'hall', sensors: [{ sensor_id: 'load', type: 'power', unit: 'W' }] });
    await publish('boiler', { sensor_id: 'load', ts: Date.now() - 60_000, value: 21 });
    await publish('boiler', { sensor_id: 'load', ts: Date.now(), value: 'warm' });
  },
});

const afterwards = useCleanUps();

const field = () => dashboard.page.getByLabel('Token');
const heading = (name: string) => dashboard.page.getByRole('heading', { name, exact: true });
const untilLive = () => dashboard.page.locator('.connection[data-status="live"]').waitFor();

async function signIn(token: string) {
  await field().fill(token);
  await dashboard.page.keyboard.press('Enter');
}

/** The browser console lists the refused requests that these tests cause. */
const REFUSED = /status of 401/;

test('Sign-in page: a device page is opened without a session: a token is required, then the device page is shown', async () => {
  await dashboard.visit('/devices/boiler?sort=name');
  await heading('Sign in').waitFor();
  expect(dashboard.takeComplaints()).toEqual([]);
  await dashboard.untilFocused(field());
  await dashboard.lookAt('sign-in');

  dashboard.expectComplaints(REFUSED);
  await signIn('a wrong one');
  await dashboard.page.getByText('This token is not known here.').waitFor();
  await dashboard.lookAt('sign-in-wrong');

  await signIn(ADMIN);
  await heading('boiler').waitFor();
  await untilLive();
  expect(new URL(dashboard.page.url()).search).toBe('?sort=name');
  await until(() => dashboard.page.getByRole('button', { name: 'Retire…' }).isEnabled(), {
    what: 'the action',
  });
  await dashboard.lookAt('signed-in');

  await dashboard.page.reload();
  await untilLive();
  const left = await dashboard.page.evaluate(
    () => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }),
  );
  expect(left).not.toMatch(/token|session/);
});

test('Session: expired while a device page is open: the page asks for a token, then shows new values again', async () => {
  const proxy = await startTcpProxy(dashboard.system.httpUrl);
  afterwards(() => proxy.stop());
  await dashboard.page.goto(`${proxy.url}/devices/boiler?sort=name`);
  await signIn(READER);
  await untilLive();
  // The sign-in page reads /readyz, which answers 503 at first.
  dashboard.expectComplaints(/status of 401|status of 503|net::ERR_/);
  ahead += HOUR_MS;
  proxy.cut('refuse');
  await proxy.open();

  await heading('Sign in').waitFor();
  await dashboard.page.getByText('Your session has ended').waitFor();
  await dashboard.lookAt('session-ended');
  // The page does not repeat refused requests.
  const refused = dashboard.opened.complaints.filter((complaint) => REFUSED.test(complaint));
  expect(refused.length).toBeLessThan(5);

  await signIn(READER);
  await heading('boiler').waitFor();
  await untilLive();
  await dashboard.publish('boiler', { sensor_id: 'load', ts: Date.now(), value: 77 });
  const seen = () => dashboard.page.getByText('77', { exact: true }).count();
  await until(async () => (await seen()) > 0, { what: 'the new value' });
  expect(new URL(dashboard.page.url()).search).toBe('?sort=name');
});
