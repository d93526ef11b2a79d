import { expect, test } from '@jest/globals';
import { ALSO, Findings, type Kind, progressText, reportLines } from '../../../../simulator/verify/report.ts';

const FROM = Date.UTC(2026, 10, 21, 10);
const COUNTS = { messages: 1234, devices: 5, acknowledged: 6789, stored: 6790 };
const RANGE = { from: FROM, to: FROM + 1000 };
const SUMMARY = '1,234 messages of 5 devices: 6,789 samples acknowledged, 6,790 stored';
const PERIOD = 'From 2026-11-21T10:00:00.000Z to before 2026-11-21T10:00:01.000Z';

function findingsWith(kinds: Partial<Record<Kind, number>>) {
  const findings = new Findings();
  for (const [kind, count] of Object.entries(kinds)) {
    for (let number = 0; number < count; number++) {
      const finding = { device: 'pump', sensor: 'flow', ts: FROM + number, message: `sample ${number}` };
      findings.add(kind as Kind, finding);
    }
  }
  return findings;
}

const linesOf = (findings: Findings, also?: string, range: { from: number; to: number } = RANGE) =>
  reportLines({ ...COUNTS, agree: findings.total() === 0, range, found: findings.found }, also);

const progress = { messages: 20_000, devices: 0, acknowledged: 0, stored: 0, problems: 0 };

test('Comparison progress: no device is compared yet: the text has the number of read messages', () => {
  expect(progressText(progress)).toBe('Reading the ledger: 20,000 messages');
});

test('Comparison progress: devices are compared: the text has devices, samples and problems so far', () => {
  const counts = { devices: 1, acknowledged: 1000, stored: 1001, problems: 2 };
  expect(progressText({ ...progress, ...counts })).toBe(
    'Compared 1 devices: 1,000 samples acknowledged, 1,001 stored, 2 problems',
  );
});

test('Comparison report: ledger and database agree: the report has counts, time range and the sentence that nothing is missing', () => {
  const agreement = (also: string) => `They agree: nothing is missing, unknown or different, and ${also}.`;
  expect(linesOf(new Findings())).toEqual([SUMMARY, PERIOD, agreement('every latest value is right')]);
  expect(linesOf(new Findings(), ALSO.kafka)).toEqual([
    SUMMARY,
    PERIOD,
    agreement('every record is in its place'),
  ]);
});

test('Comparison report: a finding is printed with its kind, its sensor, its time and its message', () => {
  expect(linesOf(findingsWith({ unknown: 1 }))).toEqual([
    SUMMARY,
    PERIOD,
    '1 unknown: stored, and never sent by this ledger: another simulator may use the same names (--device)',
    '  pump/flow 2026-11-21T10:00:00.000Z: sample 0',
  ]);
});

test('Comparison report: twelve findings of one kind: ten are listed, and two more are counted', () => {
  expect(linesOf(findingsWith({ missing: 10 }))).toHaveLength(13);
  const lines = linesOf(findingsWith({ missing: 12, differing: 1 }));
  expect(lines[2]).toBe('12 missing: acknowledged, and not stored');
  expect(lines[12]).toBe('  pump/flow 2026-11-21T10:00:00.009Z: sample 9');
  expect(lines.slice(13)).toEqual([
    '  and 2 more',
    '1 differing: stored with a value that was not sent, or that an acknowledged one should have replaced',
    '  pump/flow 2026-11-21T10:00:00.000Z: sample 0',
  ]);
});

test('Comparison report: findings of every kind: sorted by severity, each kind with an explanation', () => {
  const findings = findingsWith({ latest: 1, disorder: 1, unknown: 1, differing: 1, missing: 1 });
  expect(findings.total()).toBe(5);
  const kinds = linesOf(findings).flatMap((line) => /^1 (\w+): /.exec(line)?.[1] ?? []);
  expect(kinds).toEqual(['missing', 'differing', 'unknown', 'disorder', 'latest']);
  expect(linesOf(findings)).toContain(
    '1 disorder: sensors whose records are not in the order of their messages',
  );
});
