import { expect, test } from '@jest/globals';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { readSenml } from '../../../../api/ingest/decode/senml.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

/** The accepted times include the examples of 2010. */
function read(pack: unknown[]) {
  const rules = { receivedAt: NOW, oldest: 0, newest: NOW + 1e9, relative: true };
  const batch = new MessageBatch(rules);
  readSenml(pack, batch);
  const found = [...batch.sensors].flatMap(([sensor, { times, values }]) =>
    times.map((ts, at) => [sensor, ts, values[at]]),
  );
  return { found, refused: batch.refused, skipped: batch.counts.skipped };
}

const DEVICE = 'urn:dev:ow:10e2073a01080063';

test('SenML, RFC 8428 section 5.1.2: several records with a base name and a base time: all are read', () => {
  const at = 1_276_020_076_001;
  const bn = 'urn:dev:ow:10e2073a0108006:';
  const { found } = read([
    { bn, bt: 1.276020076001e9, bu: 'A', bver: 5, n: 'voltage', u: 'V', v: 120.1 },
    { n: 'current', t: -5, v: 1.2 },
    { n: 'current', t: -4, v: 1.3 },
    { n: 'current', v: 1.7 },
  ]);
  expect(found).toEqual([
    [`${bn}voltage`, at, 120.1],
    [`${bn}current`, at - 5000, 1.2],
    [`${bn}current`, at - 4000, 1.3],
    [`${bn}current`, at, 1.7],
  ]);
});

test('SenML, RFC 8428 section 5.1.4: several types of data: numbers and booleans are read, texts and data are skipped', () => {
  const { found, skipped, refused } = read([
    { bn: `${DEVICE}:`, n: 'temp', u: 'Cel', v: 23.1 },
    { n: 'label', vs: 'Machine Room' },
    { n: 'open', vb: false },
    { n: 'nfc-reader', vd: 'aGkgCg' },
  ]);
  expect(found).toEqual([
    [`${DEVICE}:temp`, NOW, 23.1],
    [`${DEVICE}:open`, NOW, 0],
  ]);
  expect({ skipped, refused }).toEqual({ skipped: 2, refused: [] });
});

test('SenML, RFC 8428 section 4.5.3: time below 2^28 s: relative to the time of receipt', () => {
  expect(read([{ bn: 'a', bt: -10, t: -5, v: 1 }]).found).toEqual([['a', NOW - 15_000, 1]]);
  expect(read([{ bn: 'a', bt: 2 ** 28 - 1, t: 1, v: 1 }]).found).toEqual([['a', 2 ** 28 * 1000, 1]]);
});
