import {
  AsyncByteQueue,
  Dictionary,
  Field,
  Float64,
  Int32,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { LABELS, labelRuns, type RowGroup, rowGroups, type Samples } from './rows.ts';

/** A batch is in memory as a whole, with 32 bytes per row. */
const ROWS_PER_BATCH = 2 ** 16;
const TWO_32 = 2 ** 32;

const TIME = new TimestampMillisecond('UTC');
const VALUE = new Float64();

/** The id of a column links it to its dictionary in each batch. */
const LABEL_COLUMNS = LABELS.map((name, id) => ({ name, type: new Dictionary(new Utf8(), new Int32(), id) }));

const SCHEMA = new Schema([
  new Field('ts', TIME, false),
  ...LABEL_COLUMNS.map(({ name, type }) => new Field(name, type, true)),
  new Field('value', VALUE, false),
]);

/** The queue of apache-arrow has no bound, so a batch is taken as soon as it is written. */
export class BatchBytes extends AsyncByteQueue {
  #chunks: Uint8Array[] = [];

  override write(chunk: Uint8Array) {
    this.#chunks.push(chunk);
  }

  take(): Uint8Array {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    return bytes;
  }
}

/** Each batch replaces the dictionaries of labels, so that they have only the labels of the batch. */
export async function* encodeArrow(source: AsyncIterable<Samples>): AsyncGenerator<Uint8Array, void> {
  const bytes = new BatchBytes();
  const writer = new RecordBatchStreamWriter().reset(bytes, SCHEMA);
  for await (const group of rowGroups(source, ROWS_PER_BATCH)) {
    writer.write(batchOf(group));
    yield bytes.take();
  }
  writer.finish();
  yield bytes.take();
}

function batchOf(group: RowGroup) {
  const { times, values, count: length } = group;
  const children = [
    makeData({ type: TIME, length, nullCount: 0, data: wholeNumbers(times, length) }),
    ...LABEL_COLUMNS.map((column) => labelData(group, column)),
    makeData({ type: VALUE, length, nullCount: 0, data: values.slice(0, length) }),
  ];
  const data = makeData({ type: new Struct(SCHEMA.fields), length, nullCount: 0, children });
  return new RecordBatch(SCHEMA, data);
}

function labelData(group: RowGroup, { name, type }: (typeof LABEL_COLUMNS)[number]) {
  const { count: length } = group;
  const { values, runs } = labelRuns(group, name);
  const indexes = new Int32Array(length);
  const present = new Uint8Array(Math.ceil(length / 8));
  let nullCount = 0;
  let row = 0;
  for (const { index, count } of runs) {
    if (index >= 0) {
      indexes.fill(index, row, row + count);
      for (let at = row; at < row + count; at++)
        present[at >> 3] = Number(present[at >> 3]) | (1 << (at & 7));
    } else nullCount += count;
    row += count;
  }
  const dictionary = vectorFromArray(values, new Utf8());
  return makeData({ type, length, nullCount, nullBitmap: present, data: indexes, dictionary });
}

/** Writes each number as two words of 32 bits, because a BigInt for each would cost more than all other work. */
function wholeNumbers(numbers: Float64Array, count: number) {
  const whole = new BigInt64Array(count);
  const words = new Int32Array(whole.buffer);
  for (let index = 0; index < count; index++) {
    const number = numbers[index] as number;
    const high = Math.floor(number / TWO_32);
    words[2 * index] = number - high * TWO_32;
    words[2 * index + 1] = high;
  }
  return whole;
}
