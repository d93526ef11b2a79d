import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { ZodObject } from 'zod';
import { CONTRACTS } from '../../../api/features/index.ts';
import { problemSchemas } from '../../../api/http/contract/openapi.ts';
import { ERRORS } from '../../../common/errors.ts';
import { TOKENS, useHttpApp } from '../../support/http/app.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8').replaceAll(/\s+/g, ' ');

const { version, scripts } = JSON.parse(read('package.json'));

const NAMING = [
  'CONTRIBUTING.md',
  'docs/reference/commands.md',
  'docs/how-to/change-the-dashboard.md',
  'docs/how-to/run-as-a-service.md',
];

test('Scripts of package.json: each is in CONTRIBUTING.md, the reference of commands or a how-to', () => {
  const pages = NAMING.map(read).join();
  const isNamed = (name: string) => new RegExp(`npm (run )?${name}[^\\w:]`).test(pages);
  // `npm run lint` runs the others.
  expect(Object.keys(scripts).filter((name) => !name.startsWith('lint:') && !isNamed(name))).toEqual([]);
});

test('Release version: package-lock.json: the version of package.json', () => {
  const lock = JSON.parse(read('package-lock.json'));
  expect([lock.version, lock.packages[''].version]).toEqual([version, version]);
});

test('Release version: newest release in CHANGELOG.md: it is the version of package.json, with a date', () => {
  const [, newest] = /## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d/.exec(read('CHANGELOG.md')) ?? [];
  expect(newest).toBe(version);
});

test.each([
  'docs/how-to/deploy-to-kubernetes.md',
  'infra/kubernetes/components/image/kustomization.yaml',
  'infra/kubernetes/components/pod/kustomization.yaml',
])('Release version: image tag in %s: the version of package.json', (file) => {
  const tags = [...read(file).matchAll(/(?:millrace:|newTag: )(\d[\d.]*\d)/g)].map(([, tag]) => tag);
  expect([...new Set(tags)]).toEqual([version]);
});

describe('docs/reference/errors.md: the members of a problem', () => {
  const section =
    readFileSync(new URL('docs/reference/errors.md', root), 'utf8').split(
      'Every problem has these members:',
    )[1] ?? '';
  const [common = '', special = ''] = section.split('Some codes have more members:');
  const members = [...common.matchAll(/^- `(\w+)`: /gm)].map(([, member]) => String(member));
  const more = [...special.matchAll(/^- `(\w+)`, `(\w+)`: /gm)].map(([, code, member]) => [code, member]);

  const app = useHttpApp({ settings: TOKENS });

  test('docs/reference/errors.md: members of problem responses: exactly those that the page lists', async () => {
    for (const path of ['/nothing', '/api/v1/caller']) {
      const problem = JSON.parse((await app.send(path)).text);
      expect(Object.keys(problem).sort()).toEqual([...members].sort());
      expect(problem.type).toBe('about:blank');
    }
  });

  test.each([
    ['bad_parameter', '/api/v1/session?unknown=1', {}],
    ['forbidden', '/api/v1/caller', { authorization: `Bearer ${TOKENS.ingestTokens[0]}` }],
  ])('docs/reference/errors.md: problem %s: exactly the listed members', async (code, path, headers) => {
    const problem = JSON.parse((await app.send(path, { headers })).text);
    expect(problem.code).toBe(code);
    const own = more.flatMap(([of, member]) => (of === code ? member : []));
    expect(Object.keys(problem).sort()).toEqual([...members, ...own].sort());
  });

  test('docs/reference/errors.md: problem responses: the page and the OpenAPI document name the same members', () => {
    for (const [code, schema] of problemSchemas(CONTRACTS)) {
      if (ERRORS[code].kind !== 'problem') continue;
      const { shape } = schema as ZodObject;
      const own = more.flatMap(([of, member]) => (of === code ? member : []));
      expect([code, Object.keys(shape).sort()]).toEqual([code, [...members, ...own].sort()]);
    }
  });
});
