import { MillraceError, refusalText } from '../../../common/errors.js';
import { printable } from '../../../common/printable.js';
import { formatTime } from '../../../common/times.js';
import { uuidText } from '../../../schema/ids.js';
import { payloadLines } from './payload.js';
import { codesText, NO_SUCH_LETTER } from './text.js';

/** @import { CommandParts } from './index.js' */

/** @param {CommandParts} parts @throws {MillraceError} `not_found` */
export async function show({ store, given, say }) {
  const wanted = String(given.ids[0]);
  const letter = await store.deadLetters.find(wanted);
  if (!letter) throw new MillraceError('not_found', `${printable(wanted)}: ${NO_SUCH_LETTER}`);
  const { id, receivedAt, device, topic, codes, content } = letter;
  say(`id        ${uuidText(id)}`);
  say(`received  ${formatTime(receivedAt)}`);
  say(`device    ${device === null ? 'of several' : printable(device)}`);
  say(`topic     ${printable(topic)}`);
  say(`refused   ${codesText(codes)}`);
  for (const refusal of content?.refused ?? []) {
    const text = refusalText(refusal);
    if (text) say(`          ${printable(text)}`);
  }
  if (!content) return say('payload   none: this letter only counts');
  if (content.contentType !== undefined) say(`type      ${printable(content.contentType)}`);
  say(`sha256    ${content.sha256.toString('hex')}`);
  const isWhole = content.size === content.payload.length;
  const kept = isWhole
    ? ''
    : `, of which the first ${content.payload.length} are kept: it cannot be replayed`;
  say(`payload   ${content.size} bytes${kept}`);
  for (const line of payloadLines(content)) say(line);
}
