import { charsetOf, decodeReplacing } from '../../../common/encodings.ts';
import { MillraceError, type Refusal } from '../../../common/errors.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';
import { lineName, lineNames } from '../../../schema/sensor-names.ts';
import type { MessageBatch } from '../../ingest/decode/message-batch.ts';
import { LineParser } from './parser.ts';
import type { LineSkip, NumberConditions } from './skip.ts';

/** `ms`: milliseconds in the unit; `cut`: digits that are cut off, if the unit is smaller than a millisecond */
const UNITS = {
  ns: { ms: 1, cut: 6 },
  us: { ms: 1, cut: 3 },
  ms: { ms: 1, cut: 0 },
  s: { ms: 1000, cut: 0 },
  m: { ms: 60_000, cut: 0 },
  h: { ms: 3_600_000, cut: 0 },
};

export type Precision = keyof typeof UNITS;

export const PRECISIONS = Object.keys(UNITS) as Precision[];

/** A request above it is refused. A value takes 2 bytes or more of the request, and 24 bytes of memory. */
const MAX_VALUES = 100_000;

/** A request above it is refused, because each such line has an entry in the answer. */
const MAX_BROKEN_LINES = 10_000;

/** Counts from 1 the line of the request. Some or all of its values were not stored. */
export type LineRefusal = Omit<Refusal, 'index'> & { line: number };

/** The index of a value in its batch is the number of its line. */
export interface DecodedLines {
  devices: Map<string, MessageBatch[]>;
  refused: LineRefusal[];
  /** texts, and values that `LINE_SKIP` leaves out */
  skipped: number;
  /** without empty lines and comments */
  lines: number;
  /** those that `LINE_SKIP` leaves out */
  skippedLines: number;
}

/** `isDropped`: `LINE_SKIP` leaves out its lines */
type LineSeries = {
  device: string;
  batches: MessageBatch[];
  prefix: string;
  suffix: string;
  isDropped: boolean;
};

/** `numbers`: the conditions of `LINE_SKIP` for its values */
type LineField = { key: string; sensor: string; numbers: NumberConditions | null };

export class LineDecoder {
  #deviceTags;
  #skip;
  #emptyBatch;

  constructor({
    deviceTags,
    skip,
    emptyBatch,
  }: {
    /** `LINE_DEVICE_TAGS` */
    deviceTags: string[];
    /** conditions of `LINE_SKIP` */
    skip: LineSkip;
    emptyBatch: (receivedAt: number) => MessageBatch;
  }) {
    this.#skip = skip;
    this.#deviceTags = deviceTags;
    this.#emptyBatch = emptyBatch;
  }

