import { MillraceError } from '../../common/errors.js';
import { someAtOnce } from '../../common/some-at-once.js';
import { brokenNameRule } from '../../schema/ids.js';
import { sumOf } from '../observability/process-stats.js';
import { ByteBudget, keptBytes, PayloadMemory } from './admission/byte-budget.js';
import { ruleOf } from './decode/refusals.js';
import { ONE_REFUSED, resultOf, resultOrRefusal } from './ingest-result.js';

/** @import { ErrorCode, Refusal } from '../../common/errors.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Account, ProcessStats } from '../observability/process-stats.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { DeviceQueue } from './admission/device-queue.js' */
/** @import { MessageDecoder } from './decode/index.js' */
/** @import { LineDecoder, LineRefusal, Precision } from './decode/line-decoder.js' */
/** @import { MessageBatch } from './decode/message-batch.js' */
/** @import { IngestResult } from './ingest-result.js' */
/** @import { Arrival, IngestPipeline } from './pipeline.js' */

/** Bytes of submissions under way. A slow client only occupies its part of them. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Measurements of one device from a client that waits for the answer.
 *
 * @typedef {object} Submission
 * @property {Identity} device
 * @property {string | undefined} contentType
 * @property {number} bytes upper limit of the payload size
 * @property {() => Promise<Buffer>} read receives the payload; called when there is room for it
 * @property {AbortSignal} signal aborts when the client disconnects; a message that has begun is finished
 */

/**
 * Line protocol of any devices from a client that waits for the answer: a submission with the unit of its times.
 *
 * @typedef {Omit<Submission, 'device' | 'contentType'> & { precision: Precision }} LineSubmission
 */

/**
 * @typedef {object} LineResult
 * @property {number} accepted values that are committed
 * @property {LineRefusal[]} refused by line, at most one for each line and code
 */

/** Devices of one request that are stored at the same time. Each needs a request to the database or more. */
const DEVICES_AT_ONCE = 64;

/**
 * Accepts measurements from clients that wait for the answer, such as HTTP clients. When ingest is overloaded it refuses them at once.
 * Ingest cannot delay an acknowledgement here as it does behind a broker, and a waiting client would send the request again.
 */
export class Submissions {
  #budget;
  #isStuck;
  #deviceQueue;
  #decoder;
  #lineDecoder;
  #pipeline;
  #clock;
  #metrics;
  #processStats;
  /** Bytes of submissions under way. */
  #submissions = new ByteBudget(MAX_BYTES);
  #memory = new PayloadMemory();

  /**
   * @param {object} deps
   * @param {ByteBudget} deps.budget of all messages
   * @param {() => boolean} deps.isStuck whether the database has refused all requests for a while
   * @param {DeviceQueue} deps.deviceQueue
   * @param {MessageDecoder} deps.decoder
   * @param {LineDecoder} deps.lineDecoder
   * @param {IngestPipeline} deps.pipeline
   * @param {ClockGuard} deps.clock measurements wait while it is wrong
   * @param {Metrics} deps.metrics
   * @param {ProcessStats} deps.processStats
   */
  constructor(deps) {
    const { budget, isStuck, deviceQueue, decoder, lineDecoder, pipeline } = deps;
    const { clock, metrics, processStats } = deps;
    this.#budget = budget;
    this.#isStuck = isStuck;
    this.#deviceQueue = deviceQueue;
    this.#decoder = decoder;
    this.#lineDecoder = lineDecoder;
    this.#pipeline = pipeline;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#processStats = processStats;
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
    return this.#take(submission, (payload) =>
      this.#deviceQueue.run(device.id, false, () => this.#settle(submission, payload)),
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
    return this.#take(submission, (payload) => this.#settleLines(submission.precision, payload));
  }

