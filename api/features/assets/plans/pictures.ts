import { MillraceError } from '../../../../common/errors.ts';

/** In bytes. A picture is one cell of a row. */
export const MAX_PICTURE = 512 * 1024;

const startsWith = (text: string) => (content: Buffer) =>
  content.subarray(0, text.length).equals(bytes(text));

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** By media type: whether a content has it. Browsers do not guess a type, because answers have `nosniff`. */
const TYPES: Record<string, (content: Buffer) => boolean> = {
  'image/svg+xml': (content) => /<(?:\w+:)?svg[\s>]/.test(content.toString('utf8')),
  'image/png': startsWith('\x89PNG\r\n\x1a\n'),
  'image/jpeg': startsWith('\xff\xd8\xff'),
  'image/webp': (content) => startsWith('RIFF')(content) && content.subarray(8, 12).equals(bytes('WEBP')),
};

export const PICTURE_TYPES: readonly string[] = Object.keys(TYPES);

/** @throws `malformed` */
export function checkPicture(type: string, content: Buffer) {
  if (!TYPES[type]?.(content)) throw new MillraceError('malformed', `The body is not ${type}.`);
}

/** An SVG is shown in `<img>`, where no script runs. These headers keep scripts off when its address is opened too. */
export const PICTURE_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};
