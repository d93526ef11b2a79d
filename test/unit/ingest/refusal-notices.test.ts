import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { RefusalNotices } from '../../../api/ingest/refusal-notices.ts';
import type { Refusal } from '../../../common/errors.ts';
import { until } from '../../support/until.ts';

const EVERY_MS = 100;

const FIRST: Refusal = { index: 1, code: 'not_numeric', path: '[1].value', rule: 'must be a number' };

function noticesWithLog() {
  const lines: { msg: string; refused: number; topic: string }[] = [];
  const log = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(line));
      done();
    },
  });
  return { lines, notices: new RefusalNotices({ logger: pino(log), everyMs: EVERY_MS }) };
}

test('Log of refused messages: four refusals: the first is logged at once, the others in one line with sums by code', async () => {
  const { lines, notices } = noticesWithLog();
  notices.refused('iot/v1/a/measurements', { not_numeric: 1, bad_id: 2 }, FIRST);
  notices.refused('iot/v1/a/measurements', { not_numeric: 2 }, FIRST);
  notices.refused('iot/v1/b/measurements', { not_numeric: 1, too_old: 1 }, FIRST);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'refused: 1 not_numeric, 2 bad_id, on "iot/v1/a/measurements": [1].value: must be a number',
  ]);
  expect(lines[0]).toMatchObject({ path: '[1].value', rule: 'must be a number' });
  await until(() => lines.length === 2, { what: 'the sum' });
  expect(lines[1]).toMatchObject({
    msg: 'and 4 more: 3 not_numeric, 1 too_old; the last on "iot/v1/b/measurements": [1].value: must be a number',
    refused: 4,
    path: '[1].value',
    rule: 'must be a number',
  });
});
