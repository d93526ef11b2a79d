import { charsetOf, decodeText } from '../../../../common/encodings.ts';
import { MillraceError, refusalText } from '../../../../common/errors.ts';
import { printable } from '../../../../common/printable.ts';
import { formatTime } from '../../../../common/times.ts';
import { uuidText } from '../../../../schema/ids.ts';
import { parseSenmlCbor } from '../../../ingest/decode/index.ts';
import type { StoredContent } from '../../../store/dead-letters.ts';
import type { CommandParts } from './index.ts';
import { codesText, NOT_FOUND } from './list.ts';

/** @throws `not_found` */
export async function show({ store, given, print }: CommandParts) {
  const wanted = String(given.ids[0]);
  const deadLetter = await store.deadLetters.find(wanted);
  if (!deadLetter) throw new MillraceError('not_found', `${printable(wanted)}: ${NOT_FOUND}`);
  const { id, receivedAt, device, topic, codes, content } = deadLetter;
  print(`id        ${uuidText(id)}`);
  print(`received  ${formatTime(receivedAt)}`);
  print(`device    ${device === null ? 'several' : printable(device)}`);
  print(`topic     ${printable(topic)}`);
  print(`refused   ${codesText(codes)}`);
  for (const refusal of content?.refused ?? []) {
    const text = refusalText(refusal);
    if (text) print(`          ${printable(text)}`);
  }
  if (!content) return print('payload   none: this dead letter only counts');
  if (content.contentType !== undefined) print(`type      ${printable(content.contentType)}`);
  print(`sha256    ${content.sha256.toString('hex')}`);
  const isWhole = content.size === content.payload.length;
  const kept = isWhole
    ? ''
    : `, of which the first ${content.payload.length} are stored: it cannot be replayed`;
  print(`payload   ${content.size} bytes${kept}`);
  for (const line of payloadLines(content)) print(line);
}

/** A longer binary payload is cut. */
const MAX_HEX_BYTES = 1024;
const HEX_BYTES_PER_LINE = 32;

/** A deeper structure is shown as raw text, because JSON.stringify would need a deep stack and make very long lines. */
const MAX_LEVELS = 32;

/**
 * An array (JSON or CBOR) is shown with one element per line, and each refused element with its error code. Other JSON is indented. Any
 * other payload is shown as text, or in hexadecimal if it is not text.
 */
export function payloadLines(content: StoredContent): string[] {
  const { payload } = content;
  const text = textOf(content);
  const read = parse(payload, text);
  const parsed = isShallow(read) ? read : undefined;
  if (Array.isArray(parsed)) return parsed.map((element, index) => elementLine(element, index, content));
  if (parsed !== undefined) return JSON.stringify(parsed, null, 2).split('\n').map(printable);
  if (text !== null) return text.split(/\r?\n/).map(printable);
  const shown = payload.subarray(0, MAX_HEX_BYTES).toString('hex');
  const lines = shown.match(new RegExp(`.{1,${2 * HEX_BYTES_PER_LINE}}`, 'g')) ?? [];
  return payload.length > MAX_HEX_BYTES ? [...lines, '…'] : lines;
}

function elementLine(element: unknown, index: number, { refused, isRefused }: StoredContent) {
  const code = refused.find((refusal) => refusal.index === index)?.code;
  const mark = code ?? (isRefused?.(index) ? 'refused' : '');
  return `[${index}] ${printable(JSON.stringify(element))}${mark && `   <- ${mark}`}`;
}

const isShallow = (value: unknown, levels: number = MAX_LEVELS): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1)));

function parse(payload: Buffer, text: string | null): unknown {
  try {
    if (text !== null) return JSON.parse(text);
  } catch {
    // The payload may be CBOR.
  }
  try {
    return parseSenmlCbor(payload);
  } catch {
    return undefined;
  }
}

function textOf({ payload, contentType }: StoredContent): string | null {
  try {
    return decodeText(payload, charsetOf(contentType));
  } catch {
    return null;
  }
}
