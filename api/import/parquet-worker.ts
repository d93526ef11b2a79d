import { parentPort, workerData } from 'node:worker_threads';
import { MillraceError } from '../../common/errors.js';
import { decodeParquet } from './parquet-decoder.js';

/** @import { MessagePort } from 'node:worker_threads' */
/** @import { Rows } from './rows.js' */

/**
 * The thread that decodes a Parquet file. A page of a few bytes may take a second of CPU time. Each message to this thread is answered
 * with the next rows, with `null` after the last ones, or with an error.
 */

/** A column as it crosses to the main thread: numbers, or an index into few different texts. @typedef {Float64Array | unknown[] | { texts: unknown[], indexes: Uint32Array }} PackedColumn */

/** Rows as they cross to the main thread. @typedef {{ end: number, isWide: Rows['isWide'], names: Rows['columns'], columns: Record<string, PackedColumn | null> }} PackedRows */

/** @typedef {{ rows: PackedRows | null } | { error: { code: 'bad_file', message: string } }} Answer */

const LABELS = /** @type {const} */ (['device', 'sensor', 'type', 'unit', 'site']);
const NUMBERS = /** @type {const} */ (['lines', 'ts', 'value']);

/** @param {Rows} rows @returns {PackedRows} */
function pack(rows) {
  /** @type {PackedRows['columns']} */
  const columns = {};
  for (const name of LABELS) columns[name] = rows[name] && packLabels(rows[name]);
  for (const name of NUMBERS) columns[name] = packNumbers(rows[name]);
  return { end: rows.end, isWide: rows.isWide, names: rows.columns, columns };
}

/**
 * A text is sent once. Otherwise the main thread would make a new string for each sample.
 *
 * @param {ArrayLike<unknown>} labels
 */
function packLabels(labels) {
  /** @type {Map<unknown, number>} */
  const known = new Map();
  const indexes = Uint32Array.from(labels, (label) => {
    const index = known.get(label) ?? known.size;
    if (index === known.size) known.set(label, index);
    return index;
  });
  return { texts: [...known.keys()], indexes };
}

/** @param {ArrayLike<unknown>} values */
function packNumbers(values) {
  const list = Array.from(values);
  return list.every((value) => typeof value === 'number') ? Float64Array.from(list) : list;
}

const port = /** @type {MessagePort} */ (parentPort);
const parts = decodeParquet(workerData.fd, workerData.options);

port.on('message', async () => {
  /** @type {Answer} */
  let answer;
  try {
    const { value } = await parts.next();
    answer = { rows: value ? pack(value) : null };
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    answer = { error: { code: 'bad_file', message: error.message } };
  }
  port.postMessage(answer);
});
