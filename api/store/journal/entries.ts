import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import { writeBytes } from '../../../schema/packed/pack.ts';
import type { Numbers } from '../../../schema/packed/series.ts';

/** The samples of one message, all of one device. */
export interface JournalEntry {
  device: DeviceBytes;
  series: Array<{ sensor: SensorBytes; times: Numbers; values: Numbers }>;
}

const VERSION = 1;
const ID_BYTES = 16;
const NUMBER_BYTES = 8;
const COUNT_BYTES = 2;

/** Above 32 KiB a larger row saves nothing, because the cost of the request is negligible. */
export const MAX_ENTRIES_BYTES = 32 * 1024;
const FIRST_BYTES = 2048;

export function entryBytes(series: JournalEntry['series']): number {
  let bytes = ID_BYTES + COUNT_BYTES;
  for (const { times } of series) bytes += ID_BYTES + COUNT_BYTES + 2 * NUMBER_BYTES * times.length;
  return bytes;
}

/**
 * The entries of a row, in one Buffer that grows. Little-endian:
 *
 *     version (1 byte), then for each message:
 *     device (16)  number of sensors (2), then for each sensor:
 *     sensor (16)  number of samples (2)  times (8 each, epoch ms)  values (8 each)
 *
 * Numbers are not compressed, because these rows are deleted after seconds.
 */
export class EntriesWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #view = viewOf(this.#bytes);
  #length = 1;

  constructor() {
    this.#bytes[0] = VERSION;
  }

  get length() {
    return this.#length;
  }

  /** @param size of `entryBytes` */
  add({ device, series }: JournalEntry, size: number) {
    this.#makeRoom(size);
    const view = this.#view;
    let at = writeBytes(this.#bytes, this.#length, device);
    view.setUint16(at, series.length, true);
    at += COUNT_BYTES;
    for (const { sensor, times, values } of series) {
      at = writeBytes(this.#bytes, at, sensor);
      view.setUint16(at, times.length, true);
      at = writeNumbers(view, at + COUNT_BYTES, times);
      at = writeNumbers(view, at, values);
    }
    this.#length = at;
  }

  end(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #makeRoom(size: number) {
    const needed = this.#length + size;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 4 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

/** @throws {RangeError} another version wrote the entries */
export function* readEntries(bytes: Buffer): Generator<JournalEntry, void> {
  if (bytes[0] !== VERSION) throw new RangeError(`journal entries of version ${bytes[0]}`);
  const view = viewOf(bytes);
  for (let at = 1; at < bytes.length; ) {
    const device = bytes.subarray(at, at + ID_BYTES) as DeviceBytes;
    const sensors = view.getUint16(at + ID_BYTES, true);
    at += ID_BYTES + COUNT_BYTES;
    const series: JournalEntry['series'] = [];
    for (let index = 0; index < sensors; index++) {
      const sensor = bytes.subarray(at, at + ID_BYTES) as SensorBytes;
      const samples = view.getUint16(at + ID_BYTES, true);
      at += ID_BYTES + COUNT_BYTES;
      const times = readNumbers(view, at, samples);
      const values = readNumbers(view, at + NUMBER_BYTES * samples, samples);
      at += 2 * NUMBER_BYTES * samples;
      series.push({ sensor, times, values });
    }
    yield { device, series };
  }
}

const viewOf = (bytes: Buffer) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

function writeNumbers(view: DataView, at: number, numbers: Numbers): number {
  let next = at;
  for (let index = 0; index < numbers.length; index++, next += NUMBER_BYTES)
    view.setFloat64(next, numbers[index] as number, true);
  return next;
}

const readNumbers = (view: DataView, at: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => view.getFloat64(at + NUMBER_BYTES * index, true));
