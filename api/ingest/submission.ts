import { forEachConcurrently } from '../../common/concurrency.ts';
import { type ErrorCode, MillraceError, type Refusal } from '../../common/errors.ts';
import { brokenNameRule, type Identity } from '../../schema/ids.ts';
import { type Context, sumOf } from '../observability/index.ts';
import { ByteBudget, PayloadMemory } from './admission/byte-budget.ts';
import type { Admission } from './admission/index.ts';
import type { MessageBatch } from './decode/message-batch.ts';
import { ruleOf } from './decode/refusals.ts';
import type { MeasurementStore } from './handlers/measurement-store.ts';
import type { MeasurementHandler, Submitted } from './handlers/measurements.ts';
import type { IngestResult } from './ingest-result.ts';
import { arrivalOf } from './pipeline.ts';

/** A submission above the limit is refused as `busy`. */
const MAX_BYTES = 16 * 1024 * 1024;

/** From a client that waits for the answer. */
interface Submission {
  device: Identity;
  contentType?: string | undefined;
  bytes: number;
  /** called when the byte budget has room for the payload */
  read: () => Promise<Buffer>;
  /** aborts when the client disconnects; a message that has begun is finished */
  signal: AbortSignal;
}

/** Counts from 1 the line of the request. Some or all of its values were not stored. */
export type LineRefusal = Omit<Refusal, 'index'> & { line: number };

/** Values of any number of devices. The index of a value in its batch is the number of its line. */
export interface DeviceBatches {
  devices: Map<string, MessageBatch[]>;
  refused: LineRefusal[];
  /** values that are left out by rule */
  skipped: number;
}

export interface LineResult<B extends DeviceBatches = DeviceBatches> {
  accepted: number;
  /** in order of lines, at most one for each line and code */
  refused: LineRefusal[];
  refusedLines: number;
  decoded: B;
}

/** Devices of one request. Each needs at least one request to the database. */
const DEVICES_AT_ONCE = 64;

/**
 * An overloaded ingest refuses HTTP clients at once, because a waiting client would send the request again. For
 * messages from a broker, ingest delays the acknowledgement instead.
 */
export class Submissions {
  #admission;
  #isStuck;
  #measurements;
  #handler;
  #identify;
  #clock;
  #metrics;
  #submissions = new ByteBudget(MAX_BYTES);
  #memory = new PayloadMemory();

  constructor(
    { clock, metrics }: Pick<Context, 'clock' | 'metrics'>,
    {
      admission,
      isStuck,
      measurements,
      handler,
      identify,
    }: {
      admission: Admission;
      /** the database has refused all requests for a while */
      isStuck: () => boolean;
      measurements: MeasurementStore;
      handler: MeasurementHandler;
      identify: (name: string) => Identity | null;
    },
  ) {
    this.#admission = admission;
    this.#isStuck = isStuck;
    this.#measurements = measurements;
    this.#handler = handler;
    this.#identify = identify;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** @throws `busy`; `unavailable`: this process ends, or the client disconnected before the message began */
  async submit(submission: Submission): Promise<IngestResult> {
    const { device } = submission;
    return this.#admit(submission, (message) =>
      this.#admission.queue.run(device.id, false, () => this.#handler.submit(message, device)),
    );
  }

  /** @throws as `submit`, and the errors of `decode` */
  async submitBatches<B extends DeviceBatches>(
    submission: Omit<Submission, 'device'>,
    decode: (message: Submitted) => B,
  ): Promise<LineResult<B>> {
    return this.#admit(submission, (message) => this.#settleBatches(decode, message));
  }

  async #admit<T>(
    { bytes, read, signal, contentType }: Omit<Submission, 'device'>,
    handle: (message: Submitted) => Promise<T>,
  ) {
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

  /** being received or processed */
  get held() {
    return this.#submissions.used;
  }

  async #settleBatches<B extends DeviceBatches>(
    decode: (message: Submitted) => B,
    message: Submitted,
  ): Promise<LineResult<B>> {
    const began = performance.now();
    const decoded = decode(message);
    const { devices, refused, skipped } = decoded;
    await forEachConcurrently(DEVICES_AT_ONCE, devices, async ([name, batches]) => {
      for (const batch of batches) await this.#storeDevice(name, batch, message);
    });
    const batches = [...devices.values()].flat();
    const accepted = batches.reduce((sum, { counts }) => sum + counts.samples, 0);
    const all = [...refused, ...batches.flatMap((batch) => batch.refused.map(toLineRefusal))];
    const refusedLines = new Set(all.map(({ line }) => line)).size;
    const result = { accepted, refused: eachOnce(all), refusedLines, decoded };
    this.#metrics.skipped.inc(skipped);
    const counts = sumOf([
      ...batches.map((batch) => batch.measurementCounts()),
      { received: refused.length + skipped, stored: 0, merged: 0, refused: refused.length, skipped },
    ]);
    return this.#measurements.noteAnswered(result, counts, began);
  }

  async #storeDevice(name: string, batch: MessageBatch, message: Submitted) {
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

/** The index of the refusal is the number of a line. */
const toLineRefusal = ({ index, ...refusal }: Refusal): LineRefusal => ({ line: index, ...refusal });

/** One refusal for each code of a line, in order of lines. */
function eachOnce(refusals: LineRefusal[]): LineRefusal[] {
  const byLine = new Map(refusals.map((refusal) => [`${refusal.line} ${refusal.code}`, refusal]));
  return [...byLine.values()].sort((one, other) => one.line - other.line);
}

function refuseAll(batch: MessageBatch, code: ErrorCode, rule: string) {
  const indexes = [...batch.sensors.values()].flatMap((samples) => samples.indexes);
  batch.sensors.clear();
  Object.assign(batch.counts, { samples: 0, merged: 0 });
  for (const index of indexes) batch.refuse(index, code, undefined, rule);
}

export type Submit = Submissions['submit'];
export type SubmitBatches = Submissions['submitBatches'];
