import { MillraceError } from '../../../common/errors.ts';
import type { Identity } from '../../../schema/ids.ts';
import type { OwnTopic, Topic } from '../../../schema/topics.ts';
import type { Context } from '../../observability/index.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Store } from '../../store/index.ts';
import { storeWaiting } from '../awaiting-registration.ts';
import type { MessageBatch } from '../decode/message-batch.ts';
import { type IngestResult, ONE_REFUSED, resultOf, resultOrRefusal } from '../ingest-result.ts';
import {
  type Arrival,
  arrivalOf,
  type Message,
  type Outcome,
  type Replacement,
  toKept,
} from '../pipeline.ts';
import { readBirth } from '../registry/birth-message.ts';
import type { Births } from '../registry/births.ts';
import type { Registry } from '../registry/index.ts';
import { arrivalOfSession, type Events, eventOf, readStatus, type Statuses } from '../registry/status.ts';
import type { HandlerDeps, TopicReader } from '../topics.ts';

/** The pipeline finds the handler of a message by the kind of its topic. */

export { MeasurementStore } from './measurement-store.ts';

/**
 * A message that was refused earlier and is stored now. Relative times count from the first receipt, the limits of age
 * and clock skew from now.
 */
export interface Kept {
  payload: Buffer;
  /** content type of MQTT 5 */
  contentType?: string;
  /** first receipt, epoch ms */
  receivedAt: number;
  /** epoch ms */
  now: number;
  /** Only elements that were refused at the first attempt are stored now. null: all are stored. */
  isRefused: ((index: number) => boolean) | null;
  /** its values replace stored ones */
  replaces?: Replacement | undefined;
}

/** `handle` and `replay` throw an error that refuses the whole message. `I` is null if the handler finds the device itself. */
export interface Handler<R extends Topic = Topic, I extends Identity | null = Identity | null> {
  /** Settles when the good elements are committed, and the refused ones are in a dead letter. */
  handle(message: Message, route: R, identity: I): Promise<Outcome>;
  /** A birth or a status counts as one accepted element. A second replay writes the same rows. */
  replay(kept: Kept, route: R, identity: I): Promise<IngestResult>;
  /** The payload may name the device, so the handler finds the device, asks `permits`, and queues the message. */
  findsDevice?: boolean;
  /** the message was refused as a whole */
  refused?(route: R): void;
}

/** by the kind of their routes */
export type Handlers = Map<string, Handler>;

export type Devices = {
  registry: Registry;
  births: Births;
  events: Events;
  statuses: Statuses;
  /** Only messages without measurements need this. `MeasurementStore` writes the time for the others. */
  noteLastSeen: (message: Message, identity: Identity) => Promise<void>;
};

export function createNoteLastSeen(
  registry: Registry,
  write: Store['write']['lastSeen'],
): Devices['noteLastSeen'] {
  return async ({ retained, receivedAt }, identity) => {
    const device = registry.cache.peek(identity.id);
    if (device && !retained) await write(device, receivedAt);
  };
}

/** `handlers`: of the topics of the contract and of features */
export function createHandlers(
  { metrics }: Pick<Context, 'metrics'>,
  deps: HandlerDeps,
  readers: TopicReader[],
) {
  const measurements = createMeasurementHandler(deps);
  const handlers: Handlers = new Map(readers.map(({ kind, handler }) => [kind, handler]));
  handlers.set('measurements', measurements);
  handlers.set('birth', createBirthHandler(deps, { handlers, metrics }));
  handlers.set('status', createStatusHandler(deps));
  return { measurements, handlers };
}

/** A message of an HTTP client. It waits for the answer, so no source acknowledges the message later. */
export type Submitted = Pick<Message, 'payload' | 'contentType' | 'receivedAt' | 'retained' | 'signal'>;

