import { expect, test } from '@jest/globals';
import { defineFeature, type Feature } from '../../api/feature.ts';
import { checkConflicts } from '../../api/feature-conflicts.ts';
import { FEATURES } from '../../api/features/index.ts';
import { defineSettings } from '../../common/settings/index.ts';
import { text } from '../../common/settings/value-types.ts';

const settings = (name: string) => [
  defineSettings({ title: 'A', shape: { [name]: text().optional() }, arrange: (values) => values }),
];
const route = (path: string, id: string) => ({
  method: 'get' as const,
  path,
  operation: {
    id,
    tag: 'operation',
    scope: 'read' as const,
    summary: '',
    answers: { 204: {} },
    problems: [],
  },
  handler: () => () => {},
});
const feature = (name: string, part: Omit<Parameters<typeof defineFeature>[0], 'name'> = {}): Feature =>
  defineFeature({ name, ...part });

test('Features: the listed ones: no two have the same name for something', () => {
  expect(() => checkConflicts(FEATURES)).not.toThrow();
});

test.each<[string, Feature[], string]>([
  ['two of one name', [feature('a'), feature('a')], 'name a: a and a'],
  [
    'a setting',
    [feature('a', { settings: settings('X') }), feature('b', { settings: settings('X') })],
    'setting X: a and b',
  ],
  [
    'a setting of the core',
    [feature('a', { settings: settings('HTTP_PORT') })],
    'setting HTTP_PORT: core and a',
  ],
  [
    'a route, with other names of its parameters',
    [feature('a', { routes: [route('/x/{a}', 'one')] }), feature('b', { routes: [route('/x/{b}', 'two')] })],
    'route GET /x/{}: a and b',
  ],
  [
    'a route of the core',
    [feature('a', { routes: [route('/api/v1/devices', 'one')] })],
    'route GET /api/v1/devices: core and a',
  ],
  [
    'an operation',
    [feature('a', { routes: [route('/x', 'one'), route('/y', 'one')] })],
    'operation one: a and a',
  ],
  [
    'an event',
    [feature('a', { events: { e: {} as never } }), feature('b', { events: { e: {} as never } })],
    'event e: a and b',
  ],
  [
    'the stamps of commits',
    [feature('a', { openStamps: () => ({}) as never }), feature('b', { openStamps: () => ({}) as never })],
    'part openStamps: a and b',
  ],
])('Features: conflict over %s: the error names both', (_, features, text) => {
  expect(() => checkConflicts(features)).toThrow(text);
});
