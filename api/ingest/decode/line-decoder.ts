import { charsetOf, decodeReplacing } from '../../../common/encodings.js';
import { MillraceError } from '../../../common/errors.js';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.js';
import { lineName, lineNames } from '../../../schema/sensor-names.js';
import { LineParser } from './line-parser.js';

/** @import { Refusal } from '../../../common/errors.js' */
/** @import { LineSkip, NumberConditions } from './line-skip.js' */
/** @import { MessageBatch } from './message-batch.js' */

/** `ms`: milliseconds in the unit. `cut`: number of digits that are cut off, if the unit is smaller than a millisecond. */
const UNITS = {
  ns: { ms: 1, cut: 6 },
  us: { ms: 1, cut: 3 },
  ms: { ms: 1, cut: 0 },
  s: { ms: 1000, cut: 0 },
  m: { ms: 60_000, cut: 0 },
  h: { ms: 3_600_000, cut: 0 },
};

/** @typedef {keyof typeof UNITS} Precision */

export const PRECISIONS = /** @type {Precision[]} */ (Object.keys(UNITS));

/** Limit of values in one request, which is refused above it. A value takes 2 bytes or more of the request, and 24 bytes of memory. */
const MAX_VALUES = 100_000;

/** Limit of lines that break the grammar in one request, which is refused above it. Each such line has an entry in the answer. */
const MAX_BROKEN_LINES = 10_000;

/**
 * A refusal of a line that was not stored, or of which only some values were stored.
 *
 * @typedef {Omit<Refusal, 'index'> & { line: number }} LineRefusal `line` counts from 1
 */

/**
 * @typedef {object} Lines
 * @property {number} lines number of lines in the request, without empty lines and comments
 * @property {Map<string, MessageBatch[]>} devices the valid values by the name of their device; the index of
 *   a value in its batch is the number of its line
 * @property {LineRefusal[]} refused
 * @property {number} skipped number of skipped fields: texts, and values that `LINE_SKIP` leaves out
 * @property {number} skippedLines number of lines that `LINE_SKIP` leaves out
 */

/**
 * The device of a series, and the beginning and the end of the names of its sensors. `isDropped`: `LINE_SKIP` leaves out its lines.
 *
 * @typedef {{ device: string, batches: MessageBatch[], prefix: string, suffix: string, isDropped: boolean }} LineSeries
 */

/** A field of a series. `numbers`: the conditions of `LINE_SKIP` for its values. @typedef {{ key: string, sensor: string, numbers: NumberConditions | null }} LineField */

/** Decodes line protocol into measurements of devices and sensors. */
export class LineDecoder {
  #deviceTags;
  #skip;
  #emptyBatch;

  /**
   * @param {object} deps
   * @param {string[]} deps.deviceTags `LINE_DEVICE_TAGS`
   * @param {LineSkip} deps.skip `LINE_SKIP`
   * @param {(receivedAt: number) => MessageBatch} deps.emptyBatch
   */
  constructor({ deviceTags, skip, emptyBatch }) {
    this.#skip = skip;
    this.#deviceTags = deviceTags;
    this.#emptyBatch = emptyBatch;
  }

  /**
   * @param {Buffer} payload
   * @param {Precision} precision unit of the times in the payload
   * @param {number} receivedAt epoch ms
   * @param {string} [contentType] may declare a charset
   * @returns {Lines}
   * @throws {MillraceError} `malformed`, `unknown_format`: the text cannot be decoded; `too_large`: the payload has too many values, or too many lines that break the
   *   grammar
   */
  decode(payload, precision, receivedAt, contentType) {
    /** @type {Lines} */
    const result = { lines: 0, devices: new Map(), refused: [], skipped: 0, skippedLines: 0 };
    const { devices, refused } = result;
    const { text, rule } = decodeReplacing(payload, charsetOf(contentType));
    const parser = new LineParser(
      text,
      {
        seriesOf: (measurement, tags) => this.#seriesOf(devices, measurement, tags),
        /** @param {LineSeries} names @param {string} key @returns {LineField} */
        fieldOf: (names, key) => ({
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

  /** @param {Lines['devices']} devices @param {string} measurement @param {Map<string, string>} tags @returns {LineSeries} */
  #seriesOf(devices, measurement, tags) {
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
   *
   * @param {LineParser<LineSeries, LineField>} parser a parser that has just read a good line
   * @param {LineSeries} series
   * @param {Lines} result counts them
   */
  #leaveOut(parser, { isDropped }, result) {
    const { fields, values, strings, count } = parser;
    const numbers = Array.from({ length: count }, (_, at) => fields[at]?.numbers ?? null);
    const isLineDropped =
      isDropped ||
      this.#skip.dropsTexts(strings.map(({ field, text }) => [field.key, text])) ||
      numbers.some((each, at) => each?.required.some((number) => number !== values[at]));
    let kept = 0;
    for (let at = 0; at < count && !isLineDropped; at++) {
      if (numbers[at]?.invalid.includes(Number(values[at]))) continue;
      fields[kept] = /** @type {LineField} */ (fields[at]);
      values[kept++] = Number(values[at]);
    }
    parser.count = kept;
    result.skipped += count - kept;
    if (isLineDropped) result.skippedLines++;
  }

  /**
   * Returns a batch with room for the `count` values of a line.
   *
   * @param {MessageBatch[]} batches batches of the device
   * @param {number} count
   * @param {number} receivedAt epoch ms
   * @returns {MessageBatch}
   */
  #batchOf(batches, count, receivedAt) {
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

/**
 * @param {MessageBatch} batch
 * @param {LineParser<LineSeries, LineField>} parser a parser that has just read a good line
 * @param {Precision} precision
 */
function addLine(batch, { line, fields, values, count, time }, precision) {
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
    const { sensor } = /** @type {LineField} */ (fields[at]);
    const value = /** @type {number} */ (values[at]);
    if (ts === null) batch.addRelative(line, sensor, 0, value);
    else batch.add(line, sensor, ts, value);
  }
}

/** @param {string} time digits @param {Precision} precision @returns {number} epoch ms, rounded toward 0 */
function toMs(time, precision) {
  const { ms, cut } = UNITS[precision];
  if (cut === 0) return Number(time) * ms;
  // Nanoseconds since 1970 are not exact as a double. Without the last digits they are.
  const digits = time.slice(0, -cut);
  return digits === '' || digits === '-' ? 0 : Number(digits);
}

/**
 * Checks whether a name in the line contains a replacement character. The bytes of such a name were not UTF-8, so
 * different names would become equal.
 *
 * @param {LineSeries} series
 * @param {LineParser<LineSeries, LineField>} parser
 */
const isReplaced = ({ device }, { fields, count }) =>
  device.includes('\uFFFD') || fields.slice(0, count).some(({ sensor }) => sensor.includes('\uFFFD'));
