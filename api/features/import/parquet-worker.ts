import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { MillraceError } from '../../../common/errors.ts';
import { decodeParquet } from './parquet-decoder.ts';
import type { Rows } from './rows.ts';

/**
 * The thread that decodes a Parquet file. A page of a few bytes may take a second of CPU time. Each message to this thread is answered
 * with the next rows, with `null` after the last ones, or with an error.
 */

/** Numbers, or indexes into a few different texts. */
export type PackedColumn = Float64Array | unknown[] | { texts: unknown[]; indexes: Uint32Array };

export type PackedRows = {
  end: number;
  isWide: Rows['isWide'];
  names: Rows['columns'];
  columns: Record<string, PackedColumn | null>;
};

export type WorkerAnswer = { rows: PackedRows | null } | { error: { code: 'bad_file'; message: string } };

const LABELS = ['device', 'sensor', 'type', 'unit', 'site'] as const;
const NUMBERS = ['lines', 'ts', 'value'] as const;

function pack(rows: Rows): PackedRows {
  const columns: PackedRows['columns'] = {};
  for (const name of LABELS) columns[name] = rows[name] && packLabels(rows[name]);
  for (const name of NUMBERS) columns[name] = packNumbers(rows[name]);
  return { end: rows.end, isWide: rows.isWide, names: rows.columns, columns };
}

/** A text is sent once. Otherwise the main thread would make a new string for each sample. */
function packLabels(labels: ArrayLike<unknown>) {
  const known: Map<unknown, number> = new Map();
  const indexes = new Uint32Array(labels.length);
  for (let row = 0; row < indexes.length; row++) {
    const label = labels[row];
    if (row > 0 && label === labels[row - 1]) {
      indexes[row] = Number(indexes[row - 1]);
      continue;
    }
    const index = known.get(label) ?? known.size;
    if (index === known.size) known.set(label, index);
    indexes[row] = index;
  }
  return { texts: [...known.keys()], indexes };
}

function packNumbers(values: ArrayLike<unknown>) {
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < numbers.length; row++) {
    const value = values[row];
    if (typeof value !== 'number') return Array.from(values);
    numbers[row] = value;
  }
  return numbers;
}

const port = parentPort as MessagePort;
const parts = decodeParquet(workerData.fd, workerData.options);

port.on('message', async () => {
  let answer: WorkerAnswer;
  try {
    const { value } = await parts.next();
    answer = { rows: value ? pack(value) : null };
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    answer = { error: { code: 'bad_file', message: error.message } };
  }
  port.postMessage(answer);
});
