import { charsetOf, decodeReplacing } from '../../../common/encodings.ts';
import { MillraceError, type Refusal } from '../../../common/errors.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';
import { lineName, lineNames } from '../../../schema/sensor-names.ts';
import { LineParser } from './line-parser.ts';
import type { LineSkip, NumberConditions } from './line-skip.ts';
import type { MessageBatch } from './message-batch.ts';

/** `ms`: milliseconds in the unit. `cut`: number of digits that are cut off, if the unit is smaller than a millisecond. */
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

/** Limit of values in one request, which is refused above it. A value takes 2 bytes or more of the request, and 24 bytes of memory. */
const MAX_VALUES = 100_000;

/** Limit of lines that break the grammar in one request, which is refused above it. Each such line has an entry in the answer. */
const MAX_BROKEN_LINES = 10_000;

/** A refusal of a line that was not stored, or of which only some values were stored. `line` counts from 1 */
export type LineRefusal = Omit<Refusal, 'index'> & { line: number };

interface Lines {
  /** number of lines in the request, without empty lines and comments */
  lines: number;
  /**
   * the valid values by the name of their device; the index of a value in its batch is the number of its line
   */
  devices: Map<string, MessageBatch[]>;
  refused: LineRefusal[];
  /** number of skipped fields: texts, and values that `LINE_SKIP` leaves out */
  skipped: number;
  /** number of lines that `LINE_SKIP` leaves out */
  skippedLines: number;
}

/**
 * The device of a series, and the beginning and the end of the names of its sensors. `isDropped`: `LINE_SKIP` leaves out its lines.
 */
type LineSeries = {
  device: string;
  batches: MessageBatch[];
  prefix: string;
  suffix: string;
  isDropped: boolean;
};

/** A field of a series. `numbers`: the conditions of `LINE_SKIP` for its values. */
type LineField = { key: string; sensor: string; numbers: NumberConditions | null };

/** Decodes line protocol into measurements of devices and sensors. */
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
    /** `LINE_SKIP` */
    skip: LineSkip;
    emptyBatch: (receivedAt: number) => MessageBatch;
  }) {
    this.#skip = skip;
    this.#deviceTags = deviceTags;
    this.#emptyBatch = emptyBatch;
  }

  /**
   * @param precision unit of the times in the payload
   * @param receivedAt epoch ms
   * @param contentType may declare a charset
   * @throws {MillraceError} `malformed`, `unknown_format`: the text cannot be decoded; `too_large`: the payload has too many values, or too
   * many lines that break the grammar
   */
  decode(payload: Buffer, precision: Precision, receivedAt: number, contentType?: string): Lines {
    const result: Lines = { lines: 0, devices: new Map(), refused: [], skipped: 0, skippedLines: 0 };
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

  #seriesOf(devices: Lines['devices'], measurement: string, tags: Map<string, string>): LineSeries {
    const deviceTag = this.#deviceTags.find((tag) => tags.has(tag));
    const device = deviceTag === undefined ? measurement : String(tags.get(deviceTag));
    const isDropped = this.#skip.dropsTexts(tags);
    if (deviceTag !== undefined) tags.delete(deviceTag);
    const batches = devices.get(device) ?? [];
    devices.set(device, batches);
    return { device, batches, ...lineNames(measurement, tags), isDropped };
  }

  /**
   * Removes the values of a line that `LINE_SKIP` leaves out.
   * @param parser a parser that has just read a good line
   * @param result counts them
   */
  #leaveOut(parser: LineParser<LineSeries, LineField>, { isDropped }: LineSeries, result: Lines) {
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

  /**
   * Returns a batch with room for the `count` values of a line.
   * @param batches batches of the device
   * @param receivedAt epoch ms
   */
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

/** The name of a sensor has the measurement, the field and all tags. */
const NAME_REMEDY = '; it has measurement, field and tags: leave tags out, in Telegraf by tagexclude';

/** @param parser a parser that has just read a good line */
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

/** @param time digits @returns epoch ms, rounded toward 0 */
function toMs(time: string, precision: Precision): number {
  const { ms, cut } = UNITS[precision];
  if (cut === 0) return Number(time) * ms;
  // Nanoseconds since 1970 are not exact as a double. Without the last digits they are.
  const digits = time.slice(0, -cut);
  return digits === '' || digits === '-' ? 0 : Number(digits);
}

/**
 * Checks whether a name in the line contains a replacement character. The bytes of such a name were not UTF-8, so
 * different names would become equal.
 */
const isReplaced = ({ device }: LineSeries, { fields, count }: LineParser<LineSeries, LineField>) =>
  device.includes('\uFFFD') || fields.slice(0, count).some(({ sensor }) => sensor.includes('\uFFFD'));
