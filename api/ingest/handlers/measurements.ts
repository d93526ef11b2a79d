import type { Identity } from '../../../schema/ids.ts';
import type { OwnTopic } from '../../../schema/topics.ts';
import type { MessageBatch } from '../decode/message-batch.ts';
import { type IngestResult, ONE_REFUSED, resultOf, resultOrRefusal } from '../ingest-result.ts';
import { arrivalOf, type Message, type Outcome, toKept } from '../pipeline.ts';
import type { HandlerDeps } from '../topics.ts';
import type { Kept } from './index.ts';

/** A message of an HTTP client. It waits for the answer, so no source acknowledges the message later. */
export type Submitted = Pick<Message, 'payload' | 'contentType' | 'receivedAt' | 'retained' | 'signal'>;

export function createMeasurementHandler({
  decoder,
  measurements,
  deadLetters,
  awaitingRegistration,
}: Pick<HandlerDeps, 'decoder' | 'measurements' | 'deadLetters' | 'awaitingRegistration'>) {
  function outcomeOf(batch: MessageBatch, began: number): Outcome {
    measurements.noteSettled(batch, began);
    return batch.outcome;
  }

  /** `unknown`: the device, if it is not registered. Then the message also waits for its birth. */
  async function keepRefused(
    message: Message,
    device: string,
    batch: MessageBatch,
    unknown: Identity | null,
  ) {
    const kept = toKept(message);
    if (unknown) awaitingRegistration.remember(unknown.id, kept);
    await deadLetters.put(kept, device, batch.refused);
  }

  return {
    /** Not async, to save memory: see `pipeline.ts`. */
    handle(message: Message, { device }: OwnTopic, identity: Identity): Promise<Outcome> {
      const arrival = arrivalOf(message);
      const { payload, contentType, receivedAt } = message;
      const batch = decoder.decode(payload, contentType, receivedAt);
      const stored = measurements.store(identity, batch, arrival, message.receipt);
      return stored.then((isKnown) => {
        if (isKnown && batch.refused.length === 0) return outcomeOf(batch, arrival.began);
        const kept = keepRefused(message, device, batch, isKnown ? null : identity);
        return kept.then(() => outcomeOf(batch, arrival.began));
      });
    },

    async replay(
      { payload, contentType, receivedAt, now, isRefused }: Kept,
      _topic: OwnTopic,
      identity: Identity,
    ): Promise<IngestResult> {
      const batch = decoder.decode(payload, contentType, receivedAt, now);
      await measurements.storeAgain(identity, batch, { receivedAt, isRefused });
      return resultOf(batch);
    },

    /** Refusals are returned to the HTTP client, and do not become a dead letter. */
    async submit(message: Submitted, identity: Identity): Promise<IngestResult> {
      const arrival = arrivalOf(message);
      let counts = ONE_REFUSED;
      const result = await resultOrRefusal(async () => {
        const batch = decoder.decode(message.payload, message.contentType, message.receivedAt);
        await measurements.store(identity, batch, arrival, { from: null });
        counts = batch.measurementCounts();
        return resultOf(batch);
      });
      return measurements.noteAnswered(result, counts, arrival.began);
    },
  };
}

export type MeasurementHandler = ReturnType<typeof createMeasurementHandler>;
