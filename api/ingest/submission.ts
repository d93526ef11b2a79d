import { forEachConcurrently } from '../../common/concurrency.js';
import { MillraceError } from '../../common/errors.js';
import { brokenNameRule } from '../../schema/ids.js';
import { sumOf } from '../observability/index.js';
import { ByteBudget, PayloadMemory } from './admission/byte-budget.js';
import { ruleOf } from './decode/refusals.js';
import { arrivalOf } from './pipeline.js';

/** @import { ErrorCode, Refusal } from '../../common/errors.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { Context } from '../observability/index.js' */
/** @import { Admission } from './admission/index.js' */
/** @import { LineDecoder, LineRefusal, Precision } from './decode/line-decoder.js' */
/** @import { MessageBatch } from './decode/message-batch.js' */
/** @import { MeasurementStore } from './handlers/measurement-store.js' */
/** @import { MeasurementHandler, Submitted } from './handlers/measurements.js' */
/** @import { IngestResult } from './ingest-result.js' */

/** Limit of the bytes of unfinished submissions. Above it a submission is refused as `busy`. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Measurements of one device from a client that waits for the answer.
 *
 * @typedef {object} Submission
 * @property {Identity} device
 * @property {string | undefined} [contentType]
 * @property {number} bytes upper limit of the payload size in bytes
 * @property {() => Promise<Buffer>} read receives the payload; called when the byte budget has room for it
 * @property {AbortSignal} signal aborts when the client disconnects; a message that has begun is finished
 */

/**
 * Line protocol with values of any number of devices, from a client that waits for the answer. `precision`: unit of the times.
 *
 * @typedef {Omit<Submission, 'device'> & { precision: Precision }} LineSubmission
 */

/**
 * @typedef {object} LineResult
 * @property {number} accepted number of committed values
 * @property {LineRefusal[]} refused refusals in order of lines, at most one for each line and code
 */

/** Limit of devices of one request that are stored concurrently. Each device needs at least one request to the database. */
const DEVICES_AT_ONCE = 64;

/**
 * Accepts measurements from clients that wait for the answer, such as HTTP clients. An overloaded ingest refuses
 * them at once, because a waiting HTTP client would send the request again. For messages from a broker, ingest
 * delays the acknowledgement instead.
 */
export class Submissions {
  #admission;
  #isStuck;
  #measurements;
  #handler;
  #lineDecoder;
  #identify;
  #clock;
  #metrics;
  /** Budget of the bytes of unfinished submissions. */
  #submissions = new ByteBudget(MAX_BYTES);
  #memory = new PayloadMemory();

  /**
   * @param {Pick<Context, 'clock' | 'metrics'>} context
   * @param {object} deps
   * @param {Admission} deps.admission
   * @param {() => boolean} deps.isStuck whether the database has refused all requests for a while
   * @param {MeasurementStore} deps.measurements
   * @param {MeasurementHandler} deps.handler
   * @param {LineDecoder} deps.lineDecoder
   * @param {(name: string) => Identity | null} deps.identify
   */
  constructor({ clock, metrics }, { admission, isStuck, measurements, handler, lineDecoder, identify }) {
    this.#admission = admission;
    this.#isStuck = isStuck;
    this.#measurements = measurements;
    this.#handler = handler;
    this.#lineDecoder = lineDecoder;
    this.#identify = identify;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /**
   * Receives, decodes and commits the measurements of a submission.
   *
   * @param {Submission} submission
   * @returns {Promise<IngestResult>} settles when all good measurements are committed
   * @throws {MillraceError} `busy`; `unavailable`: this process ends, or the client disconnected before the message began
   */
  async submit(submission) {
    const { device } = submission;
    return this.#admit(submission, (message) =>
      this.#admission.queue.run(device.id, false, () => this.#handler.submit(message, device)),
    );
  }

  /**
   * Receives, decodes and commits line protocol.
   *
   * @param {LineSubmission} submission
   * @returns {Promise<LineResult>} settles when all good values are committed
   * @throws {MillraceError} `busy`, `too_large`; `unavailable`: this process ends, or the client disconnected before the message began
   */
  async submitLines(submission) {
    return this.#admit(submission, (message) => this.#settleLines(submission.precision, message));
  }

