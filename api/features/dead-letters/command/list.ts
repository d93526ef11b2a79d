import { shortened } from '../../../../common/printable.ts';
import { formatTime } from '../../../../common/times.ts';
import { uuidText } from '../../../../schema/ids.ts';
import type { StoredDeadLetter } from '../../../store/dead-letters.ts';
import { addCodes, compareDeadLetterIds, hoursOf } from '../store.ts';
import type { CommandParts } from './index.ts';

export async function list(parts: CommandParts) {
  const { store, given, print } = parts;
  let shown = 0;
  for await (const ids of matchingIds(parts, 'newest')) {
    for (const id of ids) {
      if (shown === given.limit) {
        print(
          `These are the newest ${shown}. There are more: --limit shows more of them, --to shows older ones.`,
        );
        return;
      }
      const deadLetter = await store.deadLetters.find(uuidText(id));
      if (!deadLetter) continue;
      print(lineOf(deadLetter));
      shown++;
    }
  }
  if (shown === 0) print(NOTHING);
}

export async function summary({ reads, given, print, statusLine }: CommandParts) {
  const codes: Record<string, number> = {};
  let total = 0;
  const { hours } = await reads.summary(given.range, {
    maxDeadLetters: Number.POSITIVE_INFINITY,
    onHour: (hour) => statusLine.update(`reading ${formatTime(hour)}`),
  });
  for (const hour of hours) {
    print(`${formatTime(hour.hour)}  ${countText(hour.deadLetters)}: ${codesText(hour.codes)}`);
    total += hour.deadLetters;
    addCodes(codes, hour.codes);
  }
  if (total === 0) print(NOTHING);
  else print(`in all  ${countText(total)}: ${codesText(codes)}`);
}

const NOTHING = 'Nothing was refused in this range.';

/** In order of time. One hour is in memory at a time. */
export async function* matchingIds(
  { reads, given, statusLine }: CommandParts,
  first: 'newest' | 'oldest',
): AsyncGenerator<Buffer[], void> {
  const { range, code, device } = given;
  for (const part of hoursOf(range, first)) {
    statusLine.update(`reading ${formatTime(part.from)}`);
    const ids: Buffer[] = [];
    await reads.scanHour(part, (head) => {
      if (code !== undefined && !Object.hasOwn(head.codes, code)) return;
      if (device !== undefined && head.device !== device) return;
      ids.push(head.id);
    });
    ids.sort((a, b) => (first === 'newest' ? compareDeadLetterIds(b, a) : compareDeadLetterIds(a, b)));
    if (ids.length > 0) yield ids;
  }
}

const lineOf = ({ id, receivedAt, topic, codes, content }: StoredDeadLetter) =>
  [
    formatTime(receivedAt),
    uuidText(id),
    shortened(topic),
    content ? `${content.size} bytes` : 'no payload',
    codesText(codes),
  ].join('  ');

export const countText = (count: number) => (count === 1 ? '1 dead letter' : `${count} dead letters`);

export const codesText = (codes: Record<string, number>): string =>
  Object.entries(codes)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${count} ${code}`)
    .join(', ');

export const NOT_FOUND = 'there is no such dead letter, or it has expired';
