import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/threat-model.md', root), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| ?| ?\|$/g, '').trim()));

test('every line of the threat model is held by a test that is there', () => {
  expect(rows.length).toBeGreaterThan(20);
  for (const [door, line, holds = ''] of rows) {
    const files = [...holds.matchAll(/`([^`]+)`/g)].map(([, file]) => String(file));
    expect([door, line, files.length > 0]).toEqual([door, line, true]);
    expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
  }
});

test('every test of abuse holds a line', () => {
  for (const name of ['mqtt-connections', 'http-connections', 'requests', 'secrets']) {
    expect(page).toContain(`test/thorough/abuse/${name}.test.js`);
  }
});
