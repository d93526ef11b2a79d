import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { ZodObject } from 'zod';
import { PROBLEM_CODES, PROBLEMS } from '../../../api/http/contract/operation.ts';
import { ERRORS } from '../../../common/errors.ts';
import { SETTINGS } from '../../../common/settings/index.ts';
import { PINNED } from '../../../infra/first-stage.js';
import { groupsFor } from '../../../schema/sizes.ts';
import { SUITES } from '../../suites.ts';
import { TOKENS, useHttpApp } from '../../support/http/app.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8').replaceAll(/\s+/g, ' ');

describe('LATEST_GROUPS: the documents name the sensors for its default', () => {
  const groups = Number(SETTINGS['LATEST_GROUPS']?.fallback);
  const sensors = 160_000;

  test('LATEST_GROUPS: the default suits 160,000 sensors, and 160,001 sensors need twice as many groups', () => {
    expect([groupsFor(sensors), groupsFor(sensors + 1)]).toEqual([groups, 2 * groups]);
  });

  test.each([
    [
      'docs/explanation/data-model.md',
      `\`LATEST_GROUPS\` partitions (default ${groups}, good for 160,000 sensors)`,
    ],
    ['docs/how-to/secure-an-installation.md', 'the defaults suit up to 160,000 sensors'],
    ['.env.example', `LATEST_GROUPS=${groups}`],
    ['docs/explanation/sizing.md', `Its default of ${groups} suits up to 160,000 sensors.`],
  ])('LATEST_GROUPS: %s: the document states the default or its 160,000 sensors', (file, claim) => {
    expect(read(file)).toContain(claim);
  });
});

describe('Node.js: the oldest supported version', () => {
  const engines = JSON.parse(read('package.json')).engines.node;
  const oldest = engines.replace('>=', '');

  test('Oldest supported Node.js: engines in package.json: the range has the form >=major.minor', () => {
    expect(engines).toMatch(/^>=\d+\.\d+$/);
  });

  test.each([
    ['README.md', `You need Node.js ${oldest} or newer`],
    ['docs/how-to/deploy-with-compose.md', `(Node.js ${oldest} or newer`],
    ['CONTRIBUTING.md', `Node.js ${oldest}`],
  ])('Oldest supported Node.js: %s: the document states the version of package.json', (file, claim) => {
    expect(read(file)).toContain(claim);
  });
});

describe('Version: package.json and the other files', () => {
  const { version } = JSON.parse(read('package.json'));

  test('Release version: package-lock.json has the version of package.json', () => {
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

  test('Node.js version for development: .nvmrc: its major version is that of the container image, which the first stage installs', () => {
    expect(PINNED).toMatch(new RegExp(`^${read('.nvmrc').trim()}[.]`));
    expect(read('infra/versions.env')).toContain(`NODE_IMAGE=node:${PINNED}-`);
  });
});

describe('docs/decisions: the records and their index', () => {
  const folder = new URL('docs/decisions/', root);
  const files = readdirSync(folder).filter((name) => name !== 'README.md');
  const index = readFileSync(new URL('README.md', folder), 'utf8');
  const listed = [...index.matchAll(/^\| \[(\d{4})\]\((\S+)\) \| (.+) \| (.+) \| (\S+) \|$/gm)];

  test('docs/decisions: the index lists every decision record, with ascending numbers', () => {
    expect(listed.map(([, , file]) => file)).toEqual(files.sort());
    const numbers = listed.map(([, number]) => Number(number));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  test.each(listed.map(([, ...row]) => row))(
    'docs/decisions: record %s: title, status and date equal those in the index, and all sections exist',
    (number, file, title, status, date) => {
      const text = readFileSync(new URL(String(file), folder), 'utf8');
      expect(text).toMatch(new RegExp(`^# ${number}: ${title}\n\n- Status: ${status}\n- Date: ${date}\n`));
      const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, part]) => part);
      expect(parts).toEqual(['Context', 'Options', 'Decision', 'Consequences', 'See also']);
      expect([...text.matchAll(/^### /gm)].length).toBeGreaterThan(1);
      for (const sign of ['For', 'Against', 'Good', 'Bad']) expect(text).toContain(`\n- ${sign}: `);
    },
  );

  test.each(['README.md', ...files])('docs/decisions: %s: every link leads to a file', (file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link]) => String(link));
    expect(links.filter((link) => !existsSync(new URL(link, folder)))).toEqual([]);
  });
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

  test('docs/reference/errors.md: every problem response has exactly the members that the page lists', async () => {
    for (const path of ['/nothing', '/api/v1/caller']) {
      const problem = JSON.parse((await app.send(path)).text);
      expect(Object.keys(problem).sort()).toEqual([...members].sort());
      expect(problem.type).toBe('about:blank');
    }
  });

  test.each([
    ['bad_parameter', '/api/v1/session?unknown=1', {}],
    ['forbidden', '/api/v1/caller', { authorization: `Bearer ${TOKENS.ingestTokens[0]}` }],
  ])('docs/reference/errors.md: problem %s has exactly the listed members', async (code, path, headers) => {
    const problem = JSON.parse((await app.send(path, { headers })).text);
    expect(problem.code).toBe(code);
    const own = more.flatMap(([of, member]) => (of === code ? member : []));
    expect(Object.keys(problem).sort()).toEqual([...members, ...own].sort());
  });

  test('docs/reference/errors.md: problem responses: the page and the OpenAPI document name the same members', () => {
    for (const code of PROBLEM_CODES.filter((one) => ERRORS[one].kind === 'problem')) {
      const { shape } = PROBLEMS[code] as ZodObject;
      const own = more.flatMap(([of, member]) => (of === code ? member : []));
      expect([code, Object.keys(shape).sort()]).toEqual([code, [...members, ...own].sort()]);
    }
  });
});

test.each(['gate', 'all'])('Continuous integration: plan %s: every script that it runs exists', (plan) => {
  const checks = read('.ci/checks.ts');
  const { scripts } = JSON.parse(read('package.json'));
  const named = [...checks.matchAll(/'(test(?::\w+)?|lint)'/g)].map(([, name]) => String(name));
  expect(new Set(named).size).toBeGreaterThan(4);
  expect(named.filter((name) => !scripts[name])).toEqual([]);
  const [, flags = ''] = /'test\/run\.[jt]s',([^\]]+)\]/.exec(checks) ?? [];
  const suites = [...flags.matchAll(/'--(\w+)'/g)].map(([, name]) => String(name));
  expect(suites.length).toBeGreaterThan(2);
  expect(suites.filter((name) => !Object.hasOwn(SUITES, name))).toEqual([]);
  expect([read('.ci/run'), scripts['test:all']].join('\n')).toMatch(
    new RegExp(`\\.ci/checks\\.[jt]s ${plan}`),
  );
});
