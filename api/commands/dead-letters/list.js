import { shortened } from '../../../common/printable.js';
import { formatTime } from '../../../common/times.js';
import { uuidText } from '../../../schema/ids.js';
import { matchingIds } from './matching.js';
import { codesText } from './text.js';

/** @import { StoredDeadLetter } from '../../store/dead-letters/dead-letter.js' */
/** @import { CommandParts } from './index.js' */

/** @param {CommandParts} parts */
export async function list(parts) {
  const { store, given, say } = parts;
  let shown = 0;
  for await (const ids of matchingIds(parts, 'newest')) {
    for (const id of ids) {
      if (shown === given.limit) {
        say(`These are the newest ${shown}; there are more: --limit shows more of them, --to older ones.`);
        return;
      }
      const letter = await store.deadLetters.find(uuidText(id));
      if (!letter) continue;
      say(lineOf(letter));
      shown++;
    }
  }
  if (shown === 0) say('Nothing was refused in this range.');
}

/** @param {StoredDeadLetter} letter */
const lineOf = ({ id, receivedAt, topic, codes, content }) =>
  [
    formatTime(receivedAt),
    uuidText(id),
    shortened(topic),
    content ? `${content.size} bytes` : 'counts alone',
    codesText(codes),
  ].join('  ');
