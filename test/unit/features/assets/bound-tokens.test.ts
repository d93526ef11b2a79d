import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import pino from 'pino';
import * as annotations from '../../../../api/features/annotations/routes.ts';
import { createAnnotationStore } from '../../../../api/features/annotations/store.ts';
import { ASSET_SETTINGS, createBoundTokens } from '../../../../api/features/assets/bound-tokens.ts';
import { editingRoutes } from '../../../../api/features/assets/routes/editing.ts';
import { readingRoutes } from '../../../../api/features/assets/routes/reading.ts';
import { ROUTES } from '../../../../api/features/index.ts';
import { bindRoutes } from '../../../../api/http/serve.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import {
  createTestTree,
  device,
  EDITOR,
  startTestTree,
  type TestTree,
} from '../../../support/features/assets/tree.ts';
import { type HttpApp, startHttpApp, TOKENS } from '../../../support/http/app.ts';
import { isUnplugged } from '../../../support/unplugged.ts';

const HOUR = Date.UTC(2026, 10, 24, 12);
const NOW = HOUR + 20 * 60_000;

const bound = (scope: string, place: string = 'a/b') =>
  `${scope} ${scope}-of-${place.replaceAll('/', '-')} ${place}`;
/** No token of a place has the scope `correct` alone. */
const token = (scope: string, place: string = 'a/b') =>
  bound(scope === 'correct' ? 'admin' : scope, place).split(' ')[1] ?? '';

let assets: TestTree & Awaited<ReturnType<typeof startTestTree>>;
let app: HttpApp;

const settingsOf = (ASSET_TOKENS: string, more: Record<string, string> = {}) =>
  readSettings(
    { API_TOKEN: TOKENS.apiToken, ASSET_TOKENS, ...more },
    { envFile: '/nowhere', groups: [ASSET_SETTINGS] },
  );

/** Creates assets, devices at them, and an application with all routes. `isReal`: the handlers of edits, instead of ones that only answer. */
async function startApp({ isReal, ids = [] }: { isReal: boolean; ids?: string[] }): Promise<HttpApp> {
  const { tree, log, edits, store } = assets;
  const scopes = ['read', 'ingest', 'admin'].map((scope) => bound(scope));
  const setting = [...scopes, ...ids.map((id) => bound('read', id))].join(', ');
  const { tokens } = settingsOf(setting).of(ASSET_SETTINGS);
  const logger = pino({ level: 'silent' });
  const config = { retention: { historyDays: 365 }, ingest: { maxClockSkewMs: 0 } };
  const context = { logger, clock: () => NOW, config };
  const deps = { tree, log, edits, context, annotations: createAnnotationStore(store.session) } as never;
  const real = bindRoutes<never>([...editingRoutes, ...readingRoutes, ...annotations.routes], deps);
  const routes = ROUTES.filter(({ operation }) => operation.scope !== 'open').map((route) => {
    const { handler } = real.find(({ operation }) => operation.id === route.operation.id) ?? {};
    const needsBody = route.operation.targets === 'body';
    const answer = (_: unknown, res: { json: (body: object) => void }) => void res.json({});
    return { ...route, handler: (handler && (isReal || needsBody) ? handler : answer) as never };
  });
  return startHttpApp({ settings: TOKENS, boundTokens: createBoundTokens(log, tokens), routes });
}

beforeEach(async () => {
  assets = await startTestTree(() => NOW);
  await assets.create({
    a: 'site',
    'a/b': 'area',
    'a/b/line': 'line',
    'a/b/gone': 'line',
    'a/bc': 'area',
    'a/bc/line': 'line',
  });
  await assets.edits.retire(EDITOR, assets.idOf('a/b/gone'));
  await assets.place('inside', 'a/b/line');
  await assets.place('outside', 'a/bc/line');
  await assets.place('split', 'a/b/line');
  await assets.place('split/far', 'a/bc');
  await assets.place('outside/near', 'a/b');
});

let stop: (() => Promise<void>) | undefined;
afterAll(() => stop?.());

async function use(options: Parameters<typeof startApp>[0]) {
  await stop?.();
  app = await startApp(options);
  stop = app.stop;
}

const ask = (method: string, path: string, bearer: string | null, body?: object) =>
  app.send(path, {
    method: method.toUpperCase(),
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body && { body: JSON.stringify(body) }),
  });

const statusOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).status;

type Names = { device: string; sensor: string; asset: string };

let created = 0;

