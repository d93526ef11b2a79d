import { describe, expect, test } from '@jest/globals';
import { ROUTES } from '../../../api/features/index.ts';
import { send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';

const TOKENS = {
  admin: 'the token that is good for everything',
  read: 'the-token-of-a-reader',
  ingest: 'the-token-of-a-sender',
  correct: 'the-token-of-a-corrector',
};

const GRANTS = {
  admin: ['read', 'ingest', 'correct', 'admin'],
  read: ['read'],
  ingest: ['ingest'],
  correct: ['ingest', 'correct'],
};

const system = useTestSystem({
  settings: {
    API_TOKEN: TOKENS.admin,
    READ_TOKENS: `another-reader-too, ${TOKENS.read}`,
    INGEST_TOKENS: TOKENS.ingest,
    CORRECT_TOKENS: TOKENS.correct,
    TRUST_PROXY: '1',
  },
});

let addresses = 0;
/** A new address for each request, because wrong tokens are counted by address. */
const fromElsewhere = () => `192.0.2.${++addresses}`;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** @param path as OpenAPI writes it @returns a path whose names do not exist, and whose answer does not wait */
const pathOf = (path: string): string =>
  path
    .replaceAll('{id}', 'none')
    .replaceAll(/\{\w+\}/g, 'nothing-has-this-name')
    .replace(/\/changes$/, '/changes?wait=0');

const ask = ({ method, path }: { method: string; path: string }, headers: Record<string, string>) =>
  send(system.httpUrl, pathOf(path), {
    method: path.endsWith('/stream') ? 'HEAD' : method.toUpperCase(),
    headers: { 'x-forwarded-for': fromElsewhere(), ...headers },
  });

describe.each(ROUTES.map((route) => ({ ...route, name: `${route.method} ${route.path}` })))(
  'API route $name',
  (route) => {
    const { scope } = route.operation;

    test('API route: its OpenAPI description: names an access scope', () => {
      expect(['open', 'read', 'ingest', 'correct', 'admin']).toContain(scope);
    });

    test('API route: request with a token: allowed only if the token grants the scope of the route', async () => {
      if (scope === 'open') return;
      const isHead = route.path.endsWith('/stream');
      for (const [kind, token] of Object.entries(TOKENS)) {
        const { status, text } = await ask(route, bearer(token));
        if (GRANTS[kind as keyof typeof GRANTS].includes(scope)) {
          expect([401, 403]).not.toContain(status);
          continue;
        }
        expect(status).toBe(403);
        if (!isHead) expect(JSON.parse(text)).toMatchObject({ code: 'forbidden', scope });
      }
      const { status, headers } = await ask(route, {});
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="Millrace"']);
    });
  },
);

test('API routes that store measurements: replace=true: refused without the scope correct', async () => {
  for (const path of ['/measurements', '/import', '/v2/write']) {
    const url = path === '/v2/write' ? '/api/v2/write?replace=true' : `/api/v1${path}?device=d&replace=true`;
    for (const [token, isAllowed] of [
      [TOKENS.ingest, false],
      [TOKENS.correct, true],
    ] as const) {
      const headers = { 'x-forwarded-for': fromElsewhere(), ...bearer(token) };
      const { status, text } = await send(system.httpUrl, url, { method: 'POST', headers });
      expect(status === 403).toBe(!isAllowed);
      if (!isAllowed) expect(JSON.parse(text)).toMatchObject({ code: 'forbidden', scope: 'correct' });
    }
  }
});

test('API routes with an access scope: any method without a token: answers 401 or 405', async () => {
  const paths = new Set(
    ROUTES.filter(({ operation }) => operation.scope !== 'open').map(({ path }) => pathOf(path)),
  );
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { status } = await send(system.httpUrl, path, { method });
      expect([401, 405]).toContain(status);
    }
  }
});

test('HTTP access: dashboard pages, health checks and API documents: served without a token', async () => {
  const paths = ['/', '/devices/x', '/pipeline', '/mark.svg'];
  for (const path of [...paths, '/healthz', '/readyz', '/openapi.json', '/asyncapi.json']) {
    expect((await send(system.httpUrl, path)).status).toBe(200);
  }
});
