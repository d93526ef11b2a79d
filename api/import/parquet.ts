import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { MillraceError } from '../../common/errors.js';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { Answer, PackedColumn, PackedRows } from './parquet-worker.js' */
/** @import { LayoutOptions, Rows } from './rows.js' */

const THREAD = new URL('./parquet-worker.js', import.meta.url);

/** Limits of the heap of the thread. Arrays of a page are outside of it, and have limits of their own. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 16 };

/**
 * Reads a Parquet file in a thread of its own, in slices of rows. The thread decodes the next slice while the caller works on one.
 *
 * @param {FileHandle} handle stays open until the generator has ended
 * @param {LayoutOptions & { skip: number }} options `skip`: number of rows at the start that need not be read
 * @returns {AsyncGenerator<Rows, void>}
 * @throws {MillraceError} `bad_file`
 */
export async function* readParquet(handle, options) {
  // Functions and signals of the caller cannot cross to the thread.
  const plain = Object.fromEntries(Object.entries(options).filter(([, value]) => Object(value) !== value));
  const thread = new Worker(THREAD, {
    workerData: { fd: handle.fd, options: plain },
    resourceLimits: RESOURCE_LIMITS,
  });
  /** @returns {Promise<PackedRows | null>} */
  async function request() {
    thread.postMessage(null);
    const [answer] = /** @type {[Answer]} */ (await once(thread, 'message'));
    if ('rows' in answer) return answer.rows;
    throw new MillraceError(answer.error.code, answer.error.message);
  }
  try {
    for (let rows = await request(); rows; ) {
      const next = request();
      // A failure is reported when `next` is awaited. It must not be an unhandled rejection until then.
      next.catch(() => {});
      yield unpack(rows);
      rows = await next;
    }
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    throw new MillraceError(
      'bad_file',
      'The Parquet file takes too much memory. Write smaller row groups or smaller data pages.',
      { cause: error },
    );
  } finally {
    await thread.terminate();
  }
}

/** @param {PackedRows} rows @returns {Rows} */
function unpack({ end, columns, names, isWide }) {
  const unpacked = Object.entries(columns).map(([name, column]) => [name, column && unpackColumn(column)]);
  return { isText: false, end, malformed: [], isWide, columns: names, ...Object.fromEntries(unpacked) };
}

/** @param {PackedColumn} column @returns {ArrayLike<unknown>} */
const unpackColumn = (column) =>
  'texts' in column ? Array.from(column.indexes, (index) => column.texts[index]) : column;
