import { once } from 'node:events';
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { groupOf, identifyDevice } from '../../schema/ids.ts';
import { readLedger } from '../ledger/read.ts';

const FIRST_BYTES = 1024;

/** Each number takes one bit, so a hundred million messages take 12 MB. */
export class Bitmap {
  #bytes = new Uint8Array(FIRST_BYTES);

  add(number: number) {
    const at = number >>> 3;
    if (at >= this.#bytes.length) {
      const grown = new Uint8Array(Math.max(at + 1, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes[at] = (this.#bytes[at] as number) | (1 << (number & 7));
  }

  has(number: number) {
    return ((this.#bytes[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }
}

/** Approximate size of one file into which a ledger is split. The samples of a file take about as much memory. */
const PART_BYTES = 32 * 2 ** 20;

/** All files are written concurrently, far below the limit of open files. */
const MOST_PARTS = 256;

const PROGRESS_EVERY_MESSAGES = 10_000;

/** In the order of sending. The three arrays have equal length and take 24 bytes per sample. */
export type Sent = { times: number[]; values: number[]; messages: number[] };

type Part = Map<string, Map<string, Sent>>;

interface Overview {
  /** numbers of messages */
  acknowledged: Bitmap;
  messages: number;
  /** epoch ms; Infinity: there is no sample */
  first: number;
  /** epoch ms; -Infinity: there is no sample */
  last: number;
}

/**
 * Splits a ledger by device into files that each fit in memory. So a ledger may have any size, if the messages of each single device fit in
 * memory.
 * @throws `failed` for a file that is no ledger or cannot be read
 */
export async function partLedger(
  ledgerPath: string,
  { onProgress, partBytes = PART_BYTES }: { onProgress: (messages: number) => void; partBytes?: number },
): Promise<{
  overview: Overview;
  count: number;
  read: (part: number) => Promise<Part>;
  remove: () => Promise<void>;
}> {
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
    return { overview, count, read: (part) => readPart(paths[part] as string), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function scatter(ledgerPath: string, paths: string[], onProgress: (messages: number) => void) {
  const overview: Overview = { acknowledged: new Bitmap(), messages: 0, first: Infinity, last: -Infinity };
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
      const file = files[partOf(entry.device, files.length)] as WriteStream;
      if (!file.write(`${entry.message} ${entry.text}\n`)) await once(file, 'drain');
    }
  } finally {
    for (const file of files) file.end();
    await Promise.all(files.map((file) => finished(file)));
  }
  return overview;
}

function partOf(device: string, parts: number) {
  const id = identifyDevice(device);
  return id ? groupOf(id.bytes, parts) : 0;
}

async function readPart(path: string): Promise<Part> {
  const part: Part = new Map();
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

export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