export function createMeasurementHandler({
  decoder,
  measurements,
  deadLetters,
  awaitingRegistration,
  replacing,
  devices,
}: Pick<
  HandlerDeps,
  'decoder' | 'measurements' | 'deadLetters' | 'awaitingRegistration' | 'replacing' | 'devices'
>) {
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

  async function replace(message: Message, device: string, identity: Identity): Promise<Outcome> {
    const { began } = arrivalOf(message);
    const batch = await replacing.store(message, device, identity);
    if (!batch) return 'forbidden';
    await deadLetters.put(toKept(message), device, batch.refused);
    await devices.noteLastSeen(message, identity);
    return outcomeOf(batch, began);
  }

  return {
    /** Not async, to save memory: see `pipeline.ts`. */
    handle(message: Message, { device }: OwnTopic, identity: Identity): Promise<Outcome> {
      if (message.replaces) return replace(message, device, identity);
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

    async replay(kept: Kept, _topic: OwnTopic, identity: Identity): Promise<IngestResult> {
      if (kept.replaces) return resultOf(await replacing.storeAgain(kept, identity));
      const { payload, contentType, receivedAt, now, isRefused } = kept;
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

/** `handlers`: of the messages that may wait for a birth */
export function createBirthHandler(
  {
    devices,
    awaitingRegistration,
    deadLetters,
  }: Pick<HandlerDeps, 'devices' | 'awaitingRegistration' | 'deadLetters'>,
  { handlers, metrics }: { handlers: Handlers; metrics: Metrics },
) {
  const { registry, births, events, statuses, noteLastSeen } = devices;

  async function register(
    { payload, contentType }: Pick<Message, 'payload' | 'contentType'>,
    arrival: Arrival,
    identity: Identity,
  ) {
    const { receivedAt, as } = arrival;
    const birth = readBirth(payload, identity, receivedAt, contentType);
    const tooMany = await births.register(identity, birth, arrival);
    if (as !== 'retained') {
      const device = registry.cache.peek(identity.id);
      const began = arrivalOfSession(device, receivedAt);
      await events.note(identity, eventOf('birth', birth.session, device?.clockOffset ?? 0, began));
    }
    return { birth, refused: [...birth.refused, ...tooMany] };
  }

  async function replayWaiting({ route, payload, contentType, receivedAt }: Message, identity: Identity) {
    if (!route || !registry.cache.peek(identity.id)) return;
    const kept = { payload, contentType, receivedAt, now: receivedAt, isRefused: null };
    await handlers.get(route.kind)?.replay(kept, route, identity);
  }

  return {
    async handle(message: Message, { device: name }: OwnTopic, identity: Identity): Promise<Outcome> {
      const arrival = arrivalOf(message);
      const { birth, refused } = await register(message, arrival, identity);
      const device = registry.cache.peek(identity.id);
      if (device && arrival.as === 'live') await statuses.setOnline(device, arrival, birth.session);
      await deadLetters.put(message, name, refused);
      await noteLastSeen(message, identity);
      storeWaiting(awaitingRegistration.take(identity.id), metrics, (waiting) =>
        replayWaiting(waiting, identity),
      );
      return 'accepted';
    },

    async replay(kept: Kept, _topic: OwnTopic, identity: Identity): Promise<IngestResult> {
      const { receivedAt } = kept;
      const { refused } = await register(kept, { receivedAt, as: 'replayed' }, identity);
      return { accepted: 1, refused };
    },
  };
}

export function createStatusHandler({
  devices,
  awaitingRegistration,
}: Pick<HandlerDeps, 'devices' | 'awaitingRegistration'>) {
  const { registry, statuses, noteLastSeen } = devices;
  return {
    async handle(message: Message, _topic: OwnTopic, identity: Identity): Promise<Outcome> {
      // An empty payload only removes a retained message, so it is no status.
      if (message.payload.length === 0) return 'accepted';
      const status = readStatus(message.payload, message.receivedAt, message.contentType);
      const device = await registry.device(identity);
      if (!device) {
        awaitingRegistration.remember(identity.id, message);
        throw new MillraceError('unknown_device');
      }
      await statuses.write(device, status, arrivalOf(message));
      if (status.state === 'online') await noteLastSeen(message, identity);
      return 'accepted';
    },

    async replay(
      { payload, receivedAt, contentType }: Kept,
      _topic: OwnTopic,
      identity: Identity,
    ): Promise<IngestResult> {
      const status = readStatus(payload, receivedAt, contentType);
      const device = await registry.device(identity);
      if (!device) throw new MillraceError('unknown_device');
      await statuses.write(device, status, { receivedAt, as: 'replayed' });
      return { accepted: 1, refused: [] };
    },
  };
}
