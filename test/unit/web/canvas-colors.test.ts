import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const NUMBERS = ['--text-scale'];

const textOf = (pattern: string) =>
  globSync(pattern)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');

test('Colors of canvases: custom properties that scripts read: registered, so their values are computed colors', () => {
  const read = textOf('web/**/*.{ts,tsx}').matchAll(/(?:getPropertyValue|\bcolor)\('(--[\w-]+)'\)/g);
  const registered = [...textOf('web/**/*.css').matchAll(/@property (--[\w-]+)/g)].map(([, name]) => name);
  const names = new Set([...read].map(([, name]) => name));
  expect(names.size).toBeGreaterThan(5);
  expect([...names].filter((name) => !registered.includes(name) && !NUMBERS.includes(String(name)))).toEqual(
    [],
  );
});
