import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { groupOf, identifyDevice } from '../../schema/ids.js';
import { readLedger } from '../ledger/read.js';

/** @import { MillraceError } from '../../common/errors.js' */
/** @import { WriteStream } from 'node:fs' */

const FIRST_BYTES = 1024;

/** A growing set of whole numbers from 0. Each number takes one bit, so a hundred million messages take 12 MB. */
export class Bitmap {
  #bytes = new Uint8Array(FIRST_BYTES);

  /** Adds a number. @param {number} number */
  add(number) {
    const at = number >>> 3;
    if (at >= this.#bytes.length) {
      const grown = new Uint8Array(Math.max(at + 1, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes[at] = /** @type {number} */ (this.#bytes[at]) | (1 << (number & 7));
  }

  /** Whether a number was added. @param {number} number */
  has(number) {
    return ((this.#bytes[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }
}

/** Approximate size in bytes of one file into which a ledger is split. The samples of a file take about as much memory. */
const PART_BYTES = 32 * 2 ** 20;

/** Maximum number of files into which a ledger is split. All files are written concurrently, far below the limit of open files. */
const MOST_PARTS = 256;

const PROGRESS_EVERY_MESSAGES = 10_000;

/**
 * The samples that one sensor sent, in the order of sending. The three arrays have equal length and take 24 bytes per sample.
 *
 * @typedef {{ times: number[], values: number[], messages: number[] }} Sent
 */

/** The samples of one file, by device name and sensor name. @typedef {Map<string, Map<string, Sent>>} Part */

/**
 * The summary of a ledger.
 *
 * @typedef {object} Overview
 * @property {Bitmap} acknowledged numbers of the acknowledged messages
 * @property {number} messages
 * @property {number} first epoch ms of the earliest sample; Infinity: there is no sample
 * @property {number} last epoch ms of the latest sample; -Infinity: there is no sample
 */

/**
 * Splits a ledger by device into files that each fit in memory. So a ledger may have any size, if the messages of each single
 * device fit in memory.
 *
 * @param {string} ledgerPath
 * @param {{ onProgress: (messages: number) => void, partBytes?: number }} options
 * @returns {Promise<{ overview: Overview, count: number, read: (part: number) => Promise<Part>, remove: () => Promise<void> }>}
 * @throws {MillraceError} `failed` for a file that is no ledger or cannot be read
 */
export async function partLedger(ledgerPath, { onProgress, partBytes = PART_BYTES }) {
  const size = await stat(ledgerPath).then(
    (found) => found.size,
    () => 0,
  );
  const count = Math.min(MOST_PARTS, Math.max(1, Math.ceil(size / partBytes)));
  const directory = await mkdtemp(join(tmpdir(), 'millrace-compare-'));
  const paths = Array.from({ length: count }, (_, part) => join(directory, String(part)));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const overview = await scatter(ledgerPath, paths, onProgress);
    return { overview, count, read: (part) => readPart(/** @type {string} */ (paths[part])), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** @param {string} ledgerPath @param {string[]} paths @param {(messages: number) => void} onProgress */
async function scatter(ledgerPath, paths, onProgress) {
  /** @type {Overview} */
  const overview = { acknowledged: new Bitmap(), messages: 0, first: Infinity, last: -Infinity };
  const files = paths.map((path) => createWriteStream(path));
  try {
    for await (const entry of readLedger(ledgerPath)) {
      if (entry.kind === 'acknowledged') {
        overview.acknowledged.add(entry.message);
        continue;
      }
      if (entry.kind === 'episode') continue;
      overview.messages += 1;
      if (overview.messages % PROGRESS_EVERY_MESSAGES === 0) onProgress(overview.messages);
      for (const { times } of entry.series) {
        for (const ts of times) {
          if (ts < overview.first) overview.first = ts;
          if (ts > overview.last) overview.last = ts;
        }
      }
      const file = /** @type {WriteStream} */ (files[partOf(entry.device, files.length)]);
      if (!file.write(`${entry.message} ${entry.text}\n`)) await once(file, 'drain');
    }
  } finally {
    for (const file of files) file.end();
    await Promise.all(files.map((file) => finished(file)));
  }
  return overview;
}

/** @param {string} device @param {number} parts */
function partOf(device, parts) {
  const id = identifyDevice(device);
  return id ? groupOf(id.bytes, parts) : 0;
}

/** @param {string} path @returns {Promise<Part>} */
async function readPart(path) {
  /** @type {Part} */
  const part = new Map();
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const space = text.indexOf(' ');
    const message = Number(text.slice(0, space));
    const { device, series } = JSON.parse(text.slice(space + 1));
    const sensors = entryOf(part, device, () => new Map());
    for (const { sensor, times, values } of series) {
      const sent = entryOf(sensors, sensor, () => ({ times: [], values: [], messages: [] }));
      for (let i = 0; i < times.length; i++) {
        sent.times.push(times[i]);
        sent.values.push(values[i]);
        sent.messages.push(message);
      }
    }
  }
  return part;
}

/** @template K, V @param {Map<K, V>} map @param {K} key @param {() => V} make @returns {V} */
export function entryOf(map, key, make) {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