/** Requests of routes whose body names what they touch. */
const BODIES: Record<string, (names?: Names) => object> = {
  createAsset: (names) => ({ name: `new ${++created}`, ...(names && { parent: names.asset }) }),
  storeAnnotation: (names) => ({ text: 'a text', ...(names && { device: names.device }) }),
};

const CASES: Array<[string, Names, boolean]> = [
  ['inside', { device: 'inside', sensor: 'flow', asset: 'a/b/line' }, true],
  ['outside', { device: 'outside', sensor: 'flow', asset: 'a/bc/line' }, false],
  ['in a sibling whose path begins alike', { device: 'outside', sensor: 'flow', asset: 'a/bc' }, false],
  ['above', { device: 'split', sensor: 'far', asset: 'a' }, false],
  ['missing', { device: 'nobody', sensor: 'flow', asset: 'a/b/nothing' }, false],
];

type Route = (typeof ROUTES)[number];

const queryOf = ({ operation }: Route, names: Names) =>
  Object.entries(names)
    .filter(([name]) => name in (operation.query ?? {}))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

const pathOf = ({ path }: Route, names: Names) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(names[name as keyof Names] ?? 'x'));

const GUARDED = ROUTES.filter(({ operation }) => operation.scope !== 'open');

describe('Bound token', () => {
  test('Bound token: each route: allowed within its asset if the route has targets; otherwise 403; without a token 401', async () => {
    await use({ isReal: false });
    for (const route of GUARDED) {
      const { id, scope, targets } = route.operation;
      const request = (names: Names, bearer: string | null) =>
        statusOf(
          route.method,
          `${pathOf(route, names)}?${queryOf(route, names)}`,
          bearer,
          BODIES[id]?.(names),
        );
      for (const [what, names, isInside] of CASES) {
        const status = await request(names, token(scope));
        const expected = isInside && targets !== undefined ? [200, 201] : [403];
        expect([id, what, expected]).toEqual([id, what, expect.arrayContaining([status])]);
        if (what === 'inside' && targets)
          expect([id, await request(names, token('admin'))]).not.toContain(403);
        expect([id, await request(names, null)]).toEqual([id, 401]);
      }
      const [, inside] = CASES[0] as (typeof CASES)[number];
      for (const other of ['read', 'ingest'].filter((each) => each !== scope))
        expect([id, await request(inside, token(other))]).toEqual([id, 403]);
      expect([200, 201]).toContain(await request(inside, TOKENS.apiToken));
    }
  });

  test('Bound token on each route that names targets in its query or body: the request names none: 403', async () => {
    await use({ isReal: false });
    const [, inside] = CASES[0] as (typeof CASES)[number];
    const routes = GUARDED.filter(
      ({ path, operation }) => operation.targets && !/\{(device|asset)\}/.test(path),
    );
    expect(routes.length).toBeGreaterThan(3);
    for (const route of routes) {
      const { id, scope } = route.operation;
      const status = await statusOf(route.method, pathOf(route, inside), token(scope), BODIES[id]?.());
      expect([id, status]).toEqual([id, 403]);
    }
  });

  test('Bound token: list of routes in the manual: exactly those that it may use', () => {
    const page = readFileSync('docs/how-to/protect-the-api.md', 'utf8');
    const [list = ''] = (page.split('## Tokens for a part of the tree\n')[1] ?? '').split('\n## ');
    const listed = [...list.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^`]*)`/g)].map(
      ([, method, path]) => `${method} ${path}`,
    );
    const usable = GUARDED.filter(({ operation }) => operation.targets).map(
      ({ method, path }) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`,
    );
    expect(listed).toEqual(expect.arrayContaining(usable));
    const others = ['baselines', 'corrections', 'export', 'query'].map((name) => `api/features/${name}`);
    if (!others.some(isUnplugged)) expect(listed.sort()).toEqual(usable.sort());
  });

  test.each([
    ['a/b', 200],
    ['a/b/line', 200],
    ['a', 403],
    ['a/bc', 403],
    ['a/b/', 403],
    ['a//b', 403],
    ['A/B', 403],
    ['a/b ', 403],
    ['a/b/../bc', 403],
    ['a%2Fb', 403],
    ['a/b/gone', 403],
    ['null', 403],
    ['__proto__', 403],
  ])('Bound token to a/b: asset %j: %i', async (path, status) => {
    await use({ isReal: false });
    expect(await statusOf('get', `/api/v1/assets/${encodeURIComponent(path)}`, token('read'))).toBe(status);
    expect(await statusOf('get', `/api/v1/assets/${encodeURIComponent(path)}?at=-1h`, token('read'))).toBe(
      403,
    );
  });

  test('Bound token: ids: an asset or device within by its id, no retired asset, no id in capitals', async () => {
    const retired = [...assets.tree.ids()].find((id) => assets.tree.asset(id)?.isRetired) ?? '';
    await use({ isReal: false });
    const { id } = device('inside');
    for (const [path, status] of [
      [`assets/${assets.idOf('a/b/line')}`, 200],
      [`assets/${assets.idOf('a/bc')}`, 403],
      [`assets/${retired}`, 403],
      [`devices/${id}`, 200],
      [`devices/${device('outside').id}`, 403],
      [`devices/${id.toUpperCase()}`, 403],
      ['devices/Inside', 403],
      [`latest?device=inside`, 200],
      [`latest?device=inside&device=outside`, 403],
      [`latest?site=a&device=outside`, 403],
      [`query?device=inside&device=${id}`, 200],
      [`query?device=inside&device=outside`, 403],
      [`query?asset=${encodeURIComponent('a/b/line')}`, 200],
      [`query?asset=${encodeURIComponent('a/bc')}`, 403],
      [`query?asset=${encodeURIComponent('a/b')}&device=outside`, 403],
      [`query?asset=${encodeURIComponent('a/b')}&asset=a`, 403],
      [`query?group_level=line`, 403],
      [`stream?device=inside`, 403],
      [`changes?device=inside`, 403],
    ] as const)
      expect([path, await statusOf('get', `/api/v1/${path}`, token('read'))]).toEqual([path, status]);
  });

  test('Bound token: a sensor has a place apart from its device: each by its own place, the device only if all are within', async () => {
    await use({ isReal: false });
    for (const [path, status] of [
      ['devices/split', 403],
      ['devices/split/sensors/flow', 200],
      ['devices/split/sensors/far', 403],
      ['devices/outside', 403],
      ['devices/outside/sensors/near', 200],
      ['devices/outside/sensors/flow', 403],
    ] as const)
      expect([path, await statusOf('get', `/api/v1/${path}`, token('read'))]).toEqual([path, status]);
    expect(await statusOf('post', '/api/v1/measurements?device=split', token('ingest'))).toBe(403);
    expect(await statusOf('post', '/api/v1/measurements?device=inside', token('ingest'))).toBe(200);
  });

  test('Bound token: another process moves a device out of the asset, and back: the next request gets 403, and then 200', async () => {
    await use({ isReal: false });
    const other = createTestTree({ store: assets.store, clock: () => NOW });
    await other.log.refresh();
    const read = () => statusOf('get', '/api/v1/devices/inside/sensors/flow/series', token('read'));
    expect(await read()).toBe(200);
    await other.place('inside', 'a/bc');
    expect(await read()).toBe(403);
    await other.place('inside', 'a/b');
    expect(await read()).toBe(200);
    await other.edits.retireDevice(device('inside'));
    expect(await read()).toBe(403);
  });

  test('Bound token: its asset is renamed or moved: a path no longer reaches it, an asset_id does', async () => {
    const id = assets.idOf('a/b');
    await use({ isReal: false, ids: [id] });
    const both = async () => [
      await statusOf('get', '/api/v1/devices/inside', token('read')),
      await statusOf('get', '/api/v1/devices/inside', token('read', id)),
    ];
    expect(await both()).toEqual([200, 200]);
    await assets.edits.change(EDITOR, id, { name: 'c' });
    expect(await both()).toEqual([403, 200]);
    await assets.edits.change(EDITOR, id, { name: 'b' });
    await assets.create({ z: 'site' });
    await assets.move('a/b', 'z');
    expect(await both()).toEqual([403, 200]);
    await assets.create({ 'a/b': 'area' });
    expect(await both()).toEqual([403, 200]);
  });

  test('Bound token: scope admin: moves and places stay within its asset, and never change the past', async () => {
    await use({ isReal: true });
    const edit = (method: string, path: string, body?: object) =>
      statusOf(method, `/api/v1/${path}`, token('admin'), body);
    const line = `assets/${encodeURIComponent('a/b/line')}`;
    for (const [path, body] of [
      [`${line}/parent`, { parent: 'a/bc' }],
      [`${line}/parent`, { parent: 'a' }],
      [`${line}/parent`, { parent: null }],
      [`${line}/parent`, { parent: 'a/nothing' }],
      [`${line}/parent`, { parent: 'a/b', since: 0 }],
      [`assets/${encodeURIComponent('a/bc/line')}/parent`, { parent: 'a/b' }],
      ['devices/inside/assets', { asset: 'a/bc' }],
      ['devices/inside/assets', { asset: 'a/b', since: 0 }],
      ['devices/outside/assets', { asset: 'a/b' }],
      ['devices/nobody/assets', { asset: 'a/b' }],
      ['devices/split/assets', { asset: 'a/b' }],
    ] as const)
      expect([path, body, await edit('put', path, body)]).toEqual([path, body, 403]);
    // Without its own place the sensor would be where its device is.
    expect(await edit('delete', 'devices/outside/assets?sensor=near')).toBe(403);
    expect(await edit('post', 'assets', { name: 'x', parent: 'a/bc' })).toBe(403);

    expect(await edit('post', 'assets', { name: 'x', parent: 'a/b' })).toBe(201);
    expect(await edit('put', `${line}/parent`, { parent: 'a/b' })).toBe(200);
    expect(await edit('put', 'devices/inside/assets?sensor=flow', { asset: 'a/b/x' })).toBe(200);
    expect(assets.ancestors('inside/flow', HOUR)).toEqual(['a/b/x', 'a/b', 'a']);
    expect(assets.ancestors('inside/flow', HOUR - HOUR_MS)).toEqual(['a/b/line', 'a/b', 'a']);
    expect(await edit('delete', 'devices/inside/assets')).toBe(204);
    expect(await edit('delete', 'devices/inside/assets')).toBe(403);
    expect(await edit('patch', 'assets/a%2Fb', { name: 'renamed' })).toBe(200);
    expect(await edit('patch', `assets/${encodeURIComponent('a/renamed')}`, { name: 'b' })).toBe(403);
  });

  test('Bound token: the places of a device: only those within its asset, also in the answer of an edit', async () => {
    await use({ isReal: true });
    const pathsOf = async (...request: Parameters<typeof ask>) => {
      const { places }: { places: Array<{ path: string }> } = JSON.parse((await ask(...request)).text);
      return places.map(({ path }) => path);
    };
    const place = 'devices/outside/assets?sensor=near';
    const body = { asset: 'a/b/line' };
    expect(await pathsOf('put', `/api/v1/${place}`, token('admin'), body)).toEqual(['a/b', 'a/b/line']);
    expect(await pathsOf('put', `/api/v1/${place}`, TOKENS.apiToken, body)).toEqual([
      'a/bc/line',
      'a/b',
      'a/b/line',
    ]);
    await assets.place('inside', 'a/bc', HOUR - 2 * HOUR_MS);
    await assets.place('inside', 'a/b', HOUR - HOUR_MS);
    expect(await pathsOf('get', '/api/v1/devices/inside/assets', token('read'))).toEqual(['a/b/line', 'a/b']);
  });

  test('Bound token: sign-in at the dashboard: 403, and no cookie', async () => {
    await use({ isReal: false });
    const { status, headers } = await ask('post', '/api/v1/session', null, { token: token('admin') });
    expect([status, headers['set-cookie']]).toEqual([403, undefined]);
  });
});

test.each([
  ['write t a', 'must be SCOPE TOKEN ASSET, separated by commas; item 1 is not'],
  ['read t a, read secret', 'must be SCOPE TOKEN ASSET, separated by commas; item 2 is not'],
  ['read t a, admin t b', 'must not hold a token twice'],
  [`read ${TOKENS.apiToken} a`, 'must not hold a token that is in API_TOKEN: each token has one scope'],
])('ASSET_TOKENS=%s: refused: %s', (setting, message) => {
  expect(() => settingsOf(setting)).toThrow(new RegExp(`ASSET_TOKENS ${message}$`));
});

test('ASSET_TOKENS: a token is short beyond loopback, or API_TOKEN is missing: refused', () => {
  const exposed = { TRUST_PROXY: '1' };
  expect(() => settingsOf('read short a', exposed)).toThrow(/Each of ASSET_TOKENS must have 16 characters/);
  expect(() => settingsOf('read t a', { API_TOKEN: '' })).toThrow(
    'API_TOKEN must be set when ASSET_TOKENS is set',
  );
});

test('ASSET_TOKENS: spaces in a path, several tokens: each with its asset, and each token is a secret', () => {
  const config = settingsOf('read t1 Plant 1/Hall 2,\nadmin  t2  Plant 1');
  expect(config.of(ASSET_SETTINGS).tokens).toEqual([
    { scope: 'read', token: 't1', place: 'Plant 1/Hall 2' },
    { scope: 'admin', token: 't2', place: 'Plant 1' },
  ]);
  expect(config.secrets).toEqual(expect.arrayContaining(['t1', 't2']));
});