  /** @throws `malformed`, `unknown_format`: the text cannot be decoded; `too_large`: too many values or broken lines */
  decode(payload: Buffer, precision: Precision, receivedAt: number, contentType?: string): DecodedLines {
    const result: DecodedLines = { lines: 0, devices: new Map(), refused: [], skipped: 0, skippedLines: 0 };
    const { devices, refused } = result;
    const { text, rule } = decodeReplacing(payload, charsetOf(contentType));
    const parser = new LineParser(
      text,
      {
        seriesOf: (measurement, tags) => this.#seriesOf(devices, measurement, tags),
        fieldOf: (names: LineSeries, key: string): LineField => ({
          key,
          sensor: lineName(names, key),
          numbers: this.#skip.numbersOf(key),
        }),
      },
      { keepsStrings: this.#skip.isUsed },
    );
    let values = 0;
    while (parser.next()) {
      result.lines++;
      const { line, error, series } = parser;
      if (error !== null || !series) {
        if (refused.length === MAX_BROKEN_LINES)
          throw new MillraceError(
            'too_large',
            `must not have more than ${MAX_BROKEN_LINES} lines that break the grammar, such as line ${line}, which ${error}`,
          );
        refused.push({ line, code: 'malformed', path: '', rule: error ?? '' });
        continue;
      }
      if (rule !== null && isReplaced(series, parser)) {
        refused.push({ line, code: 'malformed', path: '', rule });
        continue;
      }
      result.skipped += parser.texts;
      if (this.#skip.isUsed) this.#leaveOut(parser, series, result);
      const { count } = parser;
      values += count;
      if (values > MAX_VALUES)
        throw new MillraceError('too_large', `must not have more than ${MAX_VALUES} values`);
      if (count > 0) addLine(this.#batchOf(series.batches, count, receivedAt), parser, precision);
    }
    return result;
  }

  #seriesOf(devices: DecodedLines['devices'], measurement: string, tags: Map<string, string>): LineSeries {
    const deviceTag = this.#deviceTags.find((tag) => tags.has(tag));
    const device = deviceTag === undefined ? measurement : String(tags.get(deviceTag));
    const isDropped = this.#skip.dropsTexts(tags);
    if (deviceTag !== undefined) tags.delete(deviceTag);
    const batches = devices.get(device) ?? [];
    devices.set(device, batches);
    return { device, batches, ...lineNames(measurement, tags), isDropped };
  }

  /** The parser has just read a good line. `result` counts the values. */
  #leaveOut(parser: LineParser<LineSeries, LineField>, { isDropped }: LineSeries, result: DecodedLines) {
    const { fields, values, strings, count } = parser;
    const numbers = Array.from({ length: count }, (_, at) => fields[at]?.numbers ?? null);
    const isLineDropped =
      isDropped ||
      this.#skip.dropsTexts(strings.map(({ field, text }) => [field.key, text])) ||
      numbers.some((each, at) => each?.required.some((number) => number !== values[at]));
    let kept = 0;
    for (let at = 0; at < count && !isLineDropped; at++) {
      if (numbers[at]?.invalid.includes(Number(values[at]))) continue;
      fields[kept] = fields[at] as LineField;
      values[kept++] = Number(values[at]);
    }
    parser.count = kept;
    result.skipped += count - kept;
    if (isLineDropped) result.skippedLines++;
  }

  /** Returns a batch with room for the `count` values of a line. */
  #batchOf(batches: MessageBatch[], count: number, receivedAt: number): MessageBatch {
    const newest = batches.at(-1);
    if (newest && newest.counts.samples + count <= MAX_SAMPLES_PER_MESSAGE) return newest;
    const batch = this.#emptyBatch(receivedAt);
    batch.pathOf = (_, field = '') => (field === 'ts' ? 'timestamp' : field);
    batch.nameRemedy = NAME_REMEDY;
    batches.push(batch);
    return batch;
  }
}

const NAME_REMEDY = '; it has measurement, field and tags: leave tags out, in Telegraf by tagexclude';

/** The parser has just read a good line. */
function addLine(
  batch: MessageBatch,
  { line, fields, values, count, time }: LineParser<LineSeries, LineField>,
  precision: Precision,
) {
  const ts = time === '' ? null : toMs(time, precision);
  if (ts !== null && !batch.isTimely(ts)) {
    const other = PRECISIONS.find((unit) => batch.isTimely(toMs(time, unit)));
    const rule =
      other && `is in ${precision} here, and would be a good time in ${other}; set precision=${other}`;
    batch.countReceived(1);
    if (rule) return batch.refuse(line, ts < toMs(time, other) ? 'too_old' : 'in_future', 'ts', rule);
    // `add` refuses the whole line with one refusal.
    return batch.add(line, String(fields[0]?.sensor), ts, 0);
  }
  batch.countReceived(count);
  for (let at = 0; at < count; at++) {
    const { sensor } = fields[at] as LineField;
    const value = values[at] as number;
    if (ts === null) batch.addRelative(line, sensor, 0, value);
    else batch.add(line, sensor, ts, value);
  }
}

/** Rounds toward 0, to epoch ms. */
function toMs(time: string, precision: Precision): number {
  const { ms, cut } = UNITS[precision];
  if (cut === 0) return Number(time) * ms;
  // Nanoseconds since 1970 are not exact as a double. Without the last digits they are.
  const digits = time.slice(0, -cut);
  return digits === '' || digits === '-' ? 0 : Number(digits);
}

/** Bytes that were not UTF-8 became replacement characters, so different names would become equal. */
const isReplaced = ({ device }: LineSeries, { fields, count }: LineParser<LineSeries, LineField>) =>
  device.includes('\uFFFD') || fields.slice(0, count).some(({ sensor }) => sensor.includes('\uFFFD'));
