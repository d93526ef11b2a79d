import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeadLetter } from '../../../../../web/features/dead-letters/api.ts';
import { elementOf } from '../../../../../web/features/dead-letters/codes.tsx';
import { obstacleOf } from '../../../../../web/features/dead-letters/replay.tsx';
import {
  bytesIn,
  dumpOf,
  escapeInvisible,
  escapeLine,
  previewOf,
} from '../../../../../web/features/dead-letters/text.ts';

const deadLetterOf = (payload: string | Buffer, more: Partial<DeadLetter> = {}) => ({
  id: 'i',
  ts: '2026-11-21T00:00:00.000Z',
  device: 'd',
  topic: 't',
  codes: { malformed: 1 },
  refused: [],
  content_type: null,
  size: Buffer.byteLength(payload),
  payload_base64: Buffer.from(payload).toString('base64'),
  ...more,
});

describe('Invisible characters', () => {
  test('Invisible characters: text with control and zero-width characters: these are escaped as in JSON', () => {
    expect(escapeInvisible('a\u0000\u0007\t\u202eb\u200b\ufeff\u0085\nc')).toBe(
      'a\\u0000\\u0007\\u0009\\u202eb\\u200b\\ufeff\\u0085\nc',
    );
    expect(escapeInvisible('ä 漢 😀 é')).toBe('ä 漢 😀 é');
    expect(escapeInvisible('\ud83d')).toBe('\\ud83d');
    expect(escapeLine('a\nb')).toBe('a\\nb');
  });
});

describe('Payload', () => {
  test.each([
    ['iot/v1/a/measurements', 'measurement'],
    ['iot/v1/a/birth', 'sensor'],
    ['spBv1.0/g/DDATA/n/d', 'metric'],
  ])('Payload of a dead letter: topic %s: an element of the payload is called %s', (topic, element) =>
    expect(elementOf(topic)).toBe(element),
  );

  test('Payload of a dead letter: hex dump: each line holds offset, bytes and text', () => {
    expect(dumpOf(Buffer.from('Hello\n<b>'), 8)).toBe(
      '0000  48 65 6c 6c 6f 0a 3c 62  Hello·<b\n0008  3e                       >',
    );
    expect(dumpOf(new Uint8Array(), 16)).toBe('');
  });

  test('Payload of a dead letter: only a part of the payload was kept: replay is refused with the reason', () => {
    expect(obstacleOf(deadLetterOf('{}'), 2)).toBe('');
    expect(obstacleOf(deadLetterOf('{}', { size: 70_000 }), 65_536)).toContain(
      'of its 68 KiB only the first 64 KiB were kept',
    );
    expect(obstacleOf(deadLetterOf('', { size: null, payload_base64: null }), 0)).toContain(
      'only the counts were kept',
    );
  });
});

describe('Preview', () => {
  const previewed = (payload: string | Buffer) => previewOf(Buffer.from(payload).toString('base64'));

  test.each([
    ['{"a":1}', '{"a":1}'],
    ['a\nb\u202e', 'a\\nb\\u202e'],
    ['', ''],
    ['x'.repeat(120), 'x'.repeat(120)],
    ['x'.repeat(121), `${'x'.repeat(120)}…`],
    ['😀'.repeat(10_000), `${'😀'.repeat(120)}…`],
    [`a${'ä'.repeat(40_000)}`, `a${'ä'.repeat(119)}…`],
  ])('Payload preview: %j: shown on one line, cut at 120 characters', (payload, expected) =>
    expect(previewed(payload)).toBe(expected),
  );

  test('Payload preview: payload that is not UTF-8: the first bytes are shown in hex', () => {
    expect(previewed(Buffer.from([0x00, 0xff, 0x13]))).toBe('00 ff 13');
    expect(previewed(Buffer.alloc(25, 0xff))).toBe(`${'ff '.repeat(24)}…`);
  });

  test('Payload preview: any text: the preview contains no line break and no invisible character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(previewed(text)).toBe(escapeInvisible(previewed(text)).replaceAll('\n', ''));
      }),
    );
  });

  test('Payload size: computed from the length of the base64 text: equals the number of payload bytes', () => {
    for (const size of [0, 1, 2, 3, 4, 255, 256]) {
      expect(bytesIn(Buffer.alloc(size).toString('base64'))).toBe(size);
    }
  });
});
