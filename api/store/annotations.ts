import { yearOf } from '../../schema/rules.js';
import { firstIdOf, newTimeId, timeOfId } from './time-ids.js';

/** @import { Row, Session } from './sending/session.js' */

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

/**
 * A text that a person has written about an instant.
 *
 * @typedef {object} Annotation
 * @property {Buffer} id timeuuid of the instant, 16 bytes
 * @property {number} ts epoch ms
 * @property {string} text
 */

/** The nil UUID. Annotations of the whole installation have it in place of a device's id. */
const INSTALLATION = Buffer.alloc(16);

/**
 * Creates the store of annotations. An annotation belongs to a device, or to the whole installation.
 *
 * @param {Session} session
 */
export function createAnnotationStore(session) {
  /** @param {Buffer | null} device 16 bytes; null: the installation @param {Buffer} id */
  const keyOf = (device, id) => [device ?? INSTALLATION, yearOf(timeOfId(id)), id];

  return {
    /**
     * @param {Buffer | null} device 16 bytes; null: the installation
     * @param {{ ts: number, text: string }} annotation `ts` in epoch ms
     * @returns {Promise<Annotation>} the new annotation; resolves after the commit
     */
    async add(device, { ts, text }) {
      const id = newTimeId(ts);
      await session.write(WRITE, [...keyOf(device, id), text]);
      return { id, ts, text };
    },

    /**
     * @param {Buffer | null} device 16 bytes; null: the installation
     * @param {Buffer} id
     * @returns {Promise<boolean>} false: the annotation does not exist, or has expired
     */
    async remove(device, id) {
      if (!(await session.one(READ, keyOf(device, id)))) return false;
      await session.write(REMOVE, keyOf(device, id));
      return true;
    },

    /**
     * Reads the annotations in [from, to), newest first, year by year.
     *
     * @param {Buffer | null} device 16 bytes; null: the installation
     * @param {{ from: number, to: number }} range epoch ms
     * @param {{ before: Buffer | null, limit: number }} page `before`: `next` of the previous page
     * @returns {Promise<{ annotations: Annotation[], next: Buffer | null }>} `next` is null at the end
     */
    async page(device, { from, to }, { before, limit }) {
      /** @type {Annotation[]} */
      const annotations = [];
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

/** @typedef {ReturnType<typeof createAnnotationStore>} AnnotationStore */

/** @param {Row} row @returns {Annotation} */
function toAnnotation(row) {
  const id = row['id'].getBuffer();
  return { id, ts: timeOfId(id), text: row['text'] };
}
