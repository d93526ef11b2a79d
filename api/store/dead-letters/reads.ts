import { bucketOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Session } from '../sending/session.ts';
import { firstIdOf, parseTimeId, timeOfId } from '../time-ids.ts';
import { compareDeadLetterIds, readDeadLetter, type StoredDeadLetter } from './dead-letter.ts';
import { DeadLetterSearch, type Filter, newer, type Range } from './search.ts';
import { hoursOf, summarizeDeadLetters } from './writes.ts';

/** Limit of hours that one page reads, at 16 partitions each. 26 hours are a day, and a margin for clocks that differ. */
const MAX_HOURS_PER_PAGE = 26;

/** The first dead letter of a page may be larger. */
const MAX_BYTES_PER_PAGE = 8 * 1024 * 1024;

/** Each dead letter may have 64 KiB of payload and 64 KiB of topic. */
const CONCURRENT_READS = 16;

export type RefusedCount = { refused: number; newest: number };

export function createDeadLetterReads(session: Session) {
  const search = new DeadLetterSearch(session);
  const scanHour: DeadLetterSearch['scanHour'] = (range, onHead) => search.scanHour(range, onHead);

  return {
    /** @returns null: the dead letter does not exist, or has expired */
    async find(text: string): Promise<StoredDeadLetter | null> {
      const id = parseTimeId(text);
      return id && readDeadLetter(session, id);
    },

    /**
     * Reads a page, newest first, across the shards of each hour. A page before the end may be short, even empty.
     * @returns `next` is null at the end
     */
    async page(
      { from, to }: Range,
      { before, limit, ...filter }: { before: Buffer | null; limit: number } & Filter,
    ): Promise<{ deadLetters: StoredDeadLetter[]; next: Buffer | null }> {
      const deadLetters: StoredDeadLetter[] = [];
      const isFiltered = filter.device !== undefined || filter.code !== undefined;
      const first = firstIdOf(from);
      let end = before ?? firstIdOf(to);
      let bytes = 0;
      for (let hours = 0; hours < MAX_HOURS_PER_PAGE && compareDeadLetterIds(first, end) < 0; hours++) {
        const hour = hourBefore(end);
        const begin = newer(first, firstIdOf(hour));
        const wanted = limit - deadLetters.length + 1;
        const slice = { first: begin, end, hour };
        const { ids, reached } = await (isFiltered
          ? search.findIds(slice, wanted, filter)
          : search.readIds(slice, wanted));
        for (let index = 0; index < ids.length; index += CONCURRENT_READS) {
          const read = await Promise.all(
            ids.slice(index, index + CONCURRENT_READS).map((id) => readDeadLetter(session, id)),
          );
          for (const deadLetter of read) {
            if (!deadLetter) continue;
            if (deadLetters.length === limit || bytes > MAX_BYTES_PER_PAGE) return { deadLetters, next: end };
            deadLetters.push(deadLetter);
            bytes += bytesOf(deadLetter);
            end = deadLetter.id;
          }
        }
        // Reading continues at `reached`, so that dead letters that expired during the read are not read again.
        end = reached;
      }
      return { deadLetters, next: compareDeadLetterIds(first, end) < 0 ? end : null };
    },

    scanHour,

    /** Counts by the device's name or id, as in its topics. Dead letters that count the refusals of several devices are left out. */
    async refusedByDevice(range: Range): Promise<Map<string, RefusedCount>> {
      const counts: Map<string, RefusedCount> = new Map();
      for (const part of hoursOf(range)) {
        await scanHour(part, ({ id, device, codes }) => {
          if (device === null) return;
          const count = counts.get(device) ?? { refused: 0, newest: 0 };
          counts.set(device, count);
          for (const refused of Object.values(codes)) count.refused += refused;
          count.newest = Math.max(count.newest, timeOfId(id));
        });
      }
      return counts;
    },

    /** See `summarizeDeadLetters`. */
    summary: (range: Range, options?: { onHour?: (hour: number) => void; maxDeadLetters?: number }) =>
      summarizeDeadLetters(scanHour, range, options),
  };
}

export type DeadLetterReads = ReturnType<typeof createDeadLetterReads>;

/** The latest hour that can contain a dead letter before `end`. */
function hourBefore(end: Buffer): number {
  const began = bucketOf(timeOfId(end));
  return compareDeadLetterIds(firstIdOf(began), end) < 0 ? began : began - HOUR_MS;
}

const bytesOf = ({ topic, device, content }: StoredDeadLetter): number =>
  2 * topic.length + (device?.length ?? 0) + (content?.payload.length ?? 0);
