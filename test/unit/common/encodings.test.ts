import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { charsetOf, decodeReplacing, decodeText, TextStream } from '../../../common/encodings.ts';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const swapped = (text: string) => utf16(text).swap16();
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf32 = (text: string) =>
  Buffer.concat([...text].map((char) => Buffer.from(new Uint32Array([char.codePointAt(0) ?? 0]).buffer)));

/** @param size of chunks */
function streamed(bytes: Buffer, declared?: string, size: number = 1) {
  const stream = new TextStream(declared);
  let text = '';
  for (let at = 0; at < bytes.length; at += size) text += stream.write(bytes.subarray(at, at + size));
  return text + stream.end();
}

const READ: Array<[title: string, bytes: Buffer, declared: string | undefined, text: string]> = [
  ['UTF-8', Buffer.from('{"°C":1}'), undefined, '{"°C":1}'],
  ['nothing', Buffer.alloc(0), undefined, ''],
  ['UTF-8 with a mark', Buffer.from('\ufeff°C'), undefined, '°C'],
  ['UTF-16 LE with a mark', utf16('\ufeff°C'), undefined, '°C'],
  ['UTF-16 BE with a mark', swapped('\ufeff°C'), undefined, '°C'],
  ['UTF-16 LE without a mark', utf16('{"°C":1}'), undefined, '{"°C":1}'],
  ['UTF-16 BE without a mark', swapped('{"°C":1}'), undefined, '{"°C":1}'],
  ['one character of UTF-16 LE', utf16('1'), undefined, '1'],
  ['one character of UTF-16 BE', swapped('1'), undefined, '1'],
  ['UTF-16 that declares UTF-8', utf16('\ufeff°C'), 'utf-8', '°C'],
  ['UTF-16 BE that declares UTF-16', swapped('on'), 'utf-16', 'on'],
  ['declared Windows-1252', latin1('\x80 \xb0C'), 'windows-1252', '€ °C'],
  ['declared ISO 8859-1', latin1('\xb0C'), 'ISO-8859-1', '°C'],
  ['declared ASCII that is UTF-8', Buffer.from('°C'), 'us-ascii', '°C'],
  ['declared Shift JIS', Buffer.from('8e55', 'hex'), 'shift_jis', '散'],
];

test.each(READ)('Text: %s: decoded by its encoding, whole or in chunks', (_, bytes, declared, text) => {
  expect(decodeText(bytes, declared)).toBe(text);
  expect(decodeReplacing(bytes, declared)).toEqual({ text, rule: null });
  expect(streamed(bytes, declared).replace(/\0+$/, '')).toBe(text);
});

test.each([
  ['NUL bytes after it', '{"t":1}\0\0\0'],
  ['one digit in a buffer of four bytes', '1\0\0\0'],
  ['two marks before it', '\ufeff\ufeff{"t":1}'],
])('Text: %s: removed', (_, text) => {
  expect(decodeText(Buffer.from(text))).toBe(text.replaceAll(/[\0\ufeff]/g, ''));
});

test.each([
  ['Windows-1252', latin1('21 \xb0C'), undefined, 'malformed', /seems to be Windows-1252.*Send UTF-8/],
  [
    'UTF-8 that is cut within a character',
    Buffer.from('20 €').subarray(0, 5),
    undefined,
    'malformed',
    /ends within a character/,
  ],
  [
    'UTF-32 LE with a mark',
    utf32('\ufeffon'),
    undefined,
    'unknown_format',
    /seems to be UTF-32 LE; send UTF-8/,
  ],
  ['UTF-32 LE', utf32('on'), undefined, 'unknown_format', /seems to be UTF-32 LE/],
  ['UTF-32 BE', utf32('on').swap32(), undefined, 'unknown_format', /seems to be UTF-32 BE/],
  ['half a character of UTF-16', utf16('{"t"').subarray(0, 7), undefined, 'malformed', /must be UTF-16 LE/],
  ['bytes that its charset does not have', latin1('\xff\xff'), 'shift_jis', 'malformed', /must be shift_jis/],
  [
    'an unknown charset',
    Buffer.from('a'),
    'klingon',
    'unknown_format',
    /charset klingon is unknown; send UTF-8/,
  ],
] as Array<[string, Buffer, string | undefined, string, RegExp]>)(
  'Text: %s: refused, with the encoding that it seems to have',
  (_, bytes, declared, code, message) => {
    const error = expect.objectContaining({ code, message: expect.stringMatching(message) });
    expect(() => decodeText(bytes, declared)).toThrow(error);
    expect(() => streamed(bytes, declared)).toThrow(expect.objectContaining({ code }));
  },
);

test('Text: any JSON, in UTF-8 or UTF-16, with or without a mark, in chunks of any size: read', () => {
  const encodings = fc.constantFrom(Buffer.from, utf16, swapped);
  const json = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.double());
  fc.assert(
    fc.property(
      json,
      encodings,
      fc.constantFrom('', '\ufeff'),
      fc.integer({ min: 1, max: 9 }),
      (value, encode, mark, size) => {
        const text = JSON.stringify(value);
        const bytes = encode(mark + text);
        expect(decodeText(bytes)).toBe(text);
        expect(streamed(bytes, undefined, size)).toBe(text);
      },
    ),
  );
});

test('Text of which only names matter: bytes that are not UTF-8: they become U+FFFD, with the broken rule', () => {
  expect(decodeReplacing(latin1('a=1\nK\xfcche=2'))).toEqual({
    text: 'a=1\nK\ufffdche=2',
    rule: expect.stringContaining('seems to be Windows-1252'),
  });
});

test.each([
  ['text/csv; charset=Windows-1252', 'windows-1252'],
  ['application/json;charset="utf-16le"', 'utf-16le'],
  ['application/json', undefined],
  [undefined, undefined],
])('Content type %j: the declared charset is %j', (contentType, charset) => {
  expect(charsetOf(contentType)).toBe(charset);
});
