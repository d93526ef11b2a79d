import { expect, test } from '@jest/globals';
import { send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const ADMIN = 'the token that is good for everything';
const READER = 'the-token-of-a-reader';
const SENDER = 'the-token-of-a-sender';
const HOUR_MS = 3_600_000;

const settings = {
  API_TOKEN: ADMIN,
  READ_TOKENS: READER,
  INGEST_TOKENS: SENDER,
  TRUST_PROXY: '1',
  CURSOR_SECRET: 'the same in all processes',
};

let ahead = 0;

const system = useTestSystem({ settings, clock: () => Date.now() + ahead });

const signIn = (token: string, headers: Record<string, string> = {}) =>
  send(system.httpUrl, '/api/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1', ...headers },
    body: JSON.stringify({ token }),
  });

async function sessionOf(token: string): Promise<string> {
  const [cookie = ''] = (await signIn(token)).headers['set-cookie'] ?? [];
  return String(cookie.split(';', 1)[0]);
}

async function whoIs(cookie: string, origin: string = system.httpUrl) {
  return JSON.parse((await send(origin, '/api/v1/session', { headers: { cookie } })).text);
}

test('Dashboard session: expires while a stream is open: the stream ends', async () => {
  let cookie = '';
  // On a busy machine the session may end before its stream begins.
  const response = await until(async () => {
    cookie = await sessionOf(READER);
    ahead += 12 * HOUR_MS - 1500;
    const answer = await fetch(`${system.httpUrl}/api/v1/stream`, { headers: { cookie } });
    return answer.status === 200 ? answer : null;
  });
  // Without the expiry this stream would never end.
  await response.text();
  expect(await whoIs(cookie)).toMatchObject({ scopes: [] });
});
