import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MillraceError } from '../../../../common/errors.js';
import { readSettings } from '../../../../common/settings/index.js';
import { readFlags } from '../../../../tools/sizing/flags.js';
import { installationOf } from '../../../../tools/sizing/formula.js';
import { NODES, RULES } from '../../../../tools/sizing/rules.js';
import { fillMarks, installationTable, partsOfPage, settingLines } from '../../../../tools/sizing/table.js';
import { FIGURES, planOf } from './plan.js';

/** @import { Config } from '../../../../common/settings/config.js' */

/** @param {string} path @returns {string} */
const read = (path) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

describe('Sizing page: the output of npm run size:docs is current', () => {
  test('page: current', () => {
    const page = read('docs/explanation/sizing.md');
    expect(fillMarks(page, partsOfPage(planOf(), FIGURES))).toBe(page);
  });

  test('page without marks: unchanged', () => {
    expect(() => fillMarks('nothing', { example: 'table' })).toThrow(RangeError);
  });
});

test('Rules: each one: has a source, a unit and a label', () => {
  for (const { source, unit, label } of Object.values(RULES)) {
    expect([source, unit, label].every((text) => text.length > 0)).toBe(true);
  }
});

test('Sizing: node types and free limits: those of the Terraform modules', () => {
  expect(NODES['i7i.2xlarge']).toEqual({ vcpus: 8, diskBytes: 1875e9 });
  const license = read('infra/terraform/modules/scylla-bootstrap/license.tf');
  expect(license).toMatch(new RegExp(`free_vcpus\\s+= ${RULES.freeVcpus.value}\\n`));
  expect(license).toMatch(new RegExp(`free_storage_tb\\s+= ${RULES.freeDisk.value / 1e12}\\n`));
});

test('Sizing table: one million sensors at 1 Hz: the samples of a second', () => {
  const { fleet, parts } = planOf();
  const { rows } = installationTable(installationOf(fleet, parts, FIGURES));
  expect(rows).toContainEqual(['samples/s', '1 million']);
});

test('Sizing table: no number of processes is enough: the table states it', () => {
  const { fleet, parts } = planOf('--sensors 1e12 --births 1m');
  const { rows } = installationTable(installationOf(fleet, parts, FIGURES));
  expect(rows).toContainEqual(['ingest processes', 'no number is enough']);
});

describe('Sizing: lines for .env', () => {
  /** @param {string} flags @returns {Config['retention']} */
  const readBack = (flags) => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-size-'));
    const envFile = join(directory, '.env');
    writeFileSync(envFile, settingLines(planOf(flags).fleet).join('\n'));
    try {
      return readSettings({}, { envFile }).retention;
    } finally {
      rmSync(directory, { recursive: true });
    }
  };

  test.each([
    ['', { latestGroups: 128, batchDays: 30, historyDays: 365 }],
    ['--sensors 160000', { latestGroups: 16, batchDays: 30, historyDays: 365 }],
    ['--sensors 160001', { latestGroups: 32, batchDays: 30, historyDays: 365 }],
    ['--retention 4d --history 4d', { latestGroups: 128, batchDays: 4, historyDays: 4 }],
    [
      '--sensors 1e12 --retention 3650d --history 7300d',
      { latestGroups: 65_536, batchDays: 3650, historyDays: 7300 },
    ],
  ])('Settings for %p: the application accepts them', (flags, retention) => {
    expect(readBack(flags)).toEqual(retention);
  });
});

describe('Sizing: flags', () => {
  test('numbers like 1e6, durations with a unit: read', () => {
    const { fleet, parts } = planOf(
      '--sensors 2e6 --interval 500ms --batch 5m --history 2y --node-disk 7500',
    );
    expect(fleet).toMatchObject({ sensors: 2e6, intervalMs: 500, batchMs: 300_000, historyDays: 730 });
    expect(parts.node).toEqual({ vcpus: 8, diskBytes: 7.5e12 });
  });

  test('Flags: an unknown node type: its vCPUs and disk must be given', () => {
    const { parts } = planOf('--node mine --node-vcpu 32 --node-disk 15000');
    expect(parts.node).toEqual({ vcpus: 32, diskBytes: 15e12 });
    expect(() => planOf('--node mine')).toThrow(/--node is one of/);
  });

  test.each([
    ['--retention 5h', /--retention is whole days/],
    ['--retention 3651d --history 20y', /--retention is whole days, 4 to 3650/],
    ['--history 10d', /--history is whole days/],
    ['--interval 1ms --batch 1h', /samples in a message/],
    ['--sensors 5', /--sensors is fewer/],
    ['--headroom 1', /--headroom is below 1/],
    ['--fill 1.5', /--fill is 1 at most/],
    ['--signal noise', /--signal is/],
    ['--sensors many', /--sensors takes a number/],
  ])('Flags: %s: the error names the problem', (flags, message) => {
    expect(() => readFlags(flags.split(' '))).toThrow(message);
    expect(() => readFlags(flags.split(' '))).toThrow(MillraceError);
  });
});