  /**
   * @template T
   * @param {Pick<Submission, 'bytes' | 'read' | 'signal'>} submission
   * @param {(payload: Buffer) => Promise<T>} settle
   */
  async #take({ bytes, read, signal }, settle) {
    if (this.#isStuck() || !this.#budget.fits(bytes) || !this.#submissions.fits(bytes))
      throw new MillraceError('busy');
    return this.#submissions.run(bytes, async () => {
      const payload = this.#memory.own(await read());
      const result = await this.#budget.run(keptBytes(payload), () => settle(payload), signal);
      this.#metrics.messages.inc({ result: 'settled' });
      return result;
    });
  }

  /** Bytes of submissions that are received or settled. */
  get held() {
    return this.#submissions.used;
  }

  /** @param {Submission} submission @param {Buffer} payload @returns {Promise<IngestResult>} */
  async #settle({ device, contentType }, payload) {
    const began = performance.now();
    const receivedAt = await this.#clock.now();
    let account = ONE_REFUSED;
    const result = await resultOrRefusal(async () => {
      const batch = this.#decoder.decode(payload, contentType, receivedAt);
      await this.#pipeline.store(device, batch, arrivalAt(receivedAt));
      account = batch.account();
      return resultOf(batch);
    });
    return this.#count(result, account, began);
  }

  /** @param {Precision} precision @param {Buffer} payload @returns {Promise<LineResult>} */
  async #settleLines(precision, payload) {
    const began = performance.now();
    const receivedAt = await this.#clock.now();
    const { lines, devices, refused, texts } = this.#lineDecoder.decode(payload, precision, receivedAt);
    await someAtOnce(DEVICES_AT_ONCE, devices, async ([name, batches]) => {
      for (const batch of batches) await this.#storeDevice(name, batch, receivedAt);
    });
    const batches = [...devices.values()].flat();
    const accepted = batches.reduce((sum, { counts }) => sum + counts.samples, 0);
    const all = [...refused, ...batches.flatMap((batch) => batch.refused.map(toLineRefusal))];
    const result = { accepted, refused: eachOnce(all) };
    const refusedLines = new Set(all.map(({ line }) => line)).size;
    this.#metrics.lines.inc({ result: 'stored' }, lines - refusedLines);
    this.#metrics.lines.inc({ result: 'refused' }, refusedLines);
    this.#metrics.skipped.inc(texts);
    const account = sumOf([
      ...batches.map((batch) => batch.account()),
      { received: refused.length + texts, stored: 0, merged: 0, refused: refused.length, skipped: texts },
    ]);
    return this.#count(result, account, began);
  }

  /** Stores the values of one device, or refuses them with a code. @param {string} name @param {MessageBatch} batch @param {number} receivedAt epoch ms */
  async #storeDevice(name, batch, receivedAt) {
    const device = this.#pipeline.identify(name);
    if (!device) return refuseAll(batch, 'bad_id', `the device ${brokenNameRule(name)}`);
    try {
      await this.#deviceQueue.run(device.id, false, () =>
        this.#pipeline.store(device, batch, arrivalAt(receivedAt)),
      );
    } catch (error) {
      // It concerns this device alone, so the lines of others are good.
      if (!(error instanceof MillraceError) || error.code === 'unavailable') throw error;
      refuseAll(batch, error.code, ruleOf(error.code));
    }
  }

  /**
   * @template {{ accepted: number, refused: Array<{ code: ErrorCode }> }} T
   * @param {T} result
   * @param {Account} account
   * @param {number} began by `performance.now()`
   * @returns {T}
   */
  #count(result, account, began) {
    for (const { code } of result.refused) this.#metrics.refused.inc({ code });
    const commitMs = performance.now() - began;
    this.#processStats.note(account, commitMs);
    this.#metrics.commitSeconds.observe(commitMs / 1000);
    return result;
  }
}

/** @param {number} receivedAt epoch ms @returns {Arrival} */
const arrivalAt = (receivedAt) => ({
  receivedAt,
  isRetained: false,
  receipt: { from: null },
  proves: true,
});

/** @param {Refusal} refusal whose index is a line @returns {LineRefusal} */
const toLineRefusal = ({ index, ...refusal }) => ({ line: index, ...refusal });

/** @param {LineRefusal[]} refusals of values @returns {LineRefusal[]} by line, each code of a line once */
function eachOnce(refusals) {
  const byLine = new Map(refusals.map((refusal) => [`${refusal.line} ${refusal.code}`, refusal]));
  return [...byLine.values()].sort((one, other) => one.line - other.line);
}

/** @param {MessageBatch} batch @param {ErrorCode} code @param {string} rule */
function refuseAll(batch, code, rule) {
  const indexes = [...batch.sensors.values()].flatMap((samples) => samples.indexes);
  batch.sensors.clear();
  batch.counts.samples = 0;
  for (const index of indexes) batch.refuse(index, code, undefined, rule);
}

/** @typedef {Submissions['submit']} Submit */
/** @typedef {Submissions['submitLines']} SubmitLines */
