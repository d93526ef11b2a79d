import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { codeOf, MillraceError } from '../../../common/errors.ts';
import type { PackedColumn, PackedRows, WorkerAnswer } from './parquet-worker.ts';
import type { LayoutOptions, Rows } from './rows.ts';

const THREAD = new URL('./parquet-worker.ts', import.meta.url);

/**
 * Heap of the thread. A window and a page within their limits take up to 90 MB. Near the limit, V8 ends a thread sooner on a busy machine
 * than on an idle one, so that the same file would be refused only at times.
 */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * A thread decodes the next slice of rows while the caller works on one. `handle` stays open until the generator has
 * ended. `skip`: rows at the start that need not be read.
 * @throws `bad_file`
 */
export async function* readParquet(
  handle: FileHandle,
  options: LayoutOptions & { skip: number },
): AsyncGenerator<Rows, void> {
  // Functions and signals of the caller cannot cross to the thread.
  const plain = Object.fromEntries(Object.entries(options).filter(([, value]) => Object(value) !== value));
  const thread = new Worker(THREAD, {
    workerData: { fd: handle.fd, options: plain },
    resourceLimits: RESOURCE_LIMITS,
  });
  async function request(): Promise<PackedRows | null> {
    thread.postMessage(null);
    const [answer] = (await once(thread, 'message')) as [WorkerAnswer];
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
    if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    throw new MillraceError(
      'bad_file',
      'The Parquet file takes too much memory. Write smaller row groups or smaller data pages.',
      { cause: error },
    );
  } finally {
    await thread.terminate();
  }
}

function unpack({ end, columns, names, isWide }: PackedRows): Rows {
  const unpacked = Object.entries(columns).map(([name, column]) => [name, column && unpackColumn(column)]);
  return { isText: false, end, malformed: [], isWide, columns: names, ...Object.fromEntries(unpacked) };
}

function unpackColumn(column: PackedColumn): ArrayLike<unknown> {
  if (!('texts' in column)) return column;
  const { texts, indexes } = column;
  const labels = new Array(indexes.length);
  for (let row = 0; row < labels.length; row++) labels[row] = texts[Number(indexes[row])];
  return labels;
}
