import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeDataset } from '../../../api/export/index.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-dataset-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const NOW = Date.UTC(2026, 10, 21, 12, 20);

test.each([
  ['a text of umlauts', 'ä'.repeat(64), `site=${'ä'.repeat(64)}`],
  ['a short text', 'hall ä/1', 'site=hall%20%C3%A4%2F1'],
  ['a path', '../../../', 'site=..%2F..%2F..%2F'],
])('Data set: the site is %s: the directory is one that the file system takes', async (_, site, name) => {
  const row = {
    id: '00000000-0000-5000-8000-000000000001',
    deviceId: '00000000-0000-5000-8000-000000000002',
    name: 'heat',
    deviceName: 'oven',
    type: null,
    unit: null,
    site,
    ts: NOW,
  };
  const store = {
    fleet: { latestPage: async () => ({ rows: [row], next: null }) },
    devices: { retiredAt: async () => null },
  };
  const reading = {
    async *all() {
      yield { times: Float64Array.of(NOW), values: Float64Array.of(1) };
    },
  };
  const { files } = await writeDataset(/** @type {any} */ ({ store, reading, groups: 4 }), {
    directory,
    selection: {},
    range: { from: NOW, to: NOW + 1 },
    signal: new AbortController().signal,
    onFile: () => {},
  });
  expect(files).toBe(1);
  expect(existsSync(join(directory, name))).toBe(true);
});
