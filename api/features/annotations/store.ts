import type { DeviceBytes } from '../../../schema/ids.ts';
import { yearOf } from '../../../schema/rules.ts';
import { firstIdOf, newTimeId, timeOfId } from '../../store/index.ts';
import type { Row, Session } from '../../store/sending/session.ts';

const WRITE = {
  name: 'write_annotation',
  cql: 'INSERT INTO annotation (device_id, year, id, text) VALUES (?, ?, ?, ?)',
};
const READ = {
  name: 'read_annotation',
  cql: 'SELECT id, text FROM annotation WHERE device_id = ? AND year = ? AND id = ?',
};
const PAGE = {
  name: 'annotations_page',
  cql: 'SELECT id, text FROM annotation WHERE device_id = ? AND year = ? AND id >= ? AND id < ? LIMIT ?',
};
const REMOVE = {
  name: 'remove_annotation',
  cql: 'DELETE FROM annotation WHERE device_id = ? AND year = ? AND id = ?',
};

export interface Annotation {
  /** timeuuid of the instant */
  id: Buffer;
  ts: number;
  text: string;
}

/** Annotations of the whole installation have the nil UUID in place of a device's id. */
const INSTALLATION = Buffer.alloc(16);

export function createAnnotationStore(session: Session) {
  const keyOf = (device: DeviceBytes | null, id: Buffer) => [
    device ?? INSTALLATION,
    yearOf(timeOfId(id)),
    id,
  ];

  return {
    async add(device: DeviceBytes | null, { ts, text }: { ts: number; text: string }): Promise<Annotation> {
      const id = newTimeId(ts);
      await session.write(WRITE, [...keyOf(device, id), text]);
      return { id, ts, text };
    },

    /** @returns false: the annotation does not exist, or has expired */
    async remove(device: DeviceBytes | null, id: Buffer): Promise<boolean> {
      if (!(await session.one(READ, keyOf(device, id)))) return false;
      await session.write(REMOVE, keyOf(device, id));
      return true;
    },

    /** Reads the annotations in [from, to), newest first, year by year. @returns `next` is null at the end */
    async page(
      device: DeviceBytes | null,
      { from, to }: { from: number; to: number },
      { before, limit }: { before: Buffer | null; limit: number },
    ): Promise<{ annotations: Annotation[]; next: Buffer | null }> {
      const annotations: Annotation[] = [];
      if (from >= to) return { annotations, next: null };
      const first = firstIdOf(from);
      const end = before ?? firstIdOf(to);
      for (let year = yearOf(timeOfId(end)); year >= yearOf(from); year--) {
        const wanted = limit + 1 - annotations.length;
        const rows = await session.all(PAGE, [device ?? INSTALLATION, year, first, end, wanted]);
        annotations.push(...rows.map(toAnnotation));
        if (annotations.length > limit) {
          annotations.length = limit;
          return { annotations, next: annotations.at(-1)?.id ?? null };
        }
      }
      return { annotations, next: null };
    },
  };
}

function toAnnotation(row: Row): Annotation {
  const id = row['id'].getBuffer();
  return { id, ts: timeOfId(id), text: row['text'] };
}

export type AnnotationStore = ReturnType<typeof createAnnotationStore>;