  /**
   * @template T
   * @param {Omit<Submission, 'device'>} submission
   * @param {(message: Submitted) => Promise<T>} handle
   */
  async #admit({ bytes, read, signal, contentType }, handle) {
    if (this.#isStuck() || !this.#admission.budget.fits(bytes) || !this.#submissions.fits(bytes))
      throw new MillraceError('busy');
    return this.#submissions.run(bytes, async () => {
      const payload = this.#memory.own(await read());
      const message = { payload, contentType, receivedAt: this.#clock(), retained: false, signal };
      const result = await this.#admission.admit(message, { handle });
      this.#metrics.settledMessages.add(1);
      return result;
    });
  }

  /** Bytes of submissions that are being received or processed. */
  get held() {
    return this.#submissions.used;
  }

  /** @param {Precision} precision @param {Submitted} message @returns {Promise<LineResult>} */
  async #settleLines(precision, message) {
    const began = performance.now();
    const { lines, devices, refused, skipped, skippedLines } = this.#lineDecoder.decode(
      message.payload,
      precision,
      message.receivedAt,
      message.contentType,
    );
    await forEachConcurrently(DEVICES_AT_ONCE, devices, async ([name, batches]) => {
      for (const batch of batches) await this.#storeDevice(name, batch, message);
    });
    const batches = [...devices.values()].flat();
    const accepted = batches.reduce((sum, { counts }) => sum + counts.samples, 0);
    const all = [...refused, ...batches.flatMap((batch) => batch.refused.map(toLineRefusal))];
    const result = { accepted, refused: eachOnce(all) };
    const refusedLines = new Set(all.map(({ line }) => line)).size;
    this.#metrics.lines.inc({ result: 'stored' }, lines - refusedLines - skippedLines);
    this.#metrics.lines.inc({ result: 'skipped' }, skippedLines);
    this.#metrics.lines.inc({ result: 'refused' }, refusedLines);
    this.#metrics.skipped.inc(skipped);
    const counts = sumOf([
      ...batches.map((batch) => batch.measurementCounts()),
      { received: refused.length + skipped, stored: 0, merged: 0, refused: refused.length, skipped },
    ]);
    return this.#measurements.noteAnswered(result, counts, began);
  }

  /** Stores the values of one device, or refuses them. @param {string} name @param {MessageBatch} batch @param {Submitted} message */
  async #storeDevice(name, batch, message) {
    const device = this.#identify(name);
    if (!device) return refuseAll(batch, 'bad_id', `the device ${brokenNameRule(name)}`);
    try {
      await this.#admission.queue.run(device.id, false, () =>
        this.#measurements.store(device, batch, arrivalOf(message), { from: null }),
      );
    } catch (error) {
      // The error concerns only this device, so the lines of other devices are still stored.
      if (!(error instanceof MillraceError) || error.code === 'unavailable') throw error;
      refuseAll(batch, error.code, ruleOf(error.code));
    }
  }
}

/** @param {Refusal} refusal its `index` is the number of a line @returns {LineRefusal} */
const toLineRefusal = ({ index, ...refusal }) => ({ line: index, ...refusal });

/** @param {LineRefusal[]} refusals @returns {LineRefusal[]} one refusal for each code of a line, in order of lines */
function eachOnce(refusals) {
  const byLine = new Map(refusals.map((refusal) => [`${refusal.line} ${refusal.code}`, refusal]));
  return [...byLine.values()].sort((one, other) => one.line - other.line);
}

/** @param {MessageBatch} batch @param {ErrorCode} code @param {string} rule */
function refuseAll(batch, code, rule) {
  const indexes = [...batch.sensors.values()].flatMap((samples) => samples.indexes);
  batch.sensors.clear();
  Object.assign(batch.counts, { samples: 0, merged: 0 });
  for (const index of indexes) batch.refuse(index, code, undefined, rule);
}

/** @typedef {Submissions['submit']} Submit */
/** @typedef {Submissions['submitLines']} SubmitLines */
