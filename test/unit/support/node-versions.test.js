import { describe, expect, test } from '@jest/globals';
import { chooseVersion, defaultVersions, matches } from '../../nodes/versions.js';

const ENGINES = '>=20.12';

describe('Versions of Node.js to test: no version named', () => {
  test('Node.js versions to test: unit tests: the oldest version of package.json and the version of .nvmrc', () => {
    expect(defaultVersions({ engines: ENGINES, newest: '24\n' })).toEqual(['20.12.0', '24']);
  });

  test.each([
    ['>=20.12', '24', ['20.12.0', '22', '24']],
    ['>=20', '22', ['20.0.0', '22']],
    ['>=21.3', '26', ['21.3.0', '22', '24', '26']],
  ])('Node.js versions to test: all tests, engines %s, .nvmrc %s: %j', (engines, newest, versions) => {
    expect(defaultVersions({ engines, newest, between: true })).toEqual(versions);
  });
});

describe('Versions of Node.js to test: choice among those that exist', () => {
  const available = ['22.3.0', '20.9.0', '20.12.0', '20.12.10', '20.12.9', '20.2.0', '24.0.0', '25.0.0-rc.1'];

  test.each([
    ['20.12', '20.12.10', 'the newest of it'],
    ['20.12.9', '20.12.9', 'exactly that'],
    ['20.12.4', '20.12.9', 'missing: the next newer one'],
    ['20.1', '20.12.0', 'not accepted: the oldest accepted one'],
    ['20.2', '20.12.0', 'exists but is not accepted: the oldest accepted one'],
    ['2', '20.12.0', 'no such major: the oldest accepted version'],
    ['24.1', '24.0.0', 'newer than all: the newest'],
    ['25', '24.0.0', 'a prerelease alone: the newest release'],
  ])('Node.js versions to test: %s is requested: %s is chosen (%s)', (wanted, version) => {
    expect(chooseVersion(wanted, available, ENGINES)).toBe(version);
  });

  test('Node.js versions to test: package.json accepts none of the available versions: the result is null', () => {
    expect(chooseVersion('20', ['18.20.0', '20.11.1'], ENGINES)).toBeNull();
  });
});

test.each([
  ['24', '24.21.0', true],
  ['24.21', '24.21.0', true],
  ['24.21.0', '24.21.0', true],
  ['2', '24.21.0', false],
  ['24.2', '24.21.0', false],
])('Node.js versions to test: %s is requested, %s runs: they match: %s', (wanted, running, isSame) => {
  expect(matches(wanted, running)).toBe(isSame);
});
