import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { MAX_CONCURRENT } from '../../../api/http/long-requests.ts';
import { BOUNDS, PIECE_BYTES } from '../../../api/http/server.ts';
import { PERIODS_MS } from '../../../common/periods.ts';
import { isUnplugged } from '../../support/unplugged.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const page = read('docs/explanation/threat-model.md');

const [limits = ''] = page.split('## Left open');
const [, guarantees = ''] = read('docs/explanation/guarantees.md').split('## The test of each guarantee');
const linesOf = (text: string, mark: string) => text.split('\n').filter((line) => line.startsWith(mark));

const PAGES = [
  ['threat model', linesOf(limits, '- ')],
  ['guarantees', linesOf(guarantees, '| ').filter((line) => !/^\| (guarantee|---)/.test(line))],
] as const;

/** Matches a call whose first argument is a title, also `test.each(...)('title', ...)`, but no skipped test. */
const TITLE = /(?:\b(?:test|describe)|[\])])\(\s*(['"`])(.+?)\1,/g;

const titlesIn = (file: string): string[] =>
  [...read(file).matchAll(TITLE)].map(([, , title]) => String(title));

/** @returns `file` (*title*; *title*) */
const holders = (holds: string): Array<{ file: string; titles: string[] }> =>
  [...holds.matchAll(/`([^`]+\.ts)`(?: \(([^)]+)\))?/g)].map(([, file, titles = '']) => ({
    file: String(file),
    titles: [...titles.matchAll(/\*([^*]+)\*/g)].map(([, title]) => String(title)),
  }));

test.each(PAGES)('Page of the %s: lines: each names an existing test by file and title', (_, lines) => {
  expect(lines.length).toBeGreaterThan(12);
  for (const line of lines) {
    const tests = holders(line);
    const named = tests.some(({ file, titles }) => titles.length > 0 || !file.endsWith('.test.ts'));
    expect([line, named]).toEqual([line, true]);
    for (const { file, titles } of tests) {
      if (isUnplugged(file)) continue;
      expect([file, existsSync(new URL(file, root))]).toEqual([file, true]);
      const inFile = titles.length > 0 ? titlesIn(file) : [];
      const missing = titles.filter((title) => !inFile.some((one) => one.includes(title)));
      expect([file, missing]).toEqual([file, []]);
    }
  }
});

test('Threat model page: files of test/thorough/abuse: each is named', () => {
  for (const folder of ['test/thorough/abuse', 'test/thorough/long/abuse'])
    for (const file of readdirSync(new URL(folder, root))) expect(page).toContain(`${folder}/${file}`);
});

const thousands = (number: number) => number.toLocaleString('en');

test.each([
  ['a request', `A request has ${PERIODS_MS.request / 1000} s to arrive`],
  [
    'a stalled answer',
    `reads nothing ends after ${{ 120000: 'two' }[PERIODS_MS.stall]} minutes, whatever the client sends`,
  ],
  ['a long answer', `Each ${PIECE_BYTES / 2 ** 20} MiB of a waiting answer add the same time again`],
  [
    'connections of HTTP',
    `At most ${thousands(BOUNDS.pending)} connections may be without a request, or with an unread answer. At most ${thousands(BOUNDS.connections)} are open in all`,
  ],
  [
    'streams, exports and series',
    `streams (${thousands(MAX_CONCURRENT.streams)}), exports (${MAX_CONCURRENT.exports}), series (${MAX_CONCURRENT.series}) or queries of many sensors (${MAX_CONCURRENT.queries})`,
  ],
])('Threat model page: limit of %s: the stated number equals that of the code', (_, claim) => {
  expect(page).toContain(claim);
});
