type Encode = (text: string) => Buffer;

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

export const READ: Array<[title: string, encode: Encode, contentType: string | undefined]> = [
  ['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`), undefined],
  ['UTF-16 LE with a mark', (text) => utf16(`\ufeff${text}`), undefined],
  ['UTF-16 BE with a mark', (text) => utf16(`\ufeff${text}`).swap16(), undefined],
  ['UTF-16 LE', utf16, undefined],
  ['UTF-16 BE', (text) => utf16(text).swap16(), undefined],
  ['UTF-8 with CRLF and NUL bytes after it', (text) => Buffer.from(`${text}\r\n\0\0`), undefined],
  ['declared Windows-1252', (text) => Buffer.from(text, 'latin1'), 'application/json; charset=windows-1252'],
];

export const REFUSED = [
  ['Windows-1252', (text) => Buffer.from(text, 'latin1')],
  [
    'UTF-32',
    (text) =>
      Buffer.concat(
        [...`\ufeff${text}`].map((char) => Buffer.from(new Uint32Array([char.codePointAt(0) ?? 0]).buffer)),
      ),
  ],
] as Array<[title: string, encode: Encode]>;

/** @returns each door with each case */
export const throughEachDoor = <T>(
  doors: object,
  cases: T[],
): Array<[door: string, title: string, encode: Encode, contentType?: string]> =>
  Object.keys(doors).flatMap((door) => cases.map((each) => [door, each].flat() as [string, string, Encode]));
