import { type ErrorCode, MillraceError } from '../../common/errors.ts';
import { brokenNameRule, type Identity } from '../../schema/ids.ts';
import type { Context } from '../observability/index.ts';
import { ByteBudget, PayloadMemory } from './admission/byte-budget.ts';
import type { Admission } from './admission/index.ts';
import type { MessageBatch } from './decode/message-batch.ts';
import { ruleOf } from './decode/refusals.ts';
import type { MeasurementHandler, Submitted } from './handlers/index.ts';
import type { MeasurementStore } from './handlers/measurement-store.ts';
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
    return this.admit(submission, (message) =>
      this.#admission.queue.run(device.id, false, () => this.#handler.submit(message, device)),
    );
  }

  /** Passes the message to `handle` when there is room for it. @throws as `submit`, and the errors of `handle` */
  async admit<T>(
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

  /** Stores values of one of several devices, or passes the device to `store`. Errors of this device refuse its values, so those of other devices are still stored. */
  async storeBatch(
    name: string,
    batch: MessageBatch,
    message: Submitted,
    store: (device: Identity) => Promise<unknown> = (device) =>
      this.#measurements.store(device, batch, arrivalOf(message), { from: null }),
  ) {
    const device = this.#identify(name);
    if (!device) return refuseAll(batch, 'bad_id', `the device ${brokenNameRule(name)}`);
    try {
      await this.#admission.queue.run(device.id, false, () => store(device));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code === 'unavailable') throw error;
      refuseAll(batch, error.code, ruleOf(error.code));
    }
  }
}

function refuseAll(batch: MessageBatch, code: ErrorCode, rule: string) {
  const indexes = [...batch.sensors.values()].flatMap((samples) => samples.indexes);
  batch.sensors.clear();
  Object.assign(batch.counts, { samples: 0, merged: 0 });
  for (const index of indexes) batch.refuse(index, code, undefined, rule);
}

export type Submit = Submissions['submit'];
